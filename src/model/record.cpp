#include "model/record.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 7> kStates = {
    "pending", "starting", "running", "stopping", "succeeded", "failed", "cancelled"};
constexpr std::array<std::string_view, 8> kPhases = {"idle",     "held",    "running", "stopping",
                                                     "cleaning", "backoff", "done",    "waiting"};
constexpr std::array<std::string_view, 9> kCauses = {"none",      "cancel",     "preempt",
                                                     "requeue",   "time_limit", "task_failed",
                                                     "node_lost", "resize",     "role_down"};
constexpr std::array<std::string_view, 4> kPowers = {"on", "off", "booting", "releasing"};

}  // namespace

std::string_view to_string(NodePower power) { return name_of(kPowers, power); }
std::optional<NodePower> parse_node_power(std::string_view text) {
  return value_of<NodePower>(kPowers, text);
}

std::string_view to_string(JobState state) { return name_of(kStates, state); }
std::optional<JobState> parse_job_state(std::string_view text) {
  return value_of<JobState>(kStates, text);
}

std::string_view to_string(TaskPhase phase) { return name_of(kPhases, phase); }
std::optional<TaskPhase> parse_task_phase(std::string_view text) {
  return value_of<TaskPhase>(kPhases, text);
}

std::string_view to_string(StopCause cause) { return name_of(kCauses, cause); }
std::optional<StopCause> parse_stop_cause(std::string_view text) {
  return value_of<StopCause>(kCauses, text);
}

}  // namespace gridfold
