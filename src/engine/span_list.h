// When how many tasks of a request fit, over many nodes: spans of time, ordered
// by their begin, in blocks that are passed over when nothing in them matters.
//
//   SpanList spans;
//   spans.insert({begin, end, node, slots});     // so many tasks fit all the while
//   spans.earliest(4, Duration::hours(1), now)   // when four fit for an hour
//
// Spans of one node that overlap are levels: the tasks that fit together at some
// time are the sum over all spans that hold it.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "engine/free_steps.h"

namespace gridfold {

struct FreeSpan {
  Instant begin{};
  Instant end{};  // never(): it stays free
  NodeId node = NodeId::none();
  std::int32_t slots = 0;
  friend auto operator<=>(const FreeSpan&, const FreeSpan&) = default;
};

class SpanList {
 public:
  // All at once, in order; the list must be empty.
  void fill(std::span<const FreeSpan> spans);
  void insert(const FreeSpan& span);
  // It must be there.
  void erase(const FreeSpan& span);

  // The first time, not before `from`, from which `tasks` fit for so long;
  // never() when there is none. `looked_at` counts the spans and blocks read.
  Instant earliest(std::int64_t tasks, Duration run, Instant from, std::int64_t& looked_at) const;

  // Appends spans that hold all the time from `start` for so long, those that
  // began last first, until at least `tasks` fit in them and `enough` were found.
  void collect(Instant start, Duration run, std::int64_t tasks, std::size_t enough,
               std::vector<FreeSpan>& found, std::int64_t& looked_at) const;

  // The first begin of a span after this time; never() when there is none.
  Instant next_begin(Instant after) const;
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kMost = 128;

  struct Block {
    std::vector<FreeSpan> spans;  // in order
    // Of those that end: the last end, and the longest.
    Instant last_end = kLongAgo;
    Duration longest{};
    std::int64_t staying = 0;  // slots of those that do not end
    void sum_up();
  };
  std::size_t block_for(const FreeSpan& span) const;

  std::vector<Block> blocks_;  // in order, none empty
  std::size_t size_ = 0;
};

}  // namespace gridfold
