// What would be done about a cause, as a value that can be tried out on a day.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "control/what_if.h"
#include "doctor/day.h"

namespace gridfold {

// Of jobs, by whoever owns them.
enum class JobChange : std::uint8_t {
  kAnyModel,       // they take any model of their device
  kFewerCores,     // a device's even part of its node's cores and memory, at most
  kAnyDomain,      // they need not lie in one domain
  kFewerDevices,   // as many as their tasks use
  kFasterInput,    // waiting for input takes no more than `amount` of a step
  kFasterNetwork,  // likewise, for other tasks
};
std::string_view to_string(JobChange change);

struct ChangeJobs {
  JobChange change = JobChange::kAnyModel;
  std::int64_t amount = 0;         // a share of a step, in millionths
  std::int64_t jobs = 0;           // of the day, so many are changed
  std::vector<std::string> names;  // some of them
};
// Limits of what each tenant may have, where they are lower, are lifted with it.
using RaiseQueueLimit = SetQueueLimit;
// Takes work again.
struct UndrainNode {
  std::string node;
};
// Its faults are mended: all day up, and none of its devices out of order.
struct RepairNode {
  std::string node;
};
// Who waits is promised room in another way.
struct PlanBy {
  BackfillMode mode = BackfillMode::kNone;
  bool learned_run_times = false;
};
// Jobs that can be moved are, so that others find room in one place.
struct MoveJobs {};
using BuyNodes = AddNodes;

using Fix =
    std::variant<ChangeJobs, RaiseQueueLimit, UndrainNode, RepairNode, PlanBy, MoveJobs, BuyNodes>;

// As if it had been so all day. Jobs keep their places in the day.
Day with(const Day& day, const std::vector<Fix>& fixes);

// Whether the change makes anything else of this job of the day.
bool changes(const DayJob& job, const ChangeJobs& change, const Day& day);

// "queue_limit", …: as shown.
std::string_view kind_of(const Fix& fix);
// What does it, or what has to be written where: a command line, a line of the
// daemon's configuration, or a key of the job's file.
std::string command_of(const Fix& fix);

}  // namespace gridfold
