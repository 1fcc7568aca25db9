#include "engine/victim_books.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/device_fit.h"

namespace gridfold {
namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

void take_place(Cluster::Scratch& room, const Request& request) {
  const std::uint64_t devices = first_fit_devices(room.room(), request);
  const std::int32_t start = choose_start(room.room(), request, devices);
  Cluster::take_out(room, request, devices, start);
}

}  // namespace

bool VictimPool::is_spared_before(std::uint32_t a, std::uint32_t b) const {
  const VictimCandidate& x = candidates[a];
  const VictimCandidate& y = candidates[b];
  return std::tuple(-x.lost, -x.priority, x.job, x.first, a) <
         std::tuple(-y.lost, -y.priority, y.job, y.first, b);
}

void VictimBooks::begin(std::span<const GangPart> parts, const TopologyWish& wish,
                        const VictimPool& pool, std::span<const NodeId> leaving) {
  parts_ = parts;
  wish_ = &wish;
  pool_ = &pool;
  const DomainTree& tree = slots_.tree();
  std::vector<std::pair<DomainId, NodeId>> touched;
  for (const Leaving& one : pool.leaving) touched.emplace_back(tree.domain_of(one.node), one.node);
  for (const NodeId node : leaving) touched.emplace_back(tree.domain_of(node), node);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  nodes_.clear();
  for (const auto& [leaf, node] : touched) {
    if (!cluster_.usable(node)) continue;
    Node& here = nodes_.emplace_back();
    here.node = node;
    here.leaf = leaf;
  }
  find_bins();
  for (Node& here : nodes_) {
    here.bin = bin_of(here.leaf);
    cluster_.planned(here.node, here.room);
    here.fit.assign(parts.size(), 0);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      here.fit[p] = count(here.room, p);
      if (here.bin < 0) continue;
      const std::int64_t counted = slots_.row(*parts[p].request).slots[here.leaf.value];
      bins_[static_cast<std::size_t>(here.bin)].fit[p] += here.fit[p] - counted;
    }
  }
  node_of_.assign(pool.leaving.size(), kNowhere);
  gone_.assign(pool.leaving.size(), 0);
  for (std::size_t i = 0; i < pool.leaving.size(); ++i) {
    const DomainId leaf = tree.domain_of(pool.leaving[i].node);
    const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), leaf,
                                     [](const Node& n, DomainId d) { return n.leaf < d; });
    if (at != nodes_.end() && at->leaf == leaf)
      node_of_[i] = static_cast<std::uint32_t>(at - nodes_.begin());
  }
  for (std::uint32_t c = 0; c < pool.candidates.size(); ++c) {
    for (std::uint32_t i = pool.candidates[c].first; i < pool.candidates[c].last; ++i) {
      if (node_of_[i] == kNowhere) continue;
      auto& list = nodes_[node_of_[i]].candidates;
      if (list.empty() || list.back() != c) list.push_back(c);
    }
  }
  stamp_.assign(pool.candidates.size(), 0);
  stamp_now_ = 0;
}

// The domains whose places count together: of the segments' or the spread's
// level, else the grid.
void VictimBooks::find_bins() {
  const DomainTree& tree = slots_.tree();
  const std::string& level = wish_->segments ? wish_->segments->within : wish_->spread;
  bins_.clear();
  if (level.empty()) {
    bins_.push_back({DomainTree::root(), {}});
  } else {
    for (const DomainId domain : tree.domains_at(level)) bins_.push_back({domain, {}});
  }
  for (Bin& bin : bins_) {
    for (const GangPart& part : parts_)
      bin.fit.push_back(slots_.row(*part.request).slots[bin.domain.value]);
  }
}

