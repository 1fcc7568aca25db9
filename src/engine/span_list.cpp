#include "engine/span_list.h"

#include <cassert>
#include <queue>

namespace gridfold {

void SpanList::Block::sum_up() {
  last_end = kLongAgo;
  longest = {};
  staying = 0;
  for (const FreeSpan& span : spans) {
    if (span.end.is_never()) {
      staying += span.slots;
    } else {
      last_end = std::max(last_end, span.end);
      longest = std::max(longest, span.end - span.begin);
    }
  }
}

// The last block that does not begin after the span.
std::size_t SpanList::block_for(const FreeSpan& span) const {
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), span,
                       [](const FreeSpan& s, const Block& b) { return s < b.spans.front(); });
  return after == blocks_.begin() ? 0 : static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

void SpanList::fill(std::span<const FreeSpan> spans) {
  assert(blocks_.empty());
  constexpr std::size_t kFilled = kMost / 2;  // room to grow
  size_ = spans.size();
  for (std::size_t at = 0; at < spans.size(); at += kFilled) {
    const auto part = spans.subspan(at, std::min(kFilled, spans.size() - at));
    blocks_.emplace_back().spans.assign(part.begin(), part.end());
    blocks_.back().sum_up();
  }
}

void SpanList::insert(const FreeSpan& span) {
  ++size_;
  if (blocks_.empty()) blocks_.emplace_back();
  const std::size_t at = blocks_.front().spans.empty() ? 0 : block_for(span);
  Block& block = blocks_[at];
  block.spans.insert(std::upper_bound(block.spans.begin(), block.spans.end(), span), span);
  if (span.end.is_never()) {
    block.staying += span.slots;
  } else {
    block.last_end = std::max(block.last_end, span.end);
    block.longest = std::max(block.longest, span.end - span.begin);
  }
  if (block.spans.size() <= kMost) return;
  Block upper;
  upper.spans.assign(block.spans.begin() + kMost / 2, block.spans.end());
  block.spans.resize(kMost / 2);
  block.sum_up();
  upper.sum_up();
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
}

void SpanList::erase(const FreeSpan& span) {
  const std::size_t at = block_for(span);
  Block& block = blocks_[at];
  const auto found = std::lower_bound(block.spans.begin(), block.spans.end(), span);
  assert(found != block.spans.end() && *found == span);
  block.spans.erase(found);
  --size_;
  if (block.spans.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (span.end.is_never()) {
    block.staying -= span.slots;
  } else if (span.end == block.last_end || span.end - span.begin == block.longest) {
    block.sum_up();
  }
}

Instant SpanList::earliest(std::int64_t tasks, Duration run, Instant from,
                           std::int64_t& looked_at) const {
  // Spans that hold the time looked at, and until when work may still begin.
  struct Expiry {
    Instant last_begin;
    std::int32_t slots;
    bool operator>(const Expiry& other) const { return last_begin > other.last_begin; }
  };
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> expiries;
  std::int64_t fit = 0;
  const Instant first_end = end_of(from, run);
  std::size_t b = 0;
  std::size_t i = 0;

  // What holds `from` itself.
  for (; b < blocks_.size() && blocks_[b].spans.front().begin <= from; ++b) {
    const Block& block = blocks_[b];
    ++looked_at;
    const bool all = block.spans.back().begin <= from;
    if (all && block.last_end < first_end) {
      fit += block.staying;
      continue;
    }
    for (i = 0; i < block.spans.size() && block.spans[i].begin <= from; ++i) {
      const FreeSpan& span = block.spans[i];
      if (span.end < first_end) continue;
      fit += span.slots;
      if (!span.end.is_never()) expiries.push({span.end - run, span.slots});
    }
    looked_at += static_cast<std::int64_t>(i);
    if (!all) break;
  }
  if (fit >= tasks) return from;

  // Then at every later begin, in order.
  if (b < blocks_.size() && blocks_[b].spans.front().begin > from) i = 0;
  for (; b < blocks_.size(); ++b, i = 0) {
    const Block& block = blocks_[b];
    ++looked_at;
    if (i == 0 && block.longest < run && fit + block.staying < tasks) {
      fit += block.staying;
      continue;
    }
    for (; i < block.spans.size(); ++i) {
      const FreeSpan& span = block.spans[i];
      ++looked_at;
      if (!span.end.is_never() && span.end - span.begin < run) continue;
      while (!expiries.empty() && expiries.top().last_begin < span.begin) {
        fit -= expiries.top().slots;
        expiries.pop();
      }
      fit += span.slots;
      if (fit >= tasks) return span.begin;
      if (!span.end.is_never()) expiries.push({span.end - run, span.slots});
    }
  }
  return Instant::never();
}

void SpanList::collect(Instant start, Duration run, std::int64_t tasks, std::size_t enough,
                       std::vector<FreeSpan>& found, std::int64_t& looked_at) const {
  const Instant until = end_of(start, run);
  std::int64_t fit = 0;
  std::size_t seen = 0;
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), start,
                       [](Instant t, const Block& block) { return t < block.spans.front().begin; });
  for (auto block = after; block != blocks_.begin();) {
    --block;
    ++looked_at;
    if (block->staying == 0 && block->last_end < until) continue;
    for (std::size_t i = block->spans.size(); i-- > 0;) {
      const FreeSpan& span = block->spans[i];
      ++looked_at;
      if (span.begin > start || span.end < until) continue;
      found.push_back(span);
      fit += span.slots;
      ++seen;
      if (fit >= tasks && seen >= enough) return;
    }
  }
}

Instant SpanList::next_begin(Instant after) const {
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& b) {
    return b.spans.back().begin <= after;
  });
  if (block == blocks_.end()) return Instant::never();
  return std::upper_bound(block->spans.begin(), block->spans.end(), after,
                          [](Instant t, const FreeSpan& span) { return t < span.begin; })
      ->begin;
}

}  // namespace gridfold
