// What will happen, in order of time; what is due at the same instant happens
// in the order in which it was put in.
//
// A binary heap of small values: Payload should be a few words that can be
// copied (an index, a kind), not an object.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace gridfold {

template <class Payload>
class EventQueue {
 public:
  void push(Instant at, Payload payload) {
    heap_.push_back({at, sequence_++, payload});
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // Instant::never() when nothing will happen.
  Instant next() const { return heap_.empty() ? Instant::never() : heap_.front().at; }

  // Takes out the first. Requires !empty().
  Payload pop() {
    assert(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const Payload payload = heap_.back().payload;
    heap_.pop_back();
    return payload;
  }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    Payload payload;
  };
  struct Later {  // a type of its own, so that it is inlined
    bool operator()(const Entry& a, const Entry& b) const {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace gridfold