std::int32_t VictimBooks::bin_of(DomainId leaf) const {
  const DomainTree& tree = slots_.tree();
  const auto after = std::upper_bound(bins_.begin(), bins_.end(), leaf,
                                      [](DomainId d, const Bin& bin) { return d < bin.domain; });
  if (after == bins_.begin()) return -1;
  const auto bin = after - 1;
  return tree.contains(bin->domain, leaf) ? static_cast<std::int32_t>(bin - bins_.begin()) : -1;
}

void VictimBooks::enter(DomainId home) {
  const DomainTree& tree = slots_.tree();
  home_ = home;
  const auto before = [](const Node& node, DomainId d) { return node.leaf < d; };
  const DomainId end = tree.subtree_end(home);
  first_ = static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), home, before) -
                                    nodes_.begin());
  last_ = static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), end, before) -
                                   nodes_.begin());
  const bool is_split = wish_->segments || !wish_->spread.empty();
  const auto bin_before = [](const Bin& bin, DomainId d) { return bin.domain < d; };
  first_bin_ = static_cast<std::size_t>(
      std::lower_bound(bins_.begin(), bins_.end(), home, bin_before) - bins_.begin());
  last_bin_ = static_cast<std::size_t>(
      std::lower_bound(bins_.begin(), bins_.end(), end, bin_before) - bins_.begin());

  base_.assign(parts_.size(), 0);
  for (std::size_t p = 0; p < parts_.size() && !is_split; ++p) {
    const auto& slots = slots_.row(*parts_[p].request).slots;
    base_[p] = slots[home.value];
    for (std::size_t n = first_; n < last_; ++n)
      base_[p] += nodes_[n].fit[p] - slots[nodes_[n].leaf.value];
  }
  here_.clear();
  regions_.clear();
  std::map<std::int32_t, std::size_t> region_of;
  for (std::size_t n = first_; n < last_; ++n) {
    const Node& node = nodes_[n];
    if (node.bin < 0 || node.candidates.empty()) continue;
    const std::int32_t key = wish_->segments ? node.bin : static_cast<std::int32_t>(n);
    const auto [at, fresh] = region_of.emplace(key, regions_.size());
    if (fresh) regions_.emplace_back();
    auto& list = regions_[at->second].candidates;
    list.insert(list.end(), node.candidates.begin(), node.candidates.end());
  }
  ++stamp_now_;
  for (Region& region : regions_) {
    std::sort(region.candidates.begin(), region.candidates.end());
    region.candidates.erase(std::unique(region.candidates.begin(), region.candidates.end()),
                            region.candidates.end());
    for (const std::uint32_t candidate : region.candidates) {
      if (std::exchange(stamp_[candidate], stamp_now_) != stamp_now_) here_.push_back(candidate);
    }
  }
}

// Several groups of devices are counted one task after the other, up to what is
// needed.
std::int64_t VictimBooks::count(const Cluster::Scratch& room, std::size_t part) const {
  const Request& request = *parts_[part].request;
  if (request.devices.size() <= 1) return slots(room.room(), request);
  Cluster::Scratch left = room;
  std::int64_t found = 0;
  while (found < parts_[part].min && gridfold::fits(left.room(), request)) {
    take_place(left, request);
    ++found;
  }
  return found;
}

void VictimBooks::recount(Node& node) {
  if (node.bin < 0) return;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::int64_t now = count(node.room, p);
    bins_[static_cast<std::size_t>(node.bin)].fit[p] += now - node.fit[p];
    base_[p] += now - node.fit[p];
    node.fit[p] = now;
  }
}

void VictimBooks::put(std::uint32_t candidate, int sign) {
  std::uint32_t changed = kNowhere;
  for (std::uint32_t i = pool_->candidates[candidate].first; i < pool_->candidates[candidate].last;
       ++i) {
    const std::uint32_t at = node_of_[i];
    if (at == kNowhere || at < first_ || at >= last_) continue;
    const bool was_gone = gone_[i] > 0;
    gone_[i] += sign;
    if (was_gone == (gone_[i] > 0)) continue;
    if (changed != kNowhere && changed != at) recount(nodes_[changed]);
    changed = at;
    const Leaving& one = pool_->leaving[i];
    if (was_gone) {
      Cluster::take_out(nodes_[at].room, *one.request, one.devices, one.start);
    } else {
      Cluster::add_back(nodes_[at].room, *one.request, one.devices, one.start);
    }
  }
  if (changed != kNowhere) recount(nodes_[changed]);
}

