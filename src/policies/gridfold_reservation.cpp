#include "policies/gridfold_reservation.h"

#include <algorithm>
#include <tuple>

#include "policies/gridfold_worth.h"
#include "policies/room.h"

namespace gridfold {
namespace {

constexpr std::int64_t kPart = 1024;  // fractions of a task

// The root, rounded down.
std::int64_t square_root(std::int64_t value) {
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 30; bit > 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

// 1 + 2 sqrt(1 / expected + 1 / observed): how many to prepare for instead of
// one, since few arrivals say little and few tasks vary much.
std::int64_t caution(std::int64_t expected, std::int64_t observed) {
  constexpr std::int64_t kOne = std::int64_t{1} << 40;
  const std::int64_t variance = kOne / std::max<std::int64_t>(expected, 1) * kPart +
                                kOne / std::max<std::int64_t>(observed, 1) * kPart;
  return kPart + 2 * square_root(variance) / kPart;
}

// Idle devices of the class that the task may use.
std::int32_t idle_for(const NodeRoom& room, std::uint16_t device_class,
                      const std::vector<std::uint16_t>& models) {
  std::int32_t idle = 0;
  for (const DeviceRoom& device : room.devices) {
    idle += device.device_class == device_class && is_whole_free(device) &&
            std::binary_search(models.begin(), models.end(), device.model);
  }
  return idle;
}

}  // namespace

// A hash of 64 bits: two nodes would have to collide while in one state.
std::uint64_t BlockReservation::key_of(const Levels& levels) {
  if (levels == Levels{}) return 0;
  std::uint64_t key = 0;
  for (const Room& room : levels) {
    key = mixed(key, static_cast<std::uint64_t>(room.whole));
    key = mixed(key, static_cast<std::uint64_t>(room.cpu));
  }
  return key;
}

bool BlockReservation::eats_into(NodeId node, std::int32_t devices, std::int32_t whole_left,
                                 std::int64_t cpu_left) const {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (devices >= bound(level)) continue;
    const Room& kept = kept_[node.value][level];
    return kept.whole > 0 && (whole_left < kept.whole || cpu_left < kept.cpu);
  }
  return false;
}

void BlockReservation::update(Cluster& cluster, const IdleLedger& ledger, const LearnedMix& mix,
                              const LearnedMix& recent) {
  kept_.resize(cluster.size());
  keys_.resize(cluster.size());
  next_.resize(cluster.size());
  taken_.resize(cluster.size());
  collect_wants(ledger, mix);
  raise_wants(ledger, recent);
  std::int32_t above = INT32_MAX;
  for (std::size_t first = 0; first < wants_.size();) {
    std::size_t last = first;
    while (last < wants_.size() && wants_[last].devices == wants_[first].devices) ++last;
    record_levels(above, wants_[first].devices);
    above = wants_[first].devices;
    keep_size(cluster, ledger, first, last);
    first = last;
  }
  record_levels(above, 1);
  publish(cluster);
}

// Largest first.
void BlockReservation::collect_wants(const IdleLedger& ledger, const LearnedMix& mix) {
  wants_.clear();
  const std::int64_t demand = mix.demand(ledger.device_class());
  if (demand <= 0 || ledger.most_devices() < 2) return;
  const auto expected = [&](std::int64_t weight) {
    return static_cast<std::int64_t>(static_cast<__int128>(weight) * ledger.idle_share() * kPart /
                                     demand);
  };
  for (const auto& [kind, weight] : mix.kinds()) {
    for (const RequestKind::Need& need : kind.needs) {
      if (need.device_class != ledger.device_class() || need.count < 2) continue;
      wants_.push_back({need.count, kind.cpu, need.models.empty() ? nullptr : &need.models,
                        expected(weight), weight * kPart / mix.unit()});
    }
  }
  // One imagined task as large as the largest node: large ones may yet come.
  wants_.push_back(
      {ledger.most_devices(), ledger.most_cpu(), nullptr, expected(mix.unit()), kPart});
  const auto order = [](const Want& want) {
    return std::tuple(want.devices, want.cpu, want.models == nullptr);
  };
  std::stable_sort(wants_.begin(), wants_.end(),
                   [&](const Want& a, const Want& b) { return order(a) > order(b); });
}

// Where the last arrivals ask for more tasks of a size than the mix does, it is
// turning: as many are expected as chance alone would not explain.
void BlockReservation::raise_wants(const IdleLedger& ledger, const LearnedMix& recent) {
  const std::int64_t demand = recent.demand(ledger.device_class());
  if (demand <= 0 || wants_.empty()) return;
  using BySize = std::array<std::int64_t, kMaxDevicesPerNode + 1>;
  BySize weight{};
  BySize expected{};
  for (const auto& [kind, each] : recent.kinds()) {
    for (const RequestKind::Need& need : kind.needs) {
      if (need.device_class == ledger.device_class())
        weight[static_cast<std::size_t>(need.count)] += each;
    }
  }
  for (const Want& want : wants_) expected[static_cast<std::size_t>(want.devices)] += want.expected;
  for (Want& want : wants_) {
    const auto size = static_cast<std::size_t>(want.devices);
    const std::int64_t observed = weight[size] / recent.unit();
    const std::int64_t certain = observed - square_root(observed);  // a deviation less
    const auto least = static_cast<std::int64_t>(static_cast<__int128>(certain * recent.unit()) *
                                                 ledger.idle_share() * kPart / demand);
    if (least > expected[size])
      want.expected = static_cast<std::int64_t>(static_cast<__int128>(want.expected) * least /
                                                std::max<std::int64_t>(expected[size], 1));
  }
}

// Wants of one size, [first, last) of wants_.
void BlockReservation::keep_size(const Cluster& cluster, const IdleLedger& ledger,
                                 std::size_t first, std::size_t last) {
  std::int64_t expected = 0;
  std::int64_t observed = 0;
  for (std::size_t i = first; i < last; ++i) {
    expected += wants_[i].expected;
    observed += wants_[i].observed;
  }
  const std::int64_t factor = caution(expected, observed);
  std::int64_t carry = kPart * 95 / 100;
  for (std::size_t i = first; i < last; ++i) {
    carry += wants_[i].expected * factor / kPart;
    const std::int64_t count = (carry + kPart / 2) / kPart;
    carry -= count * kPart;
    keep_on_blocks(cluster, ledger, wants_[i], count);
  }
}

// So many blocks, or as many as there is room for.
void BlockReservation::keep_on_blocks(const Cluster& cluster, const IdleLedger& ledger,
                                      const Want& want, std::int64_t count) {
  const auto visit = [&](std::uint32_t rank) {
    const NodeId node = ledger.at_rank(rank);
    Room& taken = taken_[node.value];
    const NodeRoom room = cluster.room(node);
    std::int32_t whole = ledger.node(node).whole;
    if (want.models != nullptr)
      whole = std::min(whole, idle_for(room, ledger.device_class(), *want.models));
    while (count > 0 && whole - taken.whole >= want.devices && room.cpu - taken.cpu >= want.cpu) {
      if (taken == Room{}) taking_.push_back(node);
      taken.whole += want.devices;
      taken.cpu += want.cpu;
      --count;
    }
    return count > 0;
  };
  for (std::int32_t whole = want.devices; whole <= ledger.most_devices() && count > 0; ++whole)
    ledger.with_whole(whole).walk(visit);
}

// All that is taken so far is for tasks of at least `above` devices, and what
// follows for at most `below`: it is kept from the levels between them.
void BlockReservation::record_levels(std::int32_t above, std::int32_t below) {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (above < bound(level) || below >= bound(level)) continue;
    for (const NodeId node : taking_) next_[node.value][level] = taken_[node.value];
  }
}

void BlockReservation::publish(Cluster& cluster) {
  // A node may be in both lists: the second time nothing differs any more.
  const auto compare = [&](NodeId node) {
    if (kept_[node.value] == next_[node.value]) return;
    kept_[node.value] = next_[node.value];
    keys_[node.value] = key_of(kept_[node.value]);
    cluster.touch(node);
  };
  for (const NodeId node : keeping_) {
    if (node.value < kept_.size()) compare(node);
  }
  for (const NodeId node : taking_) {
    compare(node);
    next_[node.value] = {};
    taken_[node.value] = {};
  }
  keeping_.swap(taking_);
  taking_.clear();
}

}  // namespace gridfold
