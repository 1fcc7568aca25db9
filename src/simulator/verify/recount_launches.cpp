// What a turn says of its launches, counted anew: how many nodes could have
// held the task, the next one and what told them apart. By a full scan of the
// mirror, with the launches that came later taken back.
#include <algorithm>
#include <map>
#include <set>

#include "simulator/verify/recount.h"

namespace gridfold::verify {
namespace {

// Best fit as it is written: what is left of CPU and devices on the node, each
// by the largest node's, in percent rounded up, from 100 down.
std::int64_t best_fit_score(std::int64_t cpu_left, std::int64_t share_left) {
  const std::int64_t rest = cpu_left * 8 + share_left * 128;
  const std::int64_t divisor = 20 * 128 * 8;
  return 100 - (rest + divisor - 1) / divisor;
}

bool is_tie(const std::string& by) { return by == "name" || by == "seeded_order" || by == "draw"; }

bool lies_beneath(const NodeSpec& node, const std::string& domain) {
  const std::string path = domain_at(node, std::string(kNodeLevel)).value_or("") + "/";
  return domain == "grid" || path.starts_with(domain + "/");
}

// The first task of its role, or of its job.
bool is_first_of_role(const MirrorJob& job, std::size_t task) {
  return task == 0 || &job.spec->role_of(static_cast<std::uint32_t>(task)) !=
                          &job.spec->role_of(static_cast<std::uint32_t>(task - 1));
}

}  // namespace

std::int64_t Recount::feasible_nodes(const TaskRequest& request) const {
  std::int64_t nodes = 0;
  for (const Room& room : now_) nodes += room.takes_tasks && slots(room, request) > 0;
  return nodes;
}

std::int64_t Recount::room_in(const std::string& domain, const TaskRequest& request) const {
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < now_.size(); ++n) {
    if (now_[n].takes_tasks && lies_beneath(world_.nodes[n], domain))
      sum += slots(now_[n], request);
  }
  return sum;
}

std::optional<Recount::Wrong> Recount::check_launches(const Decisions& decisions) {
  const auto before = [&](std::uint64_t id) -> const MirrorJob* {
    for (const Mirror::Changed& changed : mirror_.changed())
      if (changed.id == id) return &changed.before;
    return nullptr;
  };
  const auto repaired = repaired_in(decisions);
  if (!repaired) return std::nullopt;
  const MirrorJob* last = nullptr;  // whose launches were taken back last
  for (auto at = decisions.list.rbegin(); at != decisions.list.rend(); ++at) {
    // What the evicted held until then is not known here.
    if (std::holds_alternative<Preempted>(*at)) return std::nullopt;
    const auto* launch = std::get_if<LaunchTask>(&*at);
    if (launch == nullptr) continue;
    const MirrorJob* known = mirror_.job(launch->task.job.value);
    if (known == nullptr || launch->task.index >= known->tasks.size() ||
        known->tasks[launch->task.index].at.node < 0)
      return Wrong{"I1", "what is launched holds nothing by the store"};
    // What a repaired gang had kept was in the way of those before it.
    if (last != nullptr && last != known && repaired->count(last->id) != 0)
      keep_again(repaired->at(last->id));
    last = known;
    MirrorJob job = *known;
    const std::size_t index = launch->task.index;
    const MirrorTask& task = job.tasks[index];
    const MirrorJob* was = before(job.id);
    // Restarts in place and what room was made for come before all others.
    const bool in_place = was != nullptr && was->spec != nullptr && was->runs == job.runs;
    const bool promised = task.why.by == "room_made" || task.why.by == "plan";
    // What is launched later was placed with the others, and is not taken back here.
    const bool in_parts =
        std::any_of(job.tasks.begin(), job.tasks.end(),
                    [](const MirrorTask& one) { return one.phase == Phase::kWaiting; });
    if (in_place || promised || in_parts) return std::nullopt;
    const std::optional<JobSpec> spec = placed_by(job);
    if (!spec) return std::nullopt;
    job.spec = &*spec;
    const auto n = static_cast<std::size_t>(task.at.node);
    for (NodeUse* use : {&use_[n], &planned_use_[n]})
      add_use(world_.nodes[n], job.request(index), task.at.devices, task.at.start, -1, *use);
    now_[n] = room_for_new(n);
    look_at(job);
    const auto wrong = job.home ? untrue_in_domain(job, index) : untrue_choice(job, index);
    if (wrong)
      return Wrong{"I13", "job " + std::to_string(job.id) + " task " + std::to_string(index) +
                              " on " + world_.nodes[n].name + ": " + *wrong};
  }
  return std::nullopt;
}

