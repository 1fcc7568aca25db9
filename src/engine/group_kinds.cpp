#include "engine/group_kinds.h"

namespace gridfold {

std::uint32_t GroupKinds::ask_number(std::vector<std::uint32_t> key) {
  const auto next = static_cast<std::uint32_t>(ask_numbers_.size());
  return ask_numbers_.emplace(std::move(key), next).first->second;
}

TurnOrder::Kind GroupKinds::kind_of(std::uint32_t ask_number, bool filler, const Standing& standing,
                                    std::span<const QueueTree::Ask> asks) {
  const auto [at, is_new] = kinds_.try_emplace({ask_number, filler, standing});
  if (is_new) {
    at->second = order_.add_kind(filler);
    facts_.resize(at->second + 1u);
    facts_[at->second] = {ask_number, standing, asks};
    if (with_asks_.size() <= ask_number) with_asks_.resize(ask_number + 1u);
    with_asks_[ask_number].push_back(at->second);
  }
  return at->second;
}

void GroupKinds::shut(Kind kind) {
  const Facts& failed = facts_[kind];
  for (const Kind other : with_asks_[failed.ask_number]) {
    if (order_.has_groups(other) && facts_[other].standing.is_no_better_than(failed.standing))
      order_.shut(other);
  }
}

}  // namespace gridfold
