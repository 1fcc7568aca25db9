#include "engine/victims.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace gridfold {

bool VictimSearch::Bundle::cheaper_than(const Bundle& other) const {
  const __int128 mine = static_cast<__int128>(lost) * other.gain;
  const __int128 its = static_cast<__int128>(other.lost) * gain;
  return mine != its ? mine < its : victims.size() < other.victims.size();
}

std::optional<VictimAnswer> VictimSearch::find(const VictimQuestion& question) {
  question_ = &question;
  steps_ = 0;
  proven_ = true;
  best_.reset();
  of_group_.assign(question.pool->groups.size(), 0);
  chosen_.assign(question.pool->candidates.size(), false);
  books_.begin(question.parts, *question.wish, *question.pool, question.leaving);
  for (const DomainId home : homes()) search_home(home);
  if (!best_) return std::nullopt;
  return VictimAnswer{std::move(best_->victims), best_->lost, best_home_, steps_,
                      proven_ && steps_ < question.max_steps};
}

// One task lies on one node: each is a home of its own, if the task does not fit
// anywhere as things are, or not where it may.
std::vector<DomainId> VictimSearch::homes() {
  const TopologyWish& wish = *question_->wish;
  const DomainTree& tree = slots_.tree();
  std::int64_t tasks = 0;
  for (const GangPart& part : question_->parts) tasks += part.min;
  std::vector<DomainId> wide{DomainTree::root()};
  if (!wish.require.empty()) {
    const auto level = tree.domains_at(wish.require);
    wide.assign(level.begin(), level.end());
  }
  if (tasks != 1 || wish.segments || !wish.spread.empty()) return wide;
  for (const DomainId domain : wide) {
    books_.enter(domain);
    if (books_.fits() && (!question_->accepts || question_->accepts({}))) return {domain};
  }
  std::vector<DomainId> leaves;
  for (const DomainId leaf : books_.touched_leaves()) {
    const auto after = std::upper_bound(wide.begin(), wide.end(), leaf);
    if (after != wide.begin() && tree.contains(*(after - 1), leaf)) leaves.push_back(leaf);
  }
  return leaves;
}

void VictimSearch::search_home(DomainId home) {
  books_.enter(home);
  if (books_.fits()) return offer(home, {});
  const auto candidates = books_.candidates();
  order_.assign(candidates.begin(), candidates.end());
  if (order_.empty()) return;
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return question_->pool->is_spared_before(a, b);
  });
  // At least one has to go.
  if (best_ && lost_by(order_.back()) >= best_->lost) return;
  if (is_spent()) {
    proven_ = false;
    return;
  }
  for (const std::uint32_t candidate : order_) books_.put(candidate, +1);
  steps_ += static_cast<std::int64_t>(order_.size());
  const bool enough = books_.fits();
  if (enough && order_.size() <= kExact) solve_exactly(home);
  for (const std::uint32_t candidate : order_) books_.put(candidate, -1);
  if (!enough || order_.size() <= kExact) return;
  solve_greedily(home);
  if (order_.size() > kBounded) {
    proven_ = false;
    return;
  }
  for (const std::uint32_t candidate : order_) books_.put(candidate, +1);
  solve_exactly(home);
  for (const std::uint32_t candidate : order_) books_.put(candidate, -1);
}

void VictimSearch::offer(DomainId home, Set set) {
  if (best_ && !set.better_than(*best_)) return;
  if (!within_limits(set.victims)) return;
  std::sort(set.victims.begin(), set.victims.end());
  if (question_->accepts && !question_->accepts(set.victims)) return;
  best_ = std::move(set);
  best_home_ = home;
}

bool VictimSearch::within_limits(std::span<const std::uint32_t> victims) const {
  const VictimPool& pool = *question_->pool;
  std::vector<std::int32_t> used(pool.groups.size(), 0);
  for (const std::uint32_t victim : victims) {
    const std::int32_t group = pool.candidates[victim].group;
    if (group >= 0 &&
        ++used[static_cast<std::size_t>(group)] > pool.groups[static_cast<std::size_t>(group)])
      return false;
  }
  return true;
}

