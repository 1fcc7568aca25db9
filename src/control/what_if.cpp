#include "control/what_if.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/nearest.h"
#include "base/quote.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

constexpr std::int64_t kWholeDeviceThousandths = 1000;

std::int64_t devices_of(const NodeSpec& node) {
  return static_cast<std::int64_t>(node.devices.size()) * kWholeDeviceThousandths;
}

// A node that is lost may still be held by tasks, which count as its use.
std::int64_t devices_of(const EngineSnapshot& snapshot) {
  std::unordered_set<NodeId> held;
  for (const JobRecord& job : snapshot.jobs) {
    for (const TaskRecord& task : job.tasks)
      if (holds_allocation(task.phase)) held.insert(task.allocation.node);
  }
  std::int64_t devices = 0;
  for (const NodeRecord& node : snapshot.nodes)
    if (node.up || held.contains(node.id)) devices += devices_of(node.spec);
  return devices;
}

std::vector<JobId> waiting_jobs(const EngineSnapshot& snapshot) {
  std::vector<JobId> waiting;
  for (const JobRecord& job : snapshot.jobs)
    if (job.state == JobState::kPending && !job.held) waiting.push_back(job.id);
  return waiting;
}

// Device-nanoseconds in thousandths, up to `end`.
__int128 held_time(const std::vector<ForwardUsage>& usage, Instant end) {
  __int128 held = 0;
  for (std::size_t i = 0; i < usage.size() && usage[i].at < end; ++i) {
    const Instant until = i + 1 < usage.size() ? std::min(usage[i + 1].at, end) : end;
    held += __int128{usage[i].devices} * (until - usage[i].at).ns;
  }
  return held;
}

void judge_waits(const ForwardAnswer& run, const std::vector<JobId>& waiting, Duration horizon,
                 WhatIfSide& side) {
  if (waiting.empty()) return;
  std::vector<Duration> waits;
  __int128 sum = 0;
  for (const JobId job : waiting) {
    const Instant start = run.start_of(job);
    const bool starts = !start.is_never() && start - run.from <= horizon;
    side.starting += starts;
    waits.push_back(starts ? start - run.from : horizon);
    sum += waits.back().ns;
  }
  std::sort(waits.begin(), waits.end());
  const std::size_t count = waits.size();
  side.mean_wait = {static_cast<std::int64_t>(sum / static_cast<std::int64_t>(count))};
  side.p95_wait = waits[(count * 95 + 99) / 100 - 1];
}

WhatIfSide judge(const ForwardAnswer& run, const std::vector<JobId>& waiting, std::int64_t devices,
                 Duration horizon) {
  WhatIfSide side;
  side.complete = run.complete;
  side.devices = devices;
  side.evicted = run.evicted;
  judge_waits(run, waiting, horizon, side);
  const __int128 whole = __int128{devices} * horizon.ns;
  if (whole > 0)
    side.utilisation =
        static_cast<std::int64_t>(held_time(run.usage, run.from + horizon) * 1'000'000 / whole);
  return side;
}

// How far a run can be judged.
Duration judged_by(const ForwardAnswer& run, Duration horizon) {
  return run.complete ? horizon : std::min(horizon, run.reached - run.from);
}

std::string listed(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + std::string(names[i]);
  return text + (names.size() > kMost ? ", …" : "");
}

Error unknown(std::string field, std::string_view what, std::string_view name,
              const std::vector<std::string_view>& known) {
  Error error = invalid("there is no " + std::string(what) + " " + quote(name));
  error.field = std::move(field);
  const std::string_view near = nearest(name, known);
  error.hint = near.empty() ? "there are: " + listed(known) : "did you mean " + quote(near) + "?";
  return error;
}

Error refused(ErrorKind kind, std::string field, std::string message, std::string hint) {
  return {kind, std::move(message), std::move(field), std::move(hint)};
}

}  // namespace

// Turns the changes into events, one after the other.
class WhatIfProblem::Planner {
 public:
  Planner(const EngineSnapshot& snapshot, MakePolicies make_policies)
      : snapshot_(snapshot), queues_(snapshot.queues.queues) {
    plan_.make_policies = std::move(make_policies);
    for (const NodeRecord& node : snapshot.nodes) names_.insert(node.spec.name);
    if (!snapshot.jobs.empty()) last_job_ = snapshot.jobs.back().id;
  }

