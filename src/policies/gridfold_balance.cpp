#include "policies/gridfold_balance.h"

#include <algorithm>
#include <utility>

namespace gridfold {
namespace {

// A model is short from this part of the average on, in per cent, until it is
// back at the other.
constexpr std::int64_t kShortBelow = 70;
constexpr std::int64_t kEvenFrom = 90;

}  // namespace

void ModelBalance::update(Cluster& cluster, const IdleLedger& ledger, bool watched) {
  std::vector<bool> now(ledger.models().size());
  any_short_ = false;
  for (std::size_t m = 0; m < now.size() && watched; ++m) {
    // idle / capacity of the model < bound * idle / capacity of all.
    const IdleLedger::Model& model = ledger.models()[m];
    const std::int64_t bound = is_short(static_cast<std::uint16_t>(m)) ? kEvenFrom : kShortBelow;
    now[m] = static_cast<__int128>(model.idle_share) * ledger.capacity_share() * 100 <
             static_cast<__int128>(ledger.idle_share()) * model.capacity_share * bound;
    any_short_ |= now[m];
  }
  if (now == short_) return;
  const std::vector<bool> before = std::exchange(short_, now);
  ++changes_;
  const auto changed = [&](const DeviceKind& kind) {
    const bool was_short = kind.model < before.size() && before[kind.model];
    return kind.device_class == ledger.device_class() && is_short(kind.model) != was_short;
  };
  for (std::uint32_t i = 0; i < cluster.size(); ++i) {
    const auto kinds = cluster.room(NodeId(i)).devices.kinds();
    if (std::any_of(kinds.begin(), kinds.end(), changed)) cluster.touch(NodeId(i));
  }
}

}  // namespace gridfold
