#include "doctor/fix.h"

#include <algorithm>
#include <map>

namespace gridfold {
namespace {

// Who waits for that much more of a step than it has to is changed.
constexpr std::int64_t kBound = 50'000;

const DayNode* first_with(const Day& day, const std::string& device_class) {
  for (const DayNode& node : day.nodes) {
    const auto& devices = node.node.spec.devices;
    if (std::any_of(devices.begin(), devices.end(),
                    [&](const DeviceSpec& d) { return d.device_class == device_class; }))
      return &node;
  }
  return nullptr;
}

std::int64_t devices_each(const TaskRequest& each) {
  std::int64_t count = 0;
  for (const DeviceRequest& group : each.devices) count += group.count;
  return count;
}

// Lowered to what lies beside its devices when a node is shared out evenly; true
// when that is less than it asks for.
bool lower_cores(TaskRequest& each, const Day& day) {
  const std::int64_t devices = devices_each(each);
  if (devices == 0) return false;
  const DayNode* node = first_with(day, each.devices.front().device_class);
  if (node == nullptr) return false;
  const NodeSpec& spec = node->node.spec;
  const auto all = static_cast<std::int64_t>(spec.devices.size());
  const MilliCores cpu(spec.cpu.value / all * devices);
  const Bytes memory(spec.memory.value / all * devices);
  const bool lower = each.cpu > cpu || each.memory > memory;
  each.cpu = std::min(each.cpu, cpu);
  each.memory = std::min(each.memory, memory);
  return lower;
}

bool lower_devices(TaskRequest& each, std::int64_t used) {
  if (each.devices.size() != 1 || !each.devices[0].is_whole()) return false;
  DeviceRequest& group = each.devices[0];
  if (used >= group.count) return false;
  group.count = static_cast<std::int32_t>(used);
  if (used == 0) each.devices.clear();
  return true;
}

// The specification as the change makes it; true when it differs.
bool change_spec(JobSpec& spec, const JobHabits& habits, JobChange change, const Day& day) {
  bool differs = false;
  if (change == JobChange::kAnyDomain) {
    differs = !spec.topology.require.empty() || spec.topology.segments.has_value();
    if (spec.topology.prefer.empty()) spec.topology.prefer = spec.topology.require;
    spec.topology.require.clear();
    spec.topology.segments.reset();
    return differs;
  }
  for (Role& role : spec.roles) {
    if (change == JobChange::kFewerCores) differs |= lower_cores(role.each, day);
    if (change == JobChange::kFewerDevices && habits.devices_used.is_known())
      differs |= lower_devices(role.each, habits.devices_used.value());
    if (change != JobChange::kAnyModel) continue;
    for (DeviceRequest& group : role.each.devices) {
      differs |= !group.models.empty();
      group.models.clear();
    }
  }
  return differs;
}

bool is_of_steps(JobChange change) {
  return change == JobChange::kFasterInput || change == JobChange::kFasterNetwork;
}

// Waiting for one thing comes to `amount` of a step: all else of it stays.
void hurry(DayJob& job, Known<std::int64_t> JobHabits::*what, Known<std::int64_t> JobHabits::*other,
           std::int64_t amount) {
  const std::int64_t rest = kWholeShare - (job.habits.*what).value();
  const std::int64_t rest_then = kWholeShare - amount;
  job.run = {static_cast<std::int64_t>(__int128{job.run.ns} * rest / rest_then)};
  job.habits.*what = amount;
  if ((job.habits.*other).is_known() && rest > 0)
    job.habits.*other = (job.habits.*other).value() * rest_then / rest;
}

// Jobs of one specification share the changed one, too.
class JobChanger {
 public:
  JobChanger(const Day& before, const ChangeJobs& change) : before_(before), change_(change) {}

  void change(DayJob& job) {
    if (!changes(job, change_, before_)) return;
    if (change_.change == JobChange::kFasterInput)
      return hurry(job, &JobHabits::input, &JobHabits::network, change_.amount);
    if (change_.change == JobChange::kFasterNetwork)
      return hurry(job, &JobHabits::network, &JobHabits::input, change_.amount);
    const std::int64_t used =
        job.habits.devices_used.is_known() ? job.habits.devices_used.value() : -1;
    auto& made = made_[{job.spec.get(), used}];
    if (!made) {
      JobSpec spec = *job.spec;
      change_spec(spec, job.habits, change_.change, before_);
      made = std::make_shared<const JobSpec>(std::move(spec));
    }
    job.spec = made;
  }

 private:
  const Day& before_;
  const ChangeJobs& change_;
  std::map<std::pair<const JobSpec*, std::int64_t>, std::shared_ptr<const JobSpec>> made_;
};

class Applier {
 public:
  explicit Applier(const Day& before) : before_(before), day_(before) {}
  Day take() { return std::move(day_); }