  Result<Plan> plan(const std::vector<WhatIfChange>& changes) {
    if (changes.empty() || changes.size() > kMostWhatIfChanges)
      return refused(ErrorKind::kInvalid, "changes",
                     std::to_string(changes.size()) + " changes are not asked about",
                     "name from 1 to " + std::to_string(kMostWhatIfChanges));
    for (std::size_t i = 0; i < changes.size(); ++i) {
      field_ = "changes[" + std::to_string(i) + "].";
      const auto made = std::visit([&](const auto& change) { return make(change); }, changes[i]);
      if (!made) return made.error();
    }
    if (const auto broken = broken_guarantee(queues_))
      return refused(ErrorKind::kInvalid, "changes",
                     "queue " + quote(queues_[broken->queue].name) + ": " + broken->message,
                     "ask about a limit that leaves the guarantees their room");
    return std::move(plan_);
  }

 private:
  const NodeRecord* node(std::string_view name) const {
    const auto it = std::find_if(snapshot_.nodes.begin(), snapshot_.nodes.end(),
                                 [&](const NodeRecord& n) { return n.spec.name == name; });
    return it != snapshot_.nodes.end() ? &*it : nullptr;
  }
  QueueSpec* queue(std::string_view name) {
    const auto it = std::find_if(queues_.begin(), queues_.end(),
                                 [&](const QueueSpec& q) { return q.name == name; });
    return it != queues_.end() ? &*it : nullptr;
  }
  Error unknown_node(const std::string& key, std::string_view name) const {
    std::vector<std::string_view> known;
    for (const NodeRecord& node : snapshot_.nodes) known.push_back(node.spec.name);
    return unknown(field_ + key, "node", name, known);
  }
  Error unknown_queue(const std::string& key, std::string_view name) const {
    std::vector<std::string_view> known;
    for (const QueueSpec& queue : queues_) known.push_back(queue.name);
    return unknown(field_ + key, "queue", name, known);
  }
  std::set<std::string, std::less<>> device_classes() const {
    std::set<std::string, std::less<>> classes;
    for (const NodeRecord& node : snapshot_.nodes)
      for (const DeviceSpec& device : node.spec.devices) classes.insert(device.device_class);
    for (const QueueSpec& queue : queues_)
      for (const auto& limit : queue.limit.devices) classes.insert(limit.first);
    return classes;
  }

  Result<void> make(const AddNodes& change) {
    if (change.count < 1 || change.count > kMostAddedNodes)
      return refused(ErrorKind::kLimit, field_ + "add_nodes.count",
                     std::to_string(change.count) + " nodes cannot be added",
                     "add from 1 to " + std::to_string(kMostAddedNodes));
    const NodeRecord* like = node(change.like);
    if (like == nullptr) return unknown_node("add_nodes.like", change.like);
    NodeSpec spec = like->spec;
    for (DeviceSpec& device : spec.devices) {
      device.uid.clear();
      device.fault.clear();
    }
    for (std::int64_t added = 0, number = 1; added < change.count; ++number) {
      spec.name = like->spec.name + "+" + std::to_string(number);
      if (!names_.insert(spec.name).second) continue;
      plan_.events.emplace_back(NodeJoined{spec});
      plan_.added_devices += devices_of(spec);
      ++added;
    }
    return {};
  }

  Result<void> make(const DrainNode& change) {
    if (node(change.node) == nullptr) return unknown_node("drain_node", change.node);
    plan_.events.emplace_back(NodeDrainRequested{change.node, true, ""});
    return {};
  }

  Result<void> make(const SetQueueLimit& change) {
    QueueSpec* changed = queue(change.queue);
    if (changed == nullptr) return unknown_queue("queue_limit.queue", change.queue);
    if (!change.amount.is_unlimited() && change.amount.bound() < 0)
      return refused(ErrorKind::kInvalid, field_ + "queue_limit.limit", "a limit is not below 0",
                     "give an amount from 0, or \"unlimited\"");
    const auto as = [&]<class T>(T) {
      return change.amount.is_unlimited() ? Limit<T>{} : Limit<T>(T(change.amount.bound()));
    };
    QueueLimit& limit = changed->limit;
    if (change.resource == "cpu") {
      limit.cpu = as(MilliCores{});
    } else if (change.resource == "memory") {
      limit.memory = as(Bytes{});
    } else if (change.resource == "running_jobs") {
      limit.running_jobs = change.amount;
    } else {
      const auto classes = device_classes();
      if (!classes.contains(change.resource)) {
        std::vector<std::string_view> known = {"cpu", "memory", "running_jobs"};
        known.insert(known.end(), classes.begin(), classes.end());
        return unknown(field_ + "queue_limit.resource", "resource", change.resource, known);
      }
      limit.devices.erase(change.resource);
      if (!change.amount.is_unlimited()) limit.devices[change.resource] = change.amount.bound();
    }
    plan_.events.emplace_back(QueueConfigured{*changed});
    return {};
  }

