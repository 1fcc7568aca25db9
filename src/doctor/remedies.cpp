#include "doctor/remedies.h"

#include <algorithm>
#include <map>
#include <set>

namespace gridfold {
namespace {

constexpr std::size_t kMostNames = 5;
// What of a step anyone waits.
constexpr std::int64_t kUsualWait = 50'000;

bool lies_beneath(const std::string& queue, const std::string& above) {
  return queue == above || queue.starts_with(above + "/");
}

// --- Not pooled ---

// Limits that keep a queue with jobs from some of the devices.
std::vector<Fix> raised_limits(const Day& day) {
  std::set<std::string> used;
  for (const DayJob& job : day.jobs) used.insert(job.spec->queue);
  std::vector<Fix> fixes;
  for (const QueueSpec& queue : day.queues.queues) {
    const bool any = std::any_of(used.begin(), used.end(), [&](const std::string& name) {
      return lies_beneath(name, queue.name);
    });
    if (!any) continue;
    DeviceAmounts limits = queue.limit.devices;
    for (const auto& [device_class, amount] : queue.each_tenant.devices) {
      auto& limit = limits.try_emplace(device_class, amount).first->second;
      limit = std::min(limit, amount);
    }
    for (const auto& [device_class, amount] : limits) {
      const std::int64_t all = capacity(day, device_class);
      if (amount < all) fixes.emplace_back(RaiseQueueLimit{queue.name, device_class, all});
    }
  }
  return fixes;
}

bool is_broken(const NodeRecord& node) {
  const auto& devices = node.spec.devices;
  return !node.up || node.dirty_devices != 0 ||
         (node.drained && node.reason && node.reason->code == ReasonCode::kLaunchFailures) ||
         std::any_of(devices.begin(), devices.end(),
                     [](const DeviceSpec& device) { return !device.fault.empty(); });
}

template <class MakeFix, class Is>
std::vector<Fix> of_nodes(const Day& day, Is is, MakeFix make) {
  std::set<std::string> names;
  for (const DayNode& node : day.nodes) {
    if (is(node.node)) names.insert(node.node.spec.name);
  }
  std::vector<Fix> fixes;
  for (const std::string& name : names) fixes.emplace_back(make(name));
  return fixes;
}

Remedies pool(const Day& day) {
  const std::vector<Fix> limits = raised_limits(day);
  const std::vector<Fix> nodes = of_nodes(
      day, [](const NodeRecord& node) { return node.drained && !is_broken(node); },
      [](const std::string& name) { return UndrainNode{name}; });
  std::vector<Fix> both = limits;
  both.insert(both.end(), nodes.begin(), nodes.end());
  return {limits, nodes, both};
}

// --- Changes of jobs ---

// Empty where it changes no job.
std::vector<Fix> change_jobs(const Day& day, JobChange what, std::int64_t amount = 0) {
  ChangeJobs change{what, amount, 0, {}};
  for (const DayJob& job : day.jobs) {
    if (!changes(job, change, day)) continue;
    ++change.jobs;
    const auto& names = change.names;
    const bool known = std::find(names.begin(), names.end(), job.spec->name) != names.end();
    if (!known && !job.spec->name.empty() && names.size() < kMostNames)
      change.names.push_back(job.spec->name);
  }
  if (change.jobs == 0) return {};
  return {change};
}

Remedies reshape(const Day& day) {
  return {change_jobs(day, JobChange::kAnyModel),
          change_jobs(day, JobChange::kFewerCores),
          change_jobs(day, JobChange::kAnyDomain),
          {MoveJobs{}}};
}

// What the quarter of jobs that waits least of a step waits, at most what is usual.
std::int64_t usual_wait(const Day& day, Known<std::int64_t> JobHabits::*what) {
  std::vector<std::int64_t> shares;
  for (const DayJob& job : day.jobs) {
    if ((job.habits.*what).is_known()) shares.push_back((job.habits.*what).value());
  }
  if (shares.empty()) return kUsualWait;
  const auto quarter = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 4);
  std::nth_element(shares.begin(), quarter, shares.end());
  return std::min(*quarter, kUsualWait);
}

// --- Gangs ---

Remedies plan_better(const Day& day) {
  Remedies remedies;
  for (const auto mode : {BackfillMode::kEasy, BackfillMode::kConservative}) {
    for (const bool learned : {false, true}) {
      const bool is_so = day.engine.backfill.mode == mode && day.learned_run_times == learned;
      if (!is_so) remedies.push_back({PlanBy{mode, learned}});
    }
  }
  return remedies;
}

// --- More devices ---

// The commonest node that has devices of the class most asked for.
std::string commonest_node(const Day& day) {
  std::map<std::string, std::int64_t> asked;
  for (const DayJob& job : day.jobs) {
    for (const Role& role : job.spec->roles) {
      for (const DeviceRequest& group : role.each.devices)
        asked[group.device_class] += role.count * group.count * (job.run.ns / 1'000'000);
    }
  }
  const auto most = std::max_element(
      asked.begin(), asked.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == asked.end()) return "";
  std::map<std::pair<std::string, std::size_t>, std::pair<int, std::string>> kinds;
  std::set<std::string> seen;
  for (const DayNode& node : day.nodes) {
    const auto& devices = node.node.spec.devices;
    if (devices.empty() || devices[0].device_class != most->first) continue;
    if (!seen.insert(node.node.spec.name).second) continue;
    auto& [count, name] = kinds[{devices[0].model, devices.size()}];
    if (++count == 1) name = node.node.spec.name;
  }
  std::pair<int, std::string> commonest;
  for (const auto& [kind, named] : kinds) {
    if (named.first > commonest.first) commonest = named;
  }
  return commonest.second;
}

// From an eighth of the nodes to as many again.
Remedies buy(const Day& day) {
  const std::string like = commonest_node(day);
  if (like.empty()) return {};
  std::set<std::string> names;
  for (const DayNode& node : day.nodes) names.insert(node.node.spec.name);
  Remedies remedies;
  std::int64_t last = 0;
  for (const std::int64_t part : {8, 4, 2, 1}) {
    const auto count = std::min<std::int64_t>(
        std::max<std::int64_t>(static_cast<std::int64_t>(names.size()) / part, 1), kMostAddedNodes);
    if (count != last) remedies.push_back({BuyNodes{count, like}});
    last = count;
  }
  return remedies;
}

}  // namespace

