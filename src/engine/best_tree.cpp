#include "engine/best_tree.h"

#include <algorithm>
#include <cassert>

namespace gridfold {
namespace {

std::int64_t best_of(const std::int64_t* eight) {
  std::int64_t best = eight[0];
  for (int i = 1; i < 8; ++i) best = std::max(best, eight[i]);
  return best;
}

}  // namespace

void BestTree::reset(std::size_t leaves, Ties ties) {
  leaves_ = leaves;
  ties_ = ties;
  levels_.clear();
  counts_.clear();
  std::size_t width = leaves;
  do {
    width = std::max<std::size_t>((width + kFan - 1) / kFan, 1);
    levels_.emplace_back(width * kFan, kAbsent);
    if (ties_ == Ties::kCounted) counts_.emplace_back(width, 0);
  } while (width > 1);
  best_ = kAbsent;
  count_ = 0;
}

void BestTree::rebuild() {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<std::int64_t>& below = levels_[level];
    for (std::size_t at = 0; at * kFan < below.size(); ++at) {
      const std::int64_t best = best_of(&below[at * kFan]);
      (level + 1 < levels_.size() ? levels_[level + 1][at] : best_) = best;
      if (ties_ == Ties::kCounted) counts_[level][at] = count_below(level, at, best);
    }
  }
  if (ties_ == Ties::kCounted) count_ = counts_.back()[0];
}

void BestTree::update(std::size_t leaf, std::int64_t score) {
  std::int64_t before = levels_[0][leaf];
  if (before == score) return;
  levels_[0][leaf] = score;
  if (ties_ == Ties::kCounted) return count_up(leaf);
  std::size_t at = leaf;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    at /= kFan;
    std::int64_t& above = level + 1 < levels_.size() ? levels_[level + 1][at] : best_;
    const std::int64_t was = above;
    if (score >= was) {
      if (score == was) return;
      above = score;
    } else {
      // What was the best may be gone; anything less was never seen up here.
      if (before < was) return;
      score = best_of(&levels_[level][at * kFan]);
      if (score == was) return;
      above = score;
    }
    before = was;
  }
}

// As update() does from this leaf up, but the counts matter too.
void BestTree::count_up(std::size_t leaf) {
  std::size_t at = leaf;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    at /= kFan;
    const std::int64_t best = best_of(&levels_[level][at * kFan]);
    const std::uint32_t count = count_below(level, at, best);
    std::int64_t& above = level + 1 < levels_.size() ? levels_[level + 1][at] : best_;
    if (above == best && counts_[level][at] == count) return;
    above = best;
    counts_[level][at] = count;
  }
  count_ = counts_.back()[0];
}

// Leaves of the best score under the eight at `at` of the level.
std::uint32_t BestTree::count_below(std::size_t level, std::size_t at, std::int64_t best) const {
  if (best == kAbsent) return 0;
  std::uint32_t count = 0;
  for (std::size_t i = at * kFan; i < (at + 1) * kFan; ++i) {
    if (levels_[level][i] == best) count += level == 0 ? 1 : counts_[level - 1][i];
  }
  return count;
}

std::size_t BestTree::first_best() const { return first_best_below(levels_.size() - 1, 0); }

// The first leaf with the best score of the eight at `at` of the level.
std::size_t BestTree::first_best_below(std::size_t level, std::size_t at) const {
  const std::int64_t best = best_of(&levels_[level][at * kFan]);
  for (;; --level) {
    const std::int64_t* const below = &levels_[level][at * kFan];
    std::size_t i = 0;
    while (below[i] != best) ++i;
    at = at * kFan + i;
    if (level == 0) return at;
  }
}

std::size_t BestTree::nth_best(std::uint64_t k) const {
  assert(ties_ == Ties::kCounted && k < count_);
  std::size_t at = 0;
  for (std::size_t level = levels_.size() - 1;; --level) {
    for (std::size_t i = at * kFan;; ++i) {
      if (levels_[level][i] != best_) continue;
      const std::uint64_t here = level == 0 ? 1 : counts_[level - 1][i];
      if (k < here) {
        at = i;
        break;
      }
      k -= here;
    }
    if (level == 0) return at;
  }
}

// Of each eight on the leaf's way up, the best of the seven others; of these,
// the first of the best. What lies before the way comes before all that was
// found further down, what lies behind it comes after.
std::optional<std::size_t> BestTree::best_but(std::size_t leaf) const {
  assert(ties_ == Ties::kCounted || leaf == first_best());
  std::int64_t best = kAbsent;
  std::size_t found_level = 0;
  std::size_t from = 0;  // on that level: the first of the best is not before it
  std::size_t at = leaf;
  for (std::size_t level = 0; level < levels_.size(); ++level, at /= kFan) {
    const std::int64_t* const all = levels_[level].data();
    const std::size_t first = at / kFan * kFan;
    std::int64_t before = kAbsent;
    std::int64_t behind = kAbsent;
    for (std::size_t i = first; i < at; ++i) before = std::max(before, all[i]);
    for (std::size_t i = at + 1; i < first + kFan; ++i) behind = std::max(behind, all[i]);
    if (before >= best && before != kAbsent) {
      best = before;
      found_level = level;
      from = first;
    }
    if (behind > best) {
      best = behind;
      found_level = level;
      from = at + 1;
    }
    // An equal of the first best lies behind it, and nearer than what is above.
    if (best == best_ && ties_ == Ties::kFirst) break;
  }
  if (best == kAbsent) return std::nullopt;
  while (levels_[found_level][from] != best) ++from;
  return found_level == 0 ? from : first_best_below(found_level - 1, from);
}

std::size_t BestTree::bytes() const {
  std::size_t bytes = 0;
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(std::int64_t);
  for (const auto& level : counts_) bytes += level.capacity() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace gridfold
