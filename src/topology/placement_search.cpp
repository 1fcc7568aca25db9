#include "topology/placement_search.h"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>

#include "topology/device_pick.h"

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

}  // namespace

PlacementSearch::PlacementSearch(ExpectedTime& expected, PlacementSearchOptions options)
    : expected_(expected),
      fabric_(expected.traffic().fabric()),
      options_(options),
      mapper_(expected) {
  const DomainTree& tree = fabric_.tree();
  const auto all = tree.nodes_beneath(DomainTree::root());
  first_of_.resize(tree.size());
  for (std::uint32_t d = 0; d < tree.size(); ++d) {
    const auto beneath = tree.nodes_beneath(DomainId(d));
    first_of_[d] = static_cast<std::uint32_t>(beneath.data() - all.data());
  }
}

Result<std::optional<PlacementPlan>> PlacementSearch::find(std::span<const std::uint64_t> free,
                                                           const GangRequest& request) {
  if (auto checked = check_request(request); !checked) return checked.error();
  if (free.size() != fabric_.node_count()) {
    return wrong("free", "one mask of free devices is needed for each node", "give 0 for none");
  }
  for (std::uint32_t i = 0; i < free.size(); ++i) {
    if (std::bit_width(free[i]) <= fabric_.layout(NodeId(i)).devices.size()) continue;
    return wrong("free[" + std::to_string(i) + "]", "the node has fewer devices",
                 "devices are counted from 0");
  }
  request_ = &request;
  free_ = free;
  evaluations_ = 0;
  drafts_.clear();
  draft_fillings();
  if (drafts_.empty()) return std::optional<PlacementPlan>();
  std::stable_sort(drafts_.begin(), drafts_.end(), [](const Draft& a, const Draft& b) {
    return a.expected.step < b.expected.step;
  });
  if (drafts_.size() > static_cast<std::size_t>(options_.improved)) {
    drafts_.resize(static_cast<std::size_t>(options_.improved));
  }
  Draft best = drafts_[0];
  for (Draft& draft : drafts_) {
    improve(draft);
    if (draft.expected.step < best.expected.step) best = draft;
  }
  assign(best.parts);
  const RankMap map =
      mapper_.map(request.traffic, tasks_, std::max(4, options_.max_evaluations - evaluations_));
  return std::optional(PlacementPlan{tasks_, map.expected, evaluations_ + map.evaluations});
}

// Slots of nodes that take `at_once` tasks (0: as many as they can), so that
// each node gives as many or none.
void PlacementSearch::count_slots(std::span<const std::uint64_t> free, std::int32_t at_once) {
  const auto nodes = fabric_.tree().nodes_beneath(DomainTree::root());
  sums_.assign(nodes.size() + 1, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t slots = std::popcount(free[nodes[i].value]) / request_->devices_per_task;
    const std::int32_t used = at_once == 0 ? slots : slots >= at_once ? at_once : 0;
    sums_[i + 1] = sums_[i] + used;
  }
}

std::int64_t PlacementSearch::slots_beneath(DomainId domain) const {
  const auto first = first_of_[domain.value];
  return sums_[first + fabric_.tree().nodes_beneath(domain).size()] - sums_[first];
}

// Of every level the tightest domains that hold the gang, the deepest first.
std::vector<DomainId> PlacementSearch::candidates() const {
  const DomainTree& tree = fabric_.tree();
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> holding;
  for (std::uint32_t d = 0; d < tree.size(); ++d) {
    const std::int64_t slots = slots_beneath(DomainId(d));
    if (slots < request_->tasks) continue;
    holding.emplace_back(-static_cast<std::int64_t>(tree.level(DomainId(d))), slots, d);
  }
  std::sort(holding.begin(), holding.end());
  std::vector<DomainId> out;
  std::int32_t of_level = 0;
  for (std::size_t i = 0; i < holding.size(); ++i) {
    const bool same = i > 0 && std::get<0>(holding[i]) == std::get<0>(holding[i - 1]);
    of_level = same ? of_level + 1 : 1;
    if (of_level <= options_.domains_per_level) out.push_back(DomainId(std::get<2>(holding[i])));
  }
  return out;
}

