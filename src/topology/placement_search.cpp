#include "topology/placement_search.h"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>

namespace gridfold {
namespace {

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

Result<void> check_request(const GangRequest& request) {
  if (auto checked = check_traffic(request.traffic); !checked) return checked;
  if (request.tasks < 1 || request.devices_per_task < 1 || request.devices_per_task > 64) {
    return wrong("tasks", "a gang has at least one task, and a task 1 to 64 devices",
                 "ask for devices");
  }
  const std::int64_t devices = static_cast<std::int64_t>(request.tasks) * request.devices_per_task;
  if (devices == request.traffic.ranks()) return {};
  return wrong("traffic",
               std::to_string(request.traffic.ranks()) + " ranks do not fit the gang's " +
                   std::to_string(devices) + " devices",
               "make tensor x pipeline x data the number of devices");
}

Result<void> check_free(std::span<const std::uint64_t> free, const Fabric& fabric) {
  if (free.size() != fabric.node_count()) {
    return wrong("free", "one mask of free devices is needed for each node", "give 0 for none");
  }
  for (std::uint32_t i = 0; i < free.size(); ++i) {
    const auto most = static_cast<std::size_t>(std::bit_width(free[i]));
    if (most <= fabric.layout(NodeId(i)).devices.size()) continue;
    return wrong("free[" + std::to_string(i) + "]", "the node has fewer devices",
                 "devices are counted from 0");
  }
  return {};
}

constexpr std::string_view kStream = "placement search";

}  // namespace

PlacementSearch::PlacementSearch(ExpectedTime& expected, PlacementSearchOptions options)
    : expected_(expected),
      fabric_(expected.traffic().fabric()),
      options_(options),
      mapper_(expected),
      filling_(expected.traffic()),
      random_(0, kStream) {}

Result<std::optional<PlacementPlan>> PlacementSearch::find(std::span<const std::uint64_t> free,
                                                           const GangRequest& request) {
  if (auto checked = check_request(request); !checked) return checked.error();
  if (auto checked = check_free(free, fabric_); !checked) return checked.error();
  shape_ = {request.tasks, request.devices_per_task, free};
  job_ = &request.traffic;
  evaluations_ = 0;
  random_ = RandomStream(0, kStream);
  std::vector<Draft> drafts;
  for (auto& filling : filling_.all(shape_, options_.domains_per_level)) {
    if (!drafts.empty() && exhausted()) break;
    drafts.push_back(ordered(std::move(filling)));
  }
  if (drafts.empty()) return std::optional<PlacementPlan>();
  const auto faster = [](const Draft& a, const Draft& b) { return a.better_than(b); };
  std::stable_sort(drafts.begin(), drafts.end(), faster);
  if (drafts.size() > static_cast<std::size_t>(options_.improved)) {
    drafts.resize(static_cast<std::size_t>(options_.improved));
  }
  for (Draft& draft : drafts) improve(draft);
  Draft best = *std::min_element(drafts.begin(), drafts.end(), faster);
  while (!exhausted() && best.expected.communication > Duration{}) {
    Draft draft = best;
    kick(draft);
    improve(draft);
    if (faster(draft, best)) best = std::move(draft);
  }
  return std::optional(PlacementPlan{std::move(best.tasks), best.expected, evaluations_});
}

// With the best of the few usual orders of ranks.
PlacementSearch::Draft PlacementSearch::ordered(std::vector<TaskPlace> tasks) {
  constexpr std::int32_t kOrders = 9;
  const RankMap map = mapper_.map(*job_, tasks, kOrders);
  evaluations_ += map.evaluations;
  return {std::move(tasks), map.expected};
}

PlacementSearch::Draft PlacementSearch::judged(std::vector<TaskPlace> tasks) {
  ++evaluations_;
  places_of(fabric_, tasks, places_);
  const StepTime time = expected_.step(*job_, places_);
  return {std::move(tasks), time};
}

void PlacementSearch::improve(Draft& draft) {
  for (bool better = true; better && !exhausted();) {
    // The near moves first: else a kicked draft goes straight back.
    better = change_devices(draft);
    better = swap_ranks(draft) || better;
    better = move_tasks(draft) || better;
    better = move_blocks(draft) || better;
    better = empty_nodes(draft) || better;
    better = move_domains(draft) || better;
  }
}

bool PlacementSearch::accept(Draft& draft, const std::vector<TaskPlace>& tasks) {
  if (exhausted()) return false;
  Draft other = judged(tasks);
  if (!other.better_than(draft)) return false;
  draft = std::move(other);
  return true;
}

// Away from a local optimum: a few tasks, or all of a node, to nodes drawn at
// random, or two ranks swapped, whatever it costs.
void PlacementSearch::kick(Draft& draft) {
  const auto any = [&] { return random_.below(draft.tasks.size()); };
  const auto move = [&](TaskPlace& task) {
    const NodeId node(static_cast<std::uint32_t>(random_.below(fabric_.node_count())));
    const std::uint64_t free = unused(draft.tasks, node);
    if (node == task.node || !holds_one(free)) return false;
    std::vector<TaskPlace> moved;
    filling_.take(shape_, node, free, 1, moved);
    task = moved[0];
    return true;
  };
  if (random_.chance(1, 2)) {
    const NodeId emptied = draft.tasks[any()].node;
    for (TaskPlace& task : draft.tasks) {
      for (int tries = 0; task.node == emptied && tries < 8; ++tries) move(task);
    }
  } else {
    for (auto moves = 1 + random_.below(3); moves > 0; --moves) {
      if (!move(draft.tasks[any()])) std::swap(draft.tasks[any()], draft.tasks[any()]);
    }
  }
  draft = judged(std::move(draft.tasks));
}

std::uint64_t PlacementSearch::unused(const std::vector<TaskPlace>& tasks, NodeId node) const {
  std::uint64_t free = shape_.free[node.value];
  for (const TaskPlace& task : tasks) {
    if (task.node == node) free &= ~task.devices;
  }
  return free;
}

bool PlacementSearch::holds_one(std::uint64_t free) const {
  return std::popcount(free) >= shape_.devices_per_task;
}

// Nodes with room for a task: those in use, and of the others one of each kind;
// nodes with the same parent, layout and free devices and without traffic are alike.
std::vector<NodeId> PlacementSearch::targets(const Draft& draft) const {
  const DomainTree& tree = fabric_.tree();
  using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t>;
  std::vector<std::pair<Kind, NodeId>> kinds;
  std::vector<NodeId> out;
  for (std::uint32_t i = 0; i < fabric_.node_count(); ++i) {
    const NodeId node(i);
    if (!holds_one(shape_.free[i]) || !holds_one(unused(draft.tasks, node))) continue;
    const auto is_here = [&](const TaskPlace& task) { return task.node == node; };
    if (std::any_of(draft.tasks.begin(), draft.tasks.end(), is_here)) {
      out.push_back(node);
      continue;
    }
    const DomainId leaf = tree.domain_of(node);
    const bool quiet = expected_.traffic().shared(leaf).others == 0;
    kinds.emplace_back(
        Kind(tree.parent(leaf).value, fabric_.layout_id(node), shape_.free[i], quiet ? 0 : i + 1),
        node);
  }
  std::sort(kinds.begin(), kinds.end());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i == 0 || kinds[i].first != kinds[i - 1].first) out.push_back(kinds[i].second);
  }
  return out;
}