  Result<void> make(const SubmitJobs& change) {
    if (change.specs.empty() || change.specs.size() > kMostWhatIfJobs)
      return refused(ErrorKind::kLimit, field_ + "submit_job",
                     std::to_string(change.specs.size()) + " jobs are not tried out at once",
                     "submit from 1 to " + std::to_string(kMostWhatIfJobs));
    for (const auto& spec : change.specs) {
      if (auto done = submit(spec); !done) return done;
    }
    return {};
  }

  Result<void> submit(const std::shared_ptr<const JobSpec>& spec) {
    const QueueSpec* into = queue(spec->queue);
    if (into == nullptr) return unknown_queue("submit_job.queue", spec->queue);
    if (!into->open)
      return refused(ErrorKind::kConflict, field_ + "submit_job.queue",
                     "queue " + quote(spec->queue) + " takes no jobs", "name an open queue");
    if (!spec->time_limit.is_unlimited() && !into->longest_run.allows(spec->time_limit.bound()))
      return refused(ErrorKind::kInvalid, field_ + "submit_job.time_limit",
                     to_text(spec->time_limit.bound()) + " is longer than queue " +
                         quote(spec->queue) + " lets its jobs run",
                     "ask for at most " + to_text(into->longest_run.bound()));
    if (!spec->after.empty())
      return refused(ErrorKind::kInvalid, field_ + "submit_job.after",
                     "what the job waits for is not looked up here", "leave its `after` out");
    last_job_ = JobId(last_job_.value + 1);
    plan_.submitted.push_back({last_job_, spec->name});
    plan_.events.emplace_back(
        JobSubmitted{last_job_, "what-if-" + std::to_string(last_job_.value), spec, {}, false, {}});
    return {};
  }

  Result<void> make(const UsePolicy& change) {
    auto made = make_policy(change.policy, {});
    if (!made) {
      Error error = made.error();
      error.field = field_ + "policy";
      return error;
    }
    plan_.make_policies = [name = change.policy] {
      return std::move(*make_policy(name, {}));  // made once already
    };
    return {};
  }

  const EngineSnapshot& snapshot_;
  std::vector<QueueSpec> queues_;  // as changed so far
  std::set<std::string> names_;    // of nodes, likewise
  JobId last_job_;
  std::string field_;  // "changes[2]."
  Plan plan_;
};

WhatIfProblem::WhatIfProblem(std::shared_ptr<const EngineSnapshot> snapshot,
                             const RunOutcomes& outcomes, const MakePolicies& make_policies,
                             const ForwardOptions& options, Plan plan)
    : snapshot_(std::move(snapshot)),
      horizon_(options.horizon.bound()),
      plan_(std::move(plan)),
      now_(snapshot_, outcomes, make_policies, options),
      changed_(snapshot_, outcomes, plan_.make_policies, options) {}

Result<std::shared_ptr<const WhatIfProblem>> WhatIfProblem::make(
    std::shared_ptr<const EngineSnapshot> snapshot, RunOutcomes outcomes,
    MakePolicies make_policies, ForwardOptions options, const WhatIfQuestion& question) {
  if (question.horizon.ns <= 0 || question.horizon > kLongestHorizon)
    return refused(ErrorKind::kInvalid, "horizon",
                   to_text(question.horizon) + " is not a time to look ahead",
                   "give more than 0 and at most " + to_text(kLongestHorizon));
  auto plan = Planner(*snapshot, make_policies).plan(question.changes);
  if (!plan) return plan.error();
  options.until = ForwardOptions::Until::kToTheEnd;
  options.horizon = question.horizon;
  return std::shared_ptr<const WhatIfProblem>(
      new WhatIfProblem(std::move(snapshot), outcomes, make_policies, options, std::move(*plan)));
}

std::shared_ptr<const WhatIfAnswer> WhatIfProblem::answer() const {
  const auto now = now_.run();
  const auto changed = changed_.run(plan_.events);
  auto answer = std::make_shared<WhatIfAnswer>();
  answer->snapshot = snapshot_;
  answer->horizon = std::min(judged_by(*now, horizon_), judged_by(*changed, horizon_));
  const std::vector<JobId> waiting = waiting_jobs(*snapshot_);
  answer->waiting = static_cast<std::int64_t>(waiting.size());
  const std::int64_t devices = devices_of(*snapshot_);
  answer->now = judge(*now, waiting, devices, answer->horizon);
  answer->changed = judge(*changed, waiting, devices + plan_.added_devices, answer->horizon);
  for (WhatIfStart submitted : plan_.submitted) {
    const Instant start = changed->start_of(submitted.job);
    const bool starts = !start.is_never() && start - changed->from <= answer->horizon;
    if (starts) submitted.at = start;
    answer->submitted.push_back(std::move(submitted));
  }
  return answer;
}

}  // namespace gridfold