// Each candidate domain is filled tightly, and evenly with 1, 2, … tasks a
// node where that divides the gang.
void PlacementSearch::draft_fillings() {
  std::int32_t most = 0;
  for (const std::uint64_t free : free_) {
    most = std::max(most, std::popcount(free) / request_->devices_per_task);
  }
  for (std::int32_t at_once = 0; at_once <= std::min(most, request_->tasks); ++at_once) {
    if (at_once > 0 && request_->tasks % at_once != 0) continue;
    count_slots(free_, at_once);
    for (const DomainId domain : candidates()) {
      std::vector<Part> parts;
      fill(domain, request_->tasks, parts);
      consider(std::move(parts));
    }
  }
}

// The tightest child that holds all; without one the largest whole, then the rest.
void PlacementSearch::fill(DomainId domain, std::int64_t tasks, std::vector<Part>& parts) const {
  const DomainTree& tree = fabric_.tree();
  if (tree.is_node(domain)) {
    const NodeId node = tree.nodes_beneath(domain)[0];
    const auto count = static_cast<std::int32_t>(tasks);
    parts.push_back({node, count, pick(node, count)});
    return;
  }
  std::vector<std::pair<std::int64_t, DomainId>> children;
  for (DomainId child(domain.value + 1); child < tree.subtree_end(domain);
       child = tree.subtree_end(child)) {
    if (const std::int64_t slots = slots_beneath(child); slots > 0) {
      children.emplace_back(slots, child);
    }
  }
  std::sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.first, a.second) < std::tuple(-b.first, b.second);
  });
  while (tasks > 0) {
    auto chosen = children.begin();
    for (auto at = children.begin(); at != children.end() && at->first >= tasks; ++at) {
      if (at->first < chosen->first) chosen = at;
    }
    const std::int64_t here = std::min(tasks, chosen->first);
    fill(chosen->second, here, parts);
    tasks -= here;
    children.erase(chosen);
  }
}

void PlacementSearch::consider(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.node < b.node; });
  for (const Draft& draft : drafts_) {
    if (draft.parts == parts) return;
  }
  Draft draft{std::move(parts), {}};
  if (drafts_.empty() || !exhausted()) {
    evaluate(draft);
    drafts_.push_back(std::move(draft));
  }
}

std::uint64_t PlacementSearch::pick(NodeId node, std::int32_t tasks) const {
  return pick_devices(fabric_.layout(node), free_[node.value], tasks, request_->devices_per_task);
}

void PlacementSearch::assign(std::span<const Part> parts) {
  tasks_.clear();
  for (const Part& part : parts) {
    for (const std::uint64_t devices :
         cut_into_tasks(fabric_.layout(part.node), part.devices, request_->devices_per_task)) {
      tasks_.push_back({part.node, devices});
    }
  }
}

// With the few usual orders of ranks; swaps of ranks come at the end.
void PlacementSearch::evaluate(Draft& draft) {
  constexpr std::int32_t kOrders = 4;
  assign(draft.parts);
  const RankMap map = mapper_.map(request_->traffic, tasks_, kOrders);
  evaluations_ += map.evaluations;
  draft.expected = map.expected;
}

void PlacementSearch::improve(Draft& draft) {
  while (!exhausted() && (move_domains(draft) || move_tasks(draft) || move_devices(draft))) {
  }
}

bool PlacementSearch::try_parts(Draft& draft, std::vector<Part> parts) {
  if (exhausted()) return false;
  std::erase_if(parts, [](const Part& part) { return part.tasks == 0; });
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.node < b.node; });
  Draft other{std::move(parts), {}};
  evaluate(other);
  if (other.expected.step >= draft.expected.step) return false;
  draft = std::move(other);
  return true;
}

// One node of each kind that the gang does not use: nodes with the same parent,
// layout, free devices and free links are interchangeable.
std::vector<NodeId> PlacementSearch::newcomers(const Draft& draft) const {
  const DomainTree& tree = fabric_.tree();
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::int64_t, std::uint32_t>>
      kinds;
  for (std::uint32_t i = 0; i < free_.size(); ++i) {
    if (std::popcount(free_[i]) < request_->devices_per_task) continue;
    const auto uses = [&](const Part& part) { return part.node == NodeId(i); };
    if (std::any_of(draft.parts.begin(), draft.parts.end(), uses)) continue;
    const DomainId leaf = tree.domain_of(NodeId(i));
    kinds.emplace_back(tree.parent(leaf).value, fabric_.layout_id(NodeId(i)), free_[i],
                       expected_.traffic().available(leaf), i);
  }
  std::sort(kinds.begin(), kinds.end());
  std::vector<NodeId> out;
  const auto kind = [](const auto& k) {
    return std::tuple(std::get<0>(k), std::get<1>(k), std::get<2>(k), std::get<3>(k));
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0 && kind(kinds[i]) == kind(kinds[i - 1])) continue;
    out.push_back(NodeId(std::get<4>(kinds[i])));
  }
  return out;
}

