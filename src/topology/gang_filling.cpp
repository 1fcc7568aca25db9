#include "topology/gang_filling.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "topology/device_pick.h"

namespace gridfold {
namespace {

// Of fillings that leave loaded cards out.
constexpr std::int32_t kSomeDomainsPerLevel = 2;

}  // namespace

GangFilling::GangFilling(const LinkTraffic& traffic)
    : traffic_(traffic), fabric_(traffic.fabric()) {
  const DomainTree& tree = fabric_.tree();
  const auto all = tree.nodes_beneath(DomainTree::root());
  for (std::uint32_t d = 0; d < tree.size(); ++d) {
    const auto beneath = tree.nodes_beneath(DomainId(d));
    first_of_.push_back(static_cast<std::uint32_t>(beneath.data() - all.data()));
  }
}

std::vector<std::vector<TaskPlace>> GangFilling::all(GangShape shape,
                                                     std::int32_t domains_per_level) {
  std::int32_t most = 0;
  for (const std::uint64_t free : shape.free) {
    most = std::max(most, std::popcount(free) / shape.devices_per_task);
  }
  std::vector<std::vector<TaskPlace>> fillings;
  add_fillings(shape, most, domains_per_level, fillings);
  // The same past the cards that others load: where those are many, no single
  // move leads away from them.
  std::vector<std::uint64_t> some(shape.free.begin(), shape.free.end());
  shape.free = some;
  if (take_out_loaded(some)) add_fillings(shape, most, kSomeDomainsPerLevel, fillings);
  return fillings;
}

void GangFilling::add_fillings(GangShape shape, std::int32_t most, std::int32_t domains_per_level,
                               std::vector<std::vector<TaskPlace>>& fillings) {
  for (std::int32_t at_once = 0; at_once <= std::min(most, shape.tasks); ++at_once) {
    if (at_once > 0 && shape.tasks % at_once != 0) continue;
    count_slots(shape, at_once);
    for (const DomainId domain : candidates(shape.tasks, domains_per_level)) {
      for (const DevicePick pick :
           {DevicePick::kLinked, DevicePick::kAcrossCards, DevicePick::kInterleaved}) {
        shape.pick = pick;
        std::vector<TaskPlace> filling;
        pack(shape, domain, shape.tasks, filling);
        if (std::find(fillings.begin(), fillings.end(), filling) != fillings.end()) continue;
        fillings.push_back(std::move(filling));
      }
    }
  }
}

// Devices next to cards over which others send; false when there are none.
bool GangFilling::take_out_loaded(std::vector<std::uint64_t>& free) const {
  bool any = false;
  for (std::uint32_t n = 0; n < free.size(); ++n) {
    const NodeId node(n);
    const auto& seats = fabric_.layout(node).devices;
    for (std::uint64_t left = free[n]; left != 0; left &= left - 1) {
      const auto d = static_cast<std::size_t>(std::countr_zero(left));
      if (traffic_.shared_card(node, seats[d].card).others == 0) continue;
      free[n] &= ~(std::uint64_t{1} << d);
      any = true;
    }
  }
  return any;
}

bool GangFilling::fill(const GangShape& shape, DomainId domain, std::int32_t tasks,
                       std::vector<TaskPlace>& out) {
  count_slots(shape, 0);
  if (slots_beneath(domain) < tasks) return false;
  pack(shape, domain, tasks, out);
  return true;
}

// Slots of nodes that take `at_once` tasks or none (0: as many as they can).
void GangFilling::count_slots(const GangShape& shape, std::int32_t at_once) {
  const auto nodes = fabric_.tree().nodes_beneath(DomainTree::root());
  sums_.assign(nodes.size() + 1, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t slots = std::popcount(shape.free[nodes[i].value]) / shape.devices_per_task;
    sums_[i + 1] = sums_[i] + (at_once == 0 ? slots : slots >= at_once ? at_once : 0);
  }
}

std::int64_t GangFilling::slots_beneath(DomainId domain) const {
  const auto first = first_of_[domain.value];
  return sums_[first + fabric_.tree().nodes_beneath(domain).size()] - sums_[first];
}

// Of every level the tightest domains that hold the gang, the deepest level first.
std::vector<DomainId> GangFilling::candidates(std::int32_t tasks,
                                              std::int32_t domains_per_level) const {
  const DomainTree& tree = fabric_.tree();
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> holding;
  for (std::uint32_t d = 0; d < tree.size(); ++d) {
    const std::int64_t slots = slots_beneath(DomainId(d));
    if (slots < tasks) continue;
    holding.emplace_back(-static_cast<std::int64_t>(tree.level(DomainId(d))), slots, d);
  }
  std::sort(holding.begin(), holding.end());
  std::vector<DomainId> out;
  std::int32_t of_level = 0;
  for (std::size_t i = 0; i < holding.size(); ++i) {
    const bool same = i > 0 && std::get<0>(holding[i]) == std::get<0>(holding[i - 1]);
    of_level = same ? of_level + 1 : 1;
    if (of_level <= domains_per_level) out.push_back(DomainId(std::get<2>(holding[i])));
  }
  return out;
}

void GangFilling::pack(const GangShape& shape, DomainId domain, std::int64_t tasks,
                       std::vector<TaskPlace>& out) const {
  const DomainTree& tree = fabric_.tree();
  if (tree.is_node(domain)) {
    const NodeId node = tree.nodes_beneath(domain)[0];
    return take(shape, node, shape.free[node.value], static_cast<std::int32_t>(tasks), out);
  }
  struct Child {
    std::int64_t slots = 0;
    std::int64_t awkwardness = 0;
    DomainId domain;
  };
  std::vector<Child> children;  // the largest first
  for (DomainId child(domain.value + 1); child < tree.subtree_end(domain);
       child = tree.subtree_end(child)) {
    if (const std::int64_t slots = slots_beneath(child); slots > 0) {
      children.push_back({slots, awkwardness(shape, child, std::min(slots, tasks)), child});
    }
  }
  std::sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
    return std::tuple(-a.slots, a.awkwardness, a.domain) <
           std::tuple(-b.slots, b.awkwardness, b.domain);
  });
  while (tasks > 0) {
    auto chosen = children.begin();
    for (auto at = children.begin(); at != children.end() && at->slots >= tasks; ++at) {
      if (at->slots < chosen->slots) chosen = at;
    }
    const std::int64_t here = std::min(tasks, chosen->slots);
    pack(shape, chosen->domain, here, out);
    tasks -= here;
    children.erase(chosen);
  }
}