  void operator()(const ChangeJobs& change) {
    JobChanger changer(before_, change);
    for (DayJob& job : day_.jobs) changer.change(job);
  }
  void operator()(const RaiseQueueLimit& raised) {
    for (QueueSpec& queue : day_.queues.queues) {
      if (queue.name != raised.queue) continue;
      queue.each_tenant.devices.erase(raised.resource);
      queue.limit.devices.erase(raised.resource);
      if (!raised.amount.is_unlimited())
        queue.limit.devices[raised.resource] = raised.amount.bound();
    }
  }
  void operator()(const UndrainNode& fix) {
    of_node(fix.node, [](NodeRecord& node) { node.drained = false; });
  }
  void operator()(const RepairNode& fix) {
    of_node(fix.node, [](NodeRecord& node) {
      node.up = true;
      node.dirty_devices = 0;
      if (node.reason && node.reason->code == ReasonCode::kLaunchFailures) node.drained = false;
      for (DeviceSpec& device : node.spec.devices) device.fault.clear();
    });
  }
  void operator()(const PlanBy& plan) {
    day_.engine.backfill.mode = plan.mode;
    day_.learned_run_times = plan.learned_run_times;
  }
  void operator()(const MoveJobs&) { day_.engine.consolidation.consolidate = Consolidate::kOn; }
  void operator()(const BuyNodes& bought) {
    const auto like = std::find_if(day_.nodes.begin(), day_.nodes.end(), [&](const DayNode& node) {
      return node.node.spec.name == bought.like;
    });
    if (like == day_.nodes.end()) return;
    std::vector<DayNode> added;
    for (std::int64_t i = 1; i <= bought.count; ++i) {
      DayNode node{day_.from, {}};
      node.node.spec = like->node.spec;
      node.node.spec.name += "+" + std::to_string(i);
      for (DeviceSpec& device : node.node.spec.devices) device.fault.clear();
      node.node.up = true;
      added.push_back(std::move(node));
    }
    const auto later = std::find_if(day_.nodes.begin(), day_.nodes.end(),
                                    [&](const DayNode& node) { return node.at > day_.from; });
    day_.nodes.insert(later, added.begin(), added.end());
  }

 private:
  template <class Change>
  void of_node(const std::string& name, Change change) {
    for (DayNode& node : day_.nodes) {
      if (node.node.spec.name == name) change(node.node);
    }
  }

  const Day& before_;
  Day day_;
};

std::string share_text(std::int64_t millionths) {
  return std::to_string(millionths / 10'000) + " %";
}

std::string job_command(const ChangeJobs& change) {
  switch (change.change) {
    case JobChange::kAnyModel: return "job file: leave out each.gpu_model";
    case JobChange::kFewerCores: return "job file: lower each.cpu and each.memory";
    case JobChange::kAnyDomain: return "job file: topology: {prefer: LEVEL} instead of require";
    case JobChange::kFewerDevices: return "job file: lower each.gpu to what is used";
    case JobChange::kFasterInput:
      return "gridfold job explain JOB; more loader processes or a nearer copy of the data, until "
             "input_seconds is at most " +
             share_text(change.amount) + " of step_seconds";
    case JobChange::kFasterNetwork:
      return "gridfold job explain JOB; topology: {require: LEVEL} in the job file, or faster "
             "links, "
             "until sync_seconds is at most " +
             share_text(change.amount) + " of step_seconds";
  }
  return "";
}

struct Command {
  std::string operator()(const ChangeJobs& change) const { return job_command(change); }
  std::string operator()(const RaiseQueueLimit& raised) const {
    return "configuration: [[queues]] name = \"" + raised.queue + "\", devices = { " +
           raised.resource + " = \"" + to_text(MilliCores(raised.amount.bound())) +
           "\" }, then gridfold config reload; try it first: gridfold what-if --queue-limit " +
           raised.queue + ":" + raised.resource + "=" + to_text(MilliCores(raised.amount.bound()));
  }
  std::string operator()(const UndrainNode& fix) const {
    return "gridfold node undrain " + fix.node;
  }
  std::string operator()(const RepairNode& fix) const {
    return "gridfold node drain " + fix.node + "; once it is mended: gridfold node undrain " +
           fix.node;
  }
  std::string operator()(const PlanBy& plan) const {
    return "configuration: backfill = \"" + std::string(to_string(plan.mode)) +
           "\", run_times = \"" + (plan.learned_run_times ? "learned" : "limits") + "\"";
  }
  std::string operator()(const MoveJobs&) const { return "configuration: consolidate = true"; }
  std::string operator()(const BuyNodes& bought) const {
    return "gridfold what-if --add-nodes " + bought.like + "=" + std::to_string(bought.count);
  }
};

struct Kind {
  std::string_view operator()(const ChangeJobs& change) const { return to_string(change.change); }
  std::string_view operator()(const RaiseQueueLimit&) const { return "queue_limit"; }
  std::string_view operator()(const UndrainNode&) const { return "undrain_node"; }
  std::string_view operator()(const RepairNode&) const { return "repair_node"; }
  std::string_view operator()(const PlanBy&) const { return "plan"; }
  std::string_view operator()(const MoveJobs&) const { return "consolidate"; }
  std::string_view operator()(const BuyNodes&) const { return "add_nodes"; }
};

}  // namespace

std::string_view to_string(JobChange change) {
  switch (change) {
    case JobChange::kAnyModel: return "any_model";
    case JobChange::kFewerCores: return "fewer_cores";
    case JobChange::kAnyDomain: return "any_domain";
    case JobChange::kFewerDevices: return "fewer_devices";
    case JobChange::kFasterInput: return "faster_input";
    case JobChange::kFasterNetwork: return "faster_network";
  }
  return "";
}

bool changes(const DayJob& job, const ChangeJobs& change, const Day& day) {
  if (is_of_steps(change.change)) {
    const auto& share =
        change.change == JobChange::kFasterInput ? job.habits.input : job.habits.network;
    return share.is_known() && share.value() > change.amount + kBound;
  }
  JobSpec spec = *job.spec;
  return change_spec(spec, job.habits, change.change, day);
}

Day with(const Day& day, const std::vector<Fix>& fixes) {
  Applier applier(day);
  for (const Fix& fix : fixes) std::visit(applier, fix);
  return applier.take();
}

std::string_view kind_of(const Fix& fix) { return std::visit(Kind{}, fix); }
std::string command_of(const Fix& fix) { return std::visit(Command{}, fix); }

}  // namespace gridfold