// All tasks of a node, or one, or so many as make both equal, to another node.
bool PlacementSearch::move_tasks(Draft& draft) {
  std::vector<NodeId> targets = newcomers(draft);
  for (const Part& part : draft.parts) targets.push_back(part.node);
  for (std::size_t from = 0; from < draft.parts.size(); ++from) {
    for (const NodeId to : targets) {
      const Part& source = draft.parts[from];
      if (to == source.node) continue;
      const auto at = std::find_if(draft.parts.begin(), draft.parts.end(),
                                   [&](const Part& part) { return part.node == to; });
      const std::int32_t there = at == draft.parts.end() ? 0 : at->tasks;
      const std::int32_t room = std::popcount(free_[to.value]) / request_->devices_per_task - there;
      std::int32_t before = 0;
      for (const std::int32_t wanted : {source.tasks, (source.tasks - there) / 2, 1}) {
        const std::int32_t moved = std::min(wanted, room);
        if (moved < 1 || moved == before) continue;
        before = moved;
        std::vector<Part> parts = draft.parts;
        parts[from] = {source.node, source.tasks - moved, pick(source.node, source.tasks - moved)};
        const Part grown{to, there + moved, pick(to, there + moved)};
        if (there == 0) {
          parts.push_back(grown);
        } else {
          parts[static_cast<std::size_t>(at - draft.parts.begin())] = grown;
        }
        if (try_parts(draft, std::move(parts))) return true;
      }
    }
  }
  return false;
}

// All that lies beneath one domain to another of the same level.
bool PlacementSearch::move_domains(Draft& draft) {
  const DomainTree& tree = fabric_.tree();
  count_slots(free_, 0);
  std::vector<DomainId> used;
  for (const Part& part : draft.parts) {
    for (DomainId at = tree.parent(tree.domain_of(part.node)); at != DomainTree::root();
         at = tree.parent(at)) {
      if (std::find(used.begin(), used.end(), at) == used.end()) used.push_back(at);
    }
  }
  for (const DomainId from : used) {
    std::vector<Part> kept;
    std::int64_t tasks = 0;
    for (const Part& part : draft.parts) {
      if (tree.contains(from, tree.domain_of(part.node))) {
        tasks += part.tasks;
      } else {
        kept.push_back(part);
      }
    }
    for (std::uint32_t d = 1; d < tree.size(); ++d) {
      const DomainId to(d);
      if (tree.level(to) != tree.level(from) || tree.is_node(to)) continue;
      if (slots_beneath(to) < tasks || std::find(used.begin(), used.end(), to) != used.end()) {
        continue;
      }
      std::vector<Part> parts = kept;
      fill(to, tasks, parts);
      if (try_parts(draft, std::move(parts))) return true;
    }
  }
  return false;
}

// One device of a node for another, of those that differ in their seat.
bool PlacementSearch::move_devices(Draft& draft) {
  for (std::size_t i = 0; i < draft.parts.size(); ++i) {
    const Part& part = draft.parts[i];
    const auto& seats = fabric_.layout(part.node).devices;
    for (std::uint64_t out = part.devices; out != 0; out &= out - 1) {
      const auto leaving = static_cast<std::size_t>(std::countr_zero(out));
      for (std::uint64_t in = free_[part.node.value] & ~part.devices; in != 0; in &= in - 1) {
        const auto coming = static_cast<std::size_t>(std::countr_zero(in));
        if (seats[leaving] == seats[coming]) continue;
        std::vector<Part> parts = draft.parts;
        parts[i].devices ^= std::uint64_t{1} << leaving | std::uint64_t{1} << coming;
        if (try_parts(draft, std::move(parts))) return true;
      }
    }
  }
  return false;
}

}  // namespace gridfold