// Gangs that waited for repair and were started by this turn, as they were before.
// None: what such gangs kept was in the way of some and not of others, for it was
// given up, or lost and found in one turn, or others have a right to it.
std::optional<std::map<std::uint64_t, MirrorJob>> Recount::repaired_in(
    const Decisions& decisions) const {
  std::map<std::uint64_t, MirrorJob> repaired;
  if (world_.gang_repair == Duration{}) return repaired;
  std::set<std::uint64_t> launched;
  for (const Decision& decision : decisions.list) {
    if (const auto* launch = std::get_if<LaunchTask>(&decision))
      launched.insert(launch->task.job.value);
  }
  const auto keeps_all = [](const MirrorJob& before, const MirrorJob& now) {
    return now.repairing &&
           std::equal(before.tasks.begin(), before.tasks.end(), now.tasks.begin(), now.tasks.end(),
                      [](const auto& a, const auto& b) { return a.claim == b.claim; });
  };
  bool any = false;
  for (const Mirror::Changed& changed : mirror_.changed()) {
    if (changed.before.spec == nullptr || !changed.before.repairing) continue;
    any = true;
    const MirrorJob* now = mirror_.job(changed.id);
    if (launched.count(changed.id) != 0) {
      repaired.emplace(changed.id, changed.before);
    } else if (now == nullptr || !keeps_all(changed.before, *now)) {
      return std::nullopt;
    }
  }
  for (const Decision& decision : decisions.list) {
    const auto* change = std::get_if<JobChanged>(&decision);
    if (change == nullptr || change->reason.code != ReasonCode::kNodeLost) continue;
    const MirrorJob* now = mirror_.job(change->job.value);
    any = true;
    if (now == nullptr ||
        (now->tasks.size() > 1 && (launched.count(now->id) != 0 || !now->repairing)))
      return std::nullopt;
  }
  const bool rights = std::any_of(queues_.begin(), queues_.end(), [](const QueueSpec& queue) {
    return queue.preempts || !queue.guaranteed.empty();
  });
  if (any && rights) return std::nullopt;
  return repaired;
}

void Recount::keep_again(const MirrorJob& gang) {
  for (std::size_t i = 0; i < gang.tasks.size(); ++i) {
    const Place& claim = gang.tasks[i].claim;
    if (claim.node < 0) continue;
    const auto n = static_cast<std::size_t>(claim.node);
    add_use(world_.nodes[n], gang.request(i), claim.devices, claim.start, +1, planned_use_[n]);
    claimed_[n] = true;
    now_[n] = room_for_new(n);
  }
}

// Of a task that could have gone to any node.
std::optional<std::string> Recount::untrue_choice(const MirrorJob& job, std::size_t index) const {
  const MirrorTask& task = job.tasks[index];
  const MirrorWhy& why = task.why;
  const TaskRequest& request = job.request(index);
  const std::int64_t feasible = feasible_nodes(request);
  if (why.feasible != feasible)
    return "it says that " + std::to_string(why.feasible) + " nodes could hold it, counted " +
           std::to_string(feasible);
  if ((feasible == 1) != (why.by == "only_one"))
    return "of " + std::to_string(feasible) + " nodes it was decided by " + why.by;
  if (feasible > 1) {
    if (why.runner_up < 0 || why.runner_up == task.at.node) return "it names no other node";
    const Room& next = now_[static_cast<std::size_t>(why.runner_up)];
    if (!next.takes_tasks || slots(next, request) == 0)
      return next.spec->name + " is named as the next, and cannot hold it";
  }
  if (const auto wrong = untrue_tie(why, task.at.node)) return wrong;
  return world_.policy == "best_fit" ? not_best_fit(task, request) : std::nullopt;
}

// The better score decides, and between equals the world's rule.
std::optional<std::string> Recount::untrue_tie(const MirrorWhy& why, int node) const {
  if (why.runner_up < 0) return std::nullopt;
  const std::string scores =
      std::to_string(why.score) + " against " + std::to_string(why.runner_up_score);
  if (why.score < why.runner_up_score) return "the next node is better, " + scores;
  if ((why.score == why.runner_up_score) != is_tie(why.by))
    return "it was decided by " + why.by + ", " + scores;
  const auto name = [&](int n) { return world_.nodes[static_cast<std::size_t>(n)].name; };
  if (why.by == "name" && name(node) > name(why.runner_up))
    return name(why.runner_up) + " comes before it by name";
  return std::nullopt;
}