// Tasks of the part that fit; of segments those in whole ones.
std::int64_t VictimBooks::have(std::size_t part) const {
  const bool is_split = wish_->segments || !wish_->spread.empty();
  if (!is_split) return base_[part];
  // Segments of several roles are mixed: counted as loose tasks.
  const std::int64_t size = wish_->segments && parts_.size() == 1 ? wish_->segments->size : 1;
  std::int64_t sum = 0;
  for (std::size_t b = first_bin_; b < last_bin_; ++b) sum += bins_[b].fit[part] / size * size;
  return sum;
}

bool VictimBooks::fits() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (have(p) < parts_[p].min) return false;
  }
  return parts_.size() == 1 || wish_->segments || roles_fit();
}

std::int64_t VictimBooks::missing() const {
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::int64_t short_of = parts_[p].min - have(p);
    if (short_of <= 0) continue;
    sum += short_of;
    if (!wish_->segments || parts_.size() != 1) continue;
    // What the segments nearest to completion have already.
    const std::int64_t size = wish_->segments->size;
    std::vector<std::int64_t> begun;
    for (std::size_t b = first_bin_; b < last_bin_; ++b) {
      if (bins_[b].fit[p] % size > 0) begun.push_back(bins_[b].fit[p] % size);
    }
    std::sort(begun.rbegin(), begun.rend());
    begun.resize(std::min<std::size_t>(begun.size(),
                                       static_cast<std::size_t>((short_of + size - 1) / size)));
    sum -= std::accumulate(begun.begin(), begun.end(), std::int64_t{0});
  }
  return std::max<std::int64_t>(sum, 0);
}

std::vector<DomainId> VictimBooks::touched_leaves() const {
  std::vector<DomainId> leaves;
  for (const Node& node : nodes_) {
    if (node.bin >= 0) leaves.push_back(node.leaf);
  }
  return leaves;
}

// Whether roles that ask for different things find room beside each other:
// those with many tasks first, and the other way round.
bool VictimBooks::roles_fit() {
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return have(a) - parts_[a].min < have(b) - parts_[b].min;  // the tightest first
  });
  if (seat_roles(order)) return true;
  std::reverse(order.begin(), order.end());
  return seat_roles(order);
}

bool VictimBooks::seat_roles(std::span<const std::size_t> order) {
  const DomainTree& tree = slots_.tree();
  std::map<NodeId, Cluster::Scratch> taken;
  const auto room_of = [&](NodeId node) -> Cluster::Scratch& {
    const auto [at, fresh] = taken.try_emplace(node);
    if (fresh) {
      const DomainId leaf = tree.domain_of(node);
      const auto known = std::lower_bound(nodes_.begin(), nodes_.end(), leaf,
                                          [](const Node& n, DomainId d) { return n.leaf < d; });
      if (known != nodes_.end() && known->leaf == leaf) {
        at->second = known->room;
      } else {
        cluster_.copy_room(node, at->second);
      }
    }
    return at->second;
  };
  for (const std::size_t part : order) {
    const Request& request = *parts_[part].request;
    std::int64_t left = parts_[part].min;
    for (const NodeId node : tree.nodes_beneath(home_)) {
      if (left == 0) break;
      if (!cluster_.usable(node) || bin_of(tree.domain_of(node)) < 0) continue;
      Cluster::Scratch& room = room_of(node);
      while (left > 0 && gridfold::fits(room.room(), request)) {
        take_place(room, request);
        --left;
      }
    }
    if (left > 0) return false;
  }
  return true;
}

}  // namespace gridfold