// All that lies beneath one domain to another of the same level.
bool PlacementSearch::move_domains(Draft& draft) {
  const DomainTree& tree = fabric_.tree();
  std::vector<DomainId> used;
  for (const TaskPlace& task : draft.tasks) {
    for (DomainId at = tree.parent(tree.domain_of(task.node)); at != DomainTree::root();
         at = tree.parent(at)) {
      if (std::find(used.begin(), used.end(), at) == used.end()) used.push_back(at);
    }
  }
  for (const DomainId from : used) {
    std::vector<TaskPlace> kept;
    for (const TaskPlace& task : draft.tasks) {
      if (!tree.contains(from, tree.domain_of(task.node))) kept.push_back(task);
    }
    const auto moved = static_cast<std::int32_t>(draft.tasks.size() - kept.size());
    for (std::uint32_t d = 1; d < tree.size() && !exhausted(); ++d) {
      const DomainId to(d);
      if (tree.level(to) != tree.level(from) || tree.is_node(to)) continue;
      if (std::find(used.begin(), used.end(), to) != used.end()) continue;
      std::vector<TaskPlace> tasks = kept;
      if (!filling_.fill(shape_, to, moved, tasks)) continue;
      Draft other = ordered(std::move(tasks));
      if (!other.better_than(draft)) continue;
      draft = std::move(other);
      return true;  // `used` is out of date
    }
  }
  return false;
}

