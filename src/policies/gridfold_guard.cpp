#include "policies/gridfold_guard.h"

#include <tuple>

namespace gridfold {
namespace {

// Raised while more than this part of the devices is idle, in per cent, and
// again when more than the other is: it must not flutter where tasks leave.
constexpr std::int64_t kLowerAt = 30;
constexpr std::int64_t kRaiseAt = 40;

}  // namespace

bool LargeNodeGuard::update(const IdleLedger& ledger) {
  const auto before = std::tuple(raised_, most_devices_, most_cpu_, rare_cpu_);
  const std::int64_t bound = raised_ ? kLowerAt : kRaiseAt;
  most_devices_ = ledger.most_devices();
  most_cpu_ = ledger.most_cpu();
  rare_cpu_ = ledger.largest_nodes() * 2 < ledger.nodes_of_most_devices();
  raised_ = most_devices_ > 1 && ledger.idle_share() * 100 > ledger.capacity_share() * bound;
  return before != std::tuple(raised_, most_devices_, most_cpu_, rare_cpu_);
}

}  // namespace gridfold