// Best fit, worked out for every node.
std::optional<std::string> Recount::not_best_fit(const MirrorTask& task,
                                                 const TaskRequest& request) const {
  std::int64_t asked = 0;
  for (const DeviceRequest& group : request.devices)
    asked += std::int64_t{group.count} * group.share.value;
  std::vector<std::pair<std::int64_t, std::string>> others;  // score negated: best first
  std::int64_t own = 0;
  for (std::size_t n = 0; n < now_.size(); ++n) {
    const Room& room = now_[n];
    if (!room.takes_tasks || slots(room, request) == 0) continue;
    std::int64_t share = -asked;
    for (const Device& device : room.devices) {
      // A split device counts its share by slots, by a rule of its own.
      if (!device.spec->partitions.empty()) return std::nullopt;
      if (device.usable) share += device.free_share;
    }
    const std::int64_t score = best_fit_score(room.cpu - request.cpu.value, share);
    if (static_cast<int>(n) == task.at.node)
      own = score;
    else
      others.emplace_back(-score, room.spec->name);
  }
  if (task.why.score != own)
    return "its score is " + std::to_string(task.why.score) + ", worked out " + std::to_string(own);
  if (others.empty()) return std::nullopt;
  std::sort(others.begin(), others.end());
  if (task.why.runner_up_score != -others.front().first)
    return "the next node scores " + std::to_string(task.why.runner_up_score) + ", worked out " +
           std::to_string(-others.front().first) + " for " + others.front().second;
  const std::string& next = world_.nodes[static_cast<std::size_t>(task.why.runner_up)].name;
  if (world_.tie_break == TieBreak::kLowestName && next != others.front().second)
    return next + " is named as the next, and " + others.front().second + " is";
  return std::nullopt;
}

// Of a gang's task: once all of its role, and all of its job, are taken back.
std::optional<std::string> Recount::untrue_in_domain(const MirrorJob& job,
                                                     std::size_t index) const {
  const MirrorWhy& why = job.tasks[index].why;
  if (const auto wrong = untrue_tie(why, job.tasks[index].at.node)) return wrong;
  if (is_first_of_role(job, index)) {
    const std::int64_t feasible = feasible_nodes(job.request(index));
    if (why.feasible != feasible)
      return "it says that " + std::to_string(why.feasible) + " nodes could hold it, counted " +
             std::to_string(feasible);
  }
  if (index > 0) return std::nullopt;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const MirrorTask& task = job.tasks[i];
    if (!holds(task.phase) || task.why.runner_up < 0) continue;
    const auto n = static_cast<std::size_t>(task.why.runner_up);
    const bool held = now_[n].takes_tasks && slots(now_[n], job.request(i)) > 0;
    if (!held || !lies_beneath(world_.nodes[n], job.home->domain))
      return world_.nodes[n].name + " is named as the next of task " + std::to_string(i) +
             ", and could not have held it in " + job.home->domain;
  }
  return untrue_home(job);
}

// The domain, and the one that would have been next.
std::optional<std::string> Recount::untrue_home(const MirrorJob& job) const {
  const MirrorHome& home = *job.home;
  std::int64_t tasks = 0;
  for (const MirrorTask& task : job.tasks) {
    if (!holds(task.phase)) continue;
    ++tasks;
    if (!lies_beneath(world_.nodes[static_cast<std::size_t>(task.at.node)], home.domain))
      return "it lies outside of its domain " + home.domain;
  }
  if ((home.feasible > 1) != !home.runner_up.empty())
    return "of " + std::to_string(home.feasible) + " domains the next is '" + home.runner_up + "'";
  if (home.runner_up == home.domain) return "the next domain is its own";
  const TopologyWish& wish = job.spec->topology;
  if (job.spec->roles.size() > 1 || wish.segments || !wish.spread.empty()) return std::nullopt;
  const TaskRequest& request = job.request(0);
  const std::int64_t left = room_in(home.domain, request) - tasks;
  if (left < 0) return "it has no room in " + home.domain;
  if (home.runner_up.empty()) return std::nullopt;
  const std::int64_t next_left = room_in(home.runner_up, request) - tasks;
  if (next_left < 0) return home.runner_up + " is named as the next, and cannot hold it";
  if (home.by == "least_left" && (home.value != left || home.runner_up_value != next_left ||
                                  home.value >= home.runner_up_value))
    return "least_left says " + std::to_string(home.value) + " against " +
           std::to_string(home.runner_up_value) + ", counted " + std::to_string(left) +
           " against " + std::to_string(next_left);
  if (home.by == "fewest_domains" && home.value >= home.runner_up_value)
    return "fewest_domains says " + std::to_string(home.value) + " against " +
           std::to_string(home.runner_up_value);
  if ((home.by == "score" || is_tie(home.by)) && left != next_left)
    return "decided by " + home.by + ", and what is left over differs";
  if (wish.prefer.empty()) return std::nullopt;
  // All domains of the preferred level that hold it, where it lies in one of them.
  std::map<std::string, std::int64_t> rooms;
  for (const NodeSpec& node : world_.nodes) {
    const auto domain = domain_at(node, wish.prefer);
    const bool inside = wish.require.empty() || domain_at(node, wish.require).has_value();
    if (domain && inside) rooms[*domain] = room_in(*domain, request);
  }
  if (rooms.count(home.domain) == 0) return std::nullopt;
  const auto holding =
      std::count_if(rooms.begin(), rooms.end(), [&](const auto& at) { return at.second >= tasks; });
  if (holding != home.feasible)
    return "it says that " + std::to_string(home.feasible) + " domains could hold it, counted " +
           std::to_string(holding);
  return std::nullopt;
}

}  // namespace gridfold::verify
