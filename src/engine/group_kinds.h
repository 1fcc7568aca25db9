// Which pending groups share their fate: they ask for the same, in whatever
// queue, with no right to stop others. What one of them finds, the others find.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "engine/queue_tree.h"
#include "engine/turn_order.h"

namespace gridfold {

class GroupKinds {
 public:
  using Kind = TurnOrder::Kind;

  // The order outlives it.
  explicit GroupKinds(TurnOrder& order) : order_(order) {}

  // Beside reservations and windows more matters than what is asked for: who runs
  // longer, or ranks lower, finds no more room than another. All zero where there
  // are none.
  struct Standing {
    std::uint32_t run = 0;  // class of run times: larger is longer
    std::int32_t queue_priority = 0;
    std::int32_t priority = 0;
    friend auto operator<=>(const Standing&, const Standing&) = default;
    // Whether who stands so finds no room where the other has found none.
    bool is_no_better_than(const Standing& other) const {
      return run >= other.run &&
             std::tie(queue_priority, priority) <= std::tie(other.queue_priority, other.priority);
    }
  };

  // The number of what is asked for: requests, how many, where.
  std::uint32_t ask_number(std::vector<std::uint32_t> key);
  // `asks` outlive this.
  Kind kind_of(std::uint32_t ask_number, bool filler, const Standing& standing,
               std::span<const QueueTree::Ask> asks);
  std::span<const QueueTree::Ask> asks(Kind kind) const { return facts_[kind].asks; }

  // A group of this kind has found no room: shuts it, and all that cannot do
  // better.
  void shut(Kind kind);

 private:
  struct Facts {
    std::uint32_t ask_number = 0;
    Standing standing;
    std::span<const QueueTree::Ask> asks;
  };

  TurnOrder& order_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> ask_numbers_;
  std::map<std::tuple<std::uint32_t, bool, Standing>, Kind> kinds_;
  std::vector<Facts> facts_;                  // by kind
  std::vector<std::vector<Kind>> with_asks_;  // by number of what is asked for
};

}  // namespace gridfold