bool VictimSearch::may_go(std::uint32_t candidate) const {
  const std::int32_t group = question_->pool->candidates[candidate].group;
  return group < 0 || of_group_[static_cast<std::size_t>(group)] <
                          question_->pool->groups[static_cast<std::size_t>(group)];
}

// --- Branch and bound ---

// All candidates are gone, and are again when it returns.
void VictimSearch::solve_exactly(DomainId home) {
  Set chosen;
  branch(home, 0, chosen);
}

// Those from `at` on are undecided and regarded as gone: what does not fit even
// so never will. The costliest are spared first, so the first set is good.
void VictimSearch::branch(DomainId home, std::size_t at, Set& chosen) {
  if (best_ && !chosen.better_than(*best_)) return;
  if (is_spent()) {
    proven_ = false;
    return;
  }
  if (at == order_.size()) return offer(home, chosen);
  const std::uint32_t candidate = order_[at];
  ++steps_;
  books_.put(candidate, -1);
  if (books_.fits()) branch(home, at + 1, chosen);
  books_.put(candidate, +1);
  if (!may_go(candidate)) return;
  const std::int32_t group = question_->pool->candidates[candidate].group;
  if (group >= 0) ++of_group_[static_cast<std::size_t>(group)];
  chosen.victims.push_back(candidate);
  chosen.lost += lost_by(candidate);
  branch(home, at + 1, chosen);
  chosen.lost -= lost_by(candidate);
  chosen.victims.pop_back();
  if (group >= 0) --of_group_[static_cast<std::size_t>(group)];
}

// --- Greedily ---

// Nobody is gone, and nobody is when it returns.
void VictimSearch::solve_greedily(DomainId home) {
  index_regions();
  Set set;
  complete(set, std::numeric_limits<std::int64_t>::max());
  if (books_.fits()) {
    prune(set);
    while (exchange(set)) continue;
    offer(home, set);
  }
  for (const std::uint32_t victim : set.victims) spare(victim);
}

void VictimSearch::index_regions() {
  const std::size_t count = books_.regions();
  bundles_.assign(count, {});
  stale_.assign(count, true);
  region_ends_.assign(question_->pool->candidates.size(), 0);
  for (std::size_t r = 0; r < count; ++r) {
    for (const std::uint32_t candidate : books_.candidates_of(r)) ++region_ends_[candidate];
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& end : region_ends_) sum = end += sum;
  region_lists_.resize(sum);
  std::vector<std::uint32_t> next = region_ends_;
  for (std::size_t r = count; r-- > 0;) {
    for (const std::uint32_t candidate : books_.candidates_of(r))
      region_lists_[--next[candidate]] = static_cast<std::uint32_t>(r);
  }
}

void VictimSearch::choose(std::uint32_t candidate) {
  books_.put(candidate, +1);
  chosen_[candidate] = true;
  const std::int32_t group = question_->pool->candidates[candidate].group;
  if (group >= 0) ++of_group_[static_cast<std::size_t>(group)];
  ++steps_;
}

void VictimSearch::spare(std::uint32_t candidate) {
  books_.put(candidate, -1);
  chosen_[candidate] = false;
  const std::int32_t group = question_->pool->candidates[candidate].group;
  if (group >= 0) --of_group_[static_cast<std::size_t>(group)];
  ++steps_;
}

void VictimSearch::add_to(Set& set, std::uint32_t candidate) {
  choose(candidate);
  set.victims.push_back(candidate);
  set.lost += lost_by(candidate);
}

// Adds bundles until the job fits; false (and nothing added) when that would
// lose `below` or more.
bool VictimSearch::complete(Set& set, std::int64_t below) {
  const Set before = set;
  const auto give_up = [&] {
    for (std::size_t i = before.victims.size(); i < set.victims.size(); ++i) {
      spare(set.victims[i]);
      forget_bundles_with(set.victims[i]);
    }
    set = before;
    return false;
  };
  while (!books_.fits()) {
    const auto region = cheapest_region();
    if (!region) return give_up();
    const Bundle bundle = bundles_[*region];
    if (bundle.lost >= below - (set.lost - before.lost)) return give_up();
    for (const std::uint32_t victim : bundle.victims) {
      add_to(set, victim);
      forget_bundles_with(victim);
    }
  }
  return true;
}