// All tasks of a node to others, filled anew in one domain.
bool PlacementSearch::empty_nodes(Draft& draft) {
  const DomainTree& tree = fabric_.tree();
  bool better = false;
  for (std::size_t i = 0; i < draft.tasks.size(); ++i) {
    const NodeId from = draft.tasks[i].node;
    const auto is_here = [&](const TaskPlace& task) { return task.node == from; };
    const auto first = std::find_if(draft.tasks.begin(), draft.tasks.end(), is_here);
    if (first != draft.tasks.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    const auto here = static_cast<std::int32_t>(std::count_if(first, draft.tasks.end(), is_here));
    rest_.assign(shape_.free.begin(), shape_.free.end());
    for (const TaskPlace& task : draft.tasks) rest_[task.node.value] &= ~task.devices;
    rest_[from.value] = 0;
    const GangShape rest{here, shape_.devices_per_task, rest_};
    for (std::uint32_t d = 0; d < tree.size() && !exhausted(); ++d) {
      std::vector<TaskPlace> moved;
      if (tree.is_node(DomainId(d)) || !filling_.fill(rest, DomainId(d), here, moved)) continue;
      std::vector<TaskPlace> tasks = draft.tasks;
      std::size_t next = 0;
      for (TaskPlace& task : tasks) {
        if (task.node == from) task = moved[next++];
      }
      if (!accept(draft, tasks)) continue;
      better = true;
      break;
    }
  }
  return better;
}

// Ranks that follow one another, as many as a tensor group has tasks or more,
// together to another node.
bool PlacementSearch::move_blocks(Draft& draft) {
  const auto size = static_cast<std::int32_t>(draft.tasks.size());
  std::vector<NodeId> nodes = targets(draft);
  std::vector<TaskPlace> tasks = draft.tasks;
  bool better = false;
  for (std::int32_t block = std::max(2, job_->tensor / shape_.devices_per_task); block < size;
       block *= 2) {
    for (std::int32_t first = 0; first + block <= size; first += block) {
      for (const NodeId to : nodes) {
        const std::uint64_t free = unused(tasks, to);
        if (std::popcount(free) / shape_.devices_per_task < block) continue;
        std::vector<TaskPlace> moved;
        filling_.take(shape_, to, free, block, moved);
        std::swap_ranges(moved.begin(), moved.end(), tasks.begin() + first);
        if (accept(draft, tasks)) {
          better = true;
          nodes = targets(draft);
          break;
        }
        std::swap_ranges(moved.begin(), moved.end(), tasks.begin() + first);
      }
    }
  }
  return better;
}

bool PlacementSearch::move_tasks(Draft& draft) {
  std::vector<NodeId> nodes = targets(draft);
  std::vector<TaskPlace> tasks = draft.tasks;
  bool better = false;
  for (TaskPlace& task : tasks) {
    for (const NodeId to : nodes) {
      if (to == task.node) continue;
      std::vector<TaskPlace> moved;
      filling_.take(shape_, to, unused(tasks, to), 1, moved);
      std::swap(task, moved[0]);
      if (accept(draft, tasks)) {
        better = true;
        nodes = targets(draft);
        break;
      }
      std::swap(task, moved[0]);
    }
  }
  return better;
}

bool PlacementSearch::swap_ranks(Draft& draft) {
  std::vector<TaskPlace> tasks = draft.tasks;
  bool better = false;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t j = i + 1; j < tasks.size(); ++j) {
      std::swap(tasks[i], tasks[j]);
      if (accept(draft, tasks)) {
        better = true;
      } else {
        std::swap(tasks[i], tasks[j]);
      }
    }
  }
  return better;
}

// One device of a task for another of its node with another seat, a free one
// or one of another task.
bool PlacementSearch::change_devices(Draft& draft) {
  bool better = false;
  for (std::size_t i = 0; i < draft.tasks.size(); ++i) {
    const NodeId node = draft.tasks[i].node;
    const auto devices = static_cast<std::size_t>(std::bit_width(shape_.free[node.value]));
    for (std::size_t leaving = 0; leaving < devices; ++leaving) {
      for (std::size_t coming = 0; coming < devices; ++coming) {
        better = change_device(draft, i, leaving, coming) || better;
      }
    }
  }
  return better;
}

bool PlacementSearch::change_device(Draft& draft, std::size_t i, std::size_t leaving,
                                    std::size_t coming) {
  const TaskPlace task = draft.tasks[i];
  const std::uint64_t out = std::uint64_t{1} << leaving;
  const std::uint64_t in = std::uint64_t{1} << coming;
  const auto& seats = fabric_.layout(task.node).devices;
  const bool can = (task.devices & out) != 0 && (task.devices & in) == 0 &&
                   (shape_.free[task.node.value] & in) != 0 && !(seats[leaving] == seats[coming]);
  if (!can) return false;
  std::vector<TaskPlace> tasks = draft.tasks;
  for (TaskPlace& other : tasks) {
    if (other.node == task.node && std::popcount(other.devices & (in | out)) == 1) {
      other.devices ^= in | out;
    }
  }
  return accept(draft, tasks);
}

}  // namespace gridfold
