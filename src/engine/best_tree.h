// The best of many scores, kept while they change: a tournament in which each
// node of the tree has the best of eight below it. A change costs one look at
// eight values a level, and none above the first level it does not matter to.
//
// Leaves lie in the order in which ties are broken, so the first of the best
// is the answer; where ties are drawn the tree also counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gridfold {

class BestTree {
 public:
  // The score of a leaf that does not take part.
  static constexpr std::int64_t kAbsent = INT64_MIN;
  enum class Ties : std::uint8_t { kFirst, kCounted };

  // All leaves absent.
  void reset(std::size_t leaves, Ties ties);
  // For filling after reset(): set_leaf() for any leaves, then rebuild().
  void set_leaf(std::size_t leaf, std::int64_t score) { levels_[0][leaf] = score; }
  void rebuild();

  void update(std::size_t leaf, std::int64_t score);
  // Fetched ahead of update().
  void prefetch(std::size_t leaf) const { __builtin_prefetch(&levels_[0][leaf], 1); }

  std::size_t size() const { return leaves_; }
  std::int64_t score(std::size_t leaf) const { return levels_[0][leaf]; }
  std::int64_t best_score() const { return best_; }
  // The first leaf of the best score; one must take part.
  std::size_t first_best() const;
  // How many leaves have the best score, and the k-th of them from 0; only
  // with Ties::kCounted.
  std::uint64_t best_count() const { return count_; }
  std::size_t nth_best(std::uint64_t k) const;
  // The first leaf of the best score among all others; with Ties::kFirst, than
  // first_best().
  std::optional<std::size_t> best_but(std::size_t leaf) const;

  std::size_t bytes() const;

 private:
  static constexpr std::size_t kFan = 8;

  std::size_t first_best_below(std::size_t level, std::size_t at) const;
  void count_up(std::size_t leaf);
  std::uint32_t count_below(std::size_t level, std::size_t at, std::int64_t best) const;

  std::size_t leaves_ = 0;
  Ties ties_ = Ties::kFirst;
  // Levels from the leaves up, each filled up with absent ones to a multiple of
  // eight; the root lies beside them.
  std::vector<std::vector<std::int64_t>> levels_;
  // By level: how many leaves below each eight have the best score of them.
  std::vector<std::vector<std::uint32_t>> counts_;
  std::int64_t best_ = kAbsent;
  std::uint64_t count_ = 0;
};

}  // namespace gridfold