// They are made anew when next asked for.
void VictimSearch::forget_bundles_with(std::uint32_t candidate) {
  if (question_->pool->candidates[candidate].group >= 0) {
    // How many more of its group may go has changed everywhere.
    std::fill(stale_.begin(), stale_.end(), true);
    return;
  }
  const std::uint32_t first = candidate == 0 ? 0 : region_ends_[candidate - 1];
  for (std::uint32_t i = first; i < region_ends_[candidate]; ++i) stale_[region_lists_[i]] = true;
}

std::optional<std::size_t> VictimSearch::cheapest_region() {
  const std::int64_t missing = books_.missing();
  std::optional<std::size_t> best;
  for (std::size_t r = 0; r < bundles_.size(); ++r) {
    Bundle& here = bundles_[r];
    // One that would free more than is missing now may do with less.
    if (stale_[r] || here.gain > missing || (missing == 0) != (here.missing == 0)) {
      here = bundle_of(r);
      stale_[r] = false;
    }
    if (here.gain > 0 && (!best || here.cheaper_than(bundles_[*best]))) best = r;
  }
  steps_ += static_cast<std::int64_t>(bundles_.size() / 64);
  return best;
}

// Of what the region's candidates free, the cheapest for each place: they go in
// order of loss, and whenever a place is won, those not needed for it are left
// out again.
VictimSearch::Bundle VictimSearch::bundle_of(std::size_t region) {
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t candidate : books_.candidates_of(region)) {
    if (!chosen_[candidate] && may_go(candidate)) candidates.push_back(candidate);
  }
  std::sort(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    return question_->pool->is_spared_before(b, a);
  });
  Bundle best;
  best.missing = books_.missing();
  if (best.missing == 0) {
    // By count there is room, but the roles do not fit beside each other.
    if (!candidates.empty()) {
      best.victims = {candidates.front()};
      best.lost = lost_by(candidates.front());
      best.gain = 1;
    }
    return best;
  }
  std::int64_t missing = best.missing;
  std::vector<std::uint32_t> gone;
  for (const std::uint32_t candidate : candidates) {
    if (!may_go(candidate)) continue;
    choose(candidate);
    gone.push_back(candidate);
    const std::int64_t now = books_.missing();
    if (now >= missing) continue;
    missing = now;
    Bundle bundle{{}, 0, best.missing - now, best.missing};
    std::vector<std::uint32_t> spared;
    for (std::size_t i = gone.size(); i-- > 0;) {
      spare(gone[i]);
      if (books_.missing() <= now) {
        spared.push_back(gone[i]);
        continue;
      }
      choose(gone[i]);
      bundle.victims.push_back(gone[i]);
      bundle.lost += lost_by(gone[i]);
    }
    if (best.gain == 0 || bundle.cheaper_than(best)) best = std::move(bundle);
    for (const std::uint32_t again : spared) choose(again);
    if (missing == 0) break;
  }
  for (const std::uint32_t candidate : gone) spare(candidate);
  return best;
}

// Spares whoever turns out not to be needed, the costliest first.
void VictimSearch::prune(Set& set) {
  std::sort(set.victims.begin(), set.victims.end(), [&](std::uint32_t a, std::uint32_t b) {
    return question_->pool->is_spared_before(a, b);
  });
  Set kept;
  for (const std::uint32_t victim : set.victims) {
    spare(victim);
    if (books_.fits()) {
      forget_bundles_with(victim);
    } else {
      add_to(kept, victim);
    }
  }
  set = std::move(kept);
}

// Replaces one victim by others that lose less together.
bool VictimSearch::exchange(Set& set) {
  for (std::size_t i = 0; i < set.victims.size(); ++i) {
    if (steps_ >= question_->max_steps) return false;
    const std::uint32_t out = set.victims[i];
    spare(out);
    forget_bundles_with(out);
    Set other = set;
    other.victims.erase(other.victims.begin() + static_cast<std::ptrdiff_t>(i));
    other.lost -= lost_by(out);
    if (complete(other, lost_by(out))) {
      prune(other);
      set = std::move(other);
      return true;
    }
    choose(out);
    forget_bundles_with(out);
  }
  return false;
}

}  // namespace gridfold
