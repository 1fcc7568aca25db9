#include "simulator/verify/trace_text.h"

#include <array>

namespace gridfold::verify {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

std::string task_text(TaskId task, std::uint32_t attempt) {
  return std::to_string(task.job.value) + "." + std::to_string(task.index) + " attempt " +
         std::to_string(attempt);
}

std::string exit_text(const ExitStatus& status) {
  if (status.lost) return "lost";
  if (status.signal != 0) return "signal " + std::to_string(status.signal);
  return "code " + std::to_string(status.code);
}

constexpr std::array<std::string_view, 7> kPhases = {"idle",     "held",    "running", "stopping",
                                                     "cleaning", "backoff", "done"};
constexpr std::array<std::string_view, 5> kSeen = {"starting", "running", "exited", "cleaned",
                                                   "launch failed"};

std::string place_text(const World& world, const Place& place) {
  return world.nodes[static_cast<std::size_t>(place.node)].name + " devices " +
         std::to_string(place.devices) +
         (place.start < 0 ? "" : " from slot " + std::to_string(place.start));
}

}  // namespace

std::string event_text(const Event& event) {
  return std::visit(
      Overloaded{
          [](const NodeJoined& e) { return "joined " + e.spec.name; },
          [](const NodeLost& e) {
            return "lost " + e.node + (e.fencing == Fencing::kFenced ? ", fenced" : ", unfenced");
          },
          [](const TaskStarted& e) { return "started " + task_text(e.task, e.attempt); },
          [](const TaskExited& e) {
            return "exited " + task_text(e.task, e.attempt) + ", " + exit_text(e.status);
          },
          [](const TaskCleaned& e) { return "cleaned " + task_text(e.task, e.attempt); },
          [](const TaskReported& e) { return "report of " + task_text(e.task, e.attempt); },
          [](const LaunchFailed& e) { return "launch failed " + task_text(e.task, e.attempt); },
          [](const auto&) { return std::string("other"); },
      },
      event);
}

std::string decision_text(const Decision& decision, std::span<const NodeRecord> nodes) {
  const auto name = [&](NodeId node) {
    return node.value < nodes.size() ? nodes[node.value].spec.name : std::to_string(node.value);
  };
  return std::visit(
      Overloaded{
          [&](const LaunchTask& d) {
            return "launch " + task_text(d.task, d.attempt) + " on " + name(d.allocation.node) +
                   " devices " + std::to_string(d.allocation.devices);
          },
          [](const StopTask& d) {
            return "stop " + task_text(d.task, d.attempt) + ": " + std::string(to_string(d.cause));
          },
          [](const JobChanged& d) {
            return "job " + std::to_string(d.job.value) + " " + std::string(to_string(d.from)) +
                   " -> " + std::string(to_string(d.to)) + " " + to_json(d.reason);
          },
          [](const Preempted& d) {
            std::string text = "job " + std::to_string(d.job.value) + " takes the place of";
            for (const JobId victim : d.victims) text += " " + std::to_string(victim.value);
            return text;
          },
          [&](const NodeDrained& d) { return "drain " + name(d.node) + " " + to_json(d.reason); },
          [&](const BootNode& d) { return "boot " + name(d.node); },
          [&](const ReleaseNode& d) { return "release " + name(d.node); },
      },
      decision);
}

std::string state_text(const World& world, const Mirror& mirror,
                       std::span<const SimulatedCluster::Presence> presences) {
  std::string text = "by the store:\n";
  for (const std::uint64_t id : mirror.live()) {
    const MirrorJob& job = *mirror.job(id);
    text += "  job " + std::to_string(id) + " (" + job.spec->name + ", queue " + job.spec->queue +
            ") " + std::string(to_string(static_cast<JobState>(job.state))) +
            (job.held ? ", held" : "") + "\n";
    for (std::size_t i = 0; i < job.tasks.size(); ++i) {
      const MirrorTask& task = job.tasks[i];
      if (task.phase == Phase::kIdle && task.claim.node < 0) continue;
      text += "    task " + std::to_string(i) + " attempt " + std::to_string(task.attempt) + " " +
              std::string(kPhases[static_cast<std::size_t>(task.phase)]);
      if (holds(task.phase)) text += " on " + place_text(world, task.at);
      if (task.claim.node >= 0) text += ", promised " + place_text(world, task.claim);
      text += "\n";
    }
  }
  text += "on the cluster:\n";
  for (const auto& presence : presences) {
    text += "  " + task_text(presence.task.task, presence.task.attempt) + " " +
            std::string(kSeen[static_cast<std::size_t>(presence.task.phase)]) + " on " +
            presence.task.node + " devices " + std::to_string(presence.devices) + "\n";
  }
  return text;
}

}  // namespace gridfold::verify
