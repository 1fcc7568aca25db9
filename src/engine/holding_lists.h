// What tasks hold of nodes: a short list a node, sorted by task so that one is
// found without reading the others, all in one flat array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace gridfold {

// One task's part of a node: bit i of `devices` is the node's device i; where it
// holds a partition, from which slot.
struct Holding {
  JobId job;
  std::uint64_t devices = 0;
  std::uint32_t index = 0;         // of the task in its job
  std::uint32_t request : 25 = 0;  // id of the compiled request
  std::uint32_t leaves : 1 = 0;    // it is being stopped: its room may be claimed
  std::uint32_t behind_start : 6 = 0;
  TaskId task() const { return {job, index}; }
  std::int32_t start() const { return static_cast<std::int32_t>(behind_start) - 1; }
};
static_assert(sizeof(Holding) == 24);

class HoldingLists {
 public:
  // Kept by the node; empty at first.
  struct List {
    std::uint32_t first = 0;
    std::uint32_t size = 0;
    std::uint8_t block = 0;  // room for 8 << block holdings, once there is one
  };

  std::span<const Holding> holdings(const List& list) const {
    return std::span(holdings_).subspan(list.first, list.size);
  }
  // So many lists may come to hold something: there is room for the first
  // holdings of each, so that no insert has to move all that is held.
  void expect_lists(std::size_t lists);
  // Null when the task holds nothing in this list. Valid until the next insert.
  Holding* find(const List& list, TaskId task);
  // The task must not be in the list.
  void insert(List& list, const Holding& holding);
  // Empty when the task is not in the list.
  std::optional<Holding> remove(List& list, TaskId task);

  std::size_t bytes() const;

 private:
  static constexpr std::uint32_t kLeast = 8;
  static constexpr std::size_t kBlocks = 27;  // 8 << 26 holdings is more than an index holds

  static std::uint32_t capacity(const List& list) { return kLeast << list.block; }
  std::uint32_t take_block(std::uint8_t block);
  void give_block(std::uint32_t first, std::uint8_t block);
  void move_to(List& list, std::uint8_t block);

  std::vector<Holding> holdings_;
  std::array<std::vector<std::uint32_t>, kBlocks> spare_;  // by block: their starts
};

}  // namespace gridfold