std::int64_t capacity(const Day& day, const std::string& device_class) {
  std::map<std::string, std::int64_t> nodes;
  for (const DayNode& node : day.nodes) {
    const auto& devices = node.node.spec.devices;
    nodes[node.node.spec.name] =
        kWholeDevice.value *
        std::count_if(devices.begin(), devices.end(),
                      [&](const DeviceSpec& d) { return d.device_class == device_class; });
  }
  std::int64_t sum = 0;
  for (const auto& [name, amount] : nodes) sum += amount;
  return sum;
}

Remedies remedies(Cause cause, const Day& day, const DayReplay& seen) {
  switch (cause) {
    case Cause::kNotPooled: return pool(day);
    case Cause::kWrongShape: return reshape(day);
    case Cause::kStaticHolding: return {change_jobs(day, JobChange::kFewerDevices)};
    case Cause::kInputBound:
      return {change_jobs(day, JobChange::kFasterInput, usual_wait(day, &JobHabits::input))};
    case Cause::kNetworkBound:
      return {change_jobs(day, JobChange::kFasterNetwork, usual_wait(day, &JobHabits::network))};
    case Cause::kGangWait:
      return seen_of(Cause::kGangWait, seen) > 0 ? plan_better(day) : Remedies{};
    case Cause::kFaults:
      return {of_nodes(day, is_broken, [](const std::string& name) { return RepairNode{name}; })};
    case Cause::kTooFew: return buy(day);
  }
  return {};
}

DeviceTime seen_of(Cause cause, const DayReplay& seen) {
  const auto sum = [&](std::initializer_list<Part> parts) {
    DeviceTime time = 0;
    for (const Part part : parts) time += seen.causes.at(part);
    return time;
  };
  switch (cause) {
    case Cause::kNotPooled: return sum({Part::kDrained, Part::kBeyondLimits, Part::kQuota});
    case Cause::kWrongShape: return sum({Part::kShape, Part::kStranded, Part::kWrongKind});
    case Cause::kStaticHolding: return seen.balance.unused;
    case Cause::kInputBound: return seen.balance.input;
    case Cause::kNetworkBound: return seen.balance.network;
    case Cause::kGangWait: return sum({Part::kGangWait, Part::kReserved});
    case Cause::kFaults:
      return sum({Part::kNodeDown, Part::kQuarantined, Part::kFaulty, Part::kNodeFailed});
    case Cause::kTooFew: return seen.balance.unmet;
  }
  return 0;
}

}  // namespace gridfold