// Of a node: how many islands and sockets the tasks would be spread over, then
// how many flows of others it has. Of a wider domain: the flows on its way up.
std::int64_t GangFilling::awkwardness(const GangShape& shape, DomainId domain,
                                      std::int64_t tasks) const {
  const std::int64_t others = traffic_.shared(domain).others;
  if (!fabric_.tree().is_node(domain)) return others;
  const NodeId node = fabric_.tree().nodes_beneath(domain)[0];
  const auto& seats = fabric_.layout(node).devices;
  std::uint64_t groups = 0;
  for (std::uint64_t task :
       pick_devices(fabric_.layout(node), shape.free[node.value], static_cast<std::int32_t>(tasks),
                    shape.devices_per_task, DevicePick::kLinked)) {
    for (; task != 0; task &= task - 1) {
      const DeviceSeat& seat = seats[static_cast<std::size_t>(std::countr_zero(task))];
      groups |= std::uint64_t{1} << (seat.island >= 0 ? seat.island : seat.socket);
    }
  }
  return std::popcount(groups) * 1'000'000 + others;
}

void GangFilling::take(const GangShape& shape, NodeId node, std::uint64_t free, std::int32_t tasks,
                       std::vector<TaskPlace>& out) const {
  for (const std::uint64_t devices :
       pick_devices(fabric_.layout(node), free, tasks, shape.devices_per_task, shape.pick)) {
    out.push_back({node, devices});
  }
}

}  // namespace gridfold
