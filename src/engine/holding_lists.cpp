#include "engine/holding_lists.h"

#include <algorithm>
#include <cassert>

#include "engine/growth.h"

namespace gridfold {
namespace {

bool is_before(const Holding& holding, TaskId task) { return holding.task() < task; }

}  // namespace

void HoldingLists::expect_lists(std::size_t lists) {
  const std::size_t needed = lists * kLeast;
  if (needed > holdings_.capacity()) holdings_.reserve(needed / 8 * 9);
}

Holding* HoldingLists::find(const List& list, TaskId task) {
  Holding* const begin = holdings_.data() + list.first;
  Holding* const end = begin + list.size;
  Holding* const at = std::lower_bound(begin, end, task, is_before);
  return at != end && at->task() == task ? at : nullptr;
}

void HoldingLists::insert(List& list, const Holding& holding) {
  if (list.size == 0) {
    list.block = 0;
    list.first = take_block(0);
  } else if (list.size == capacity(list)) {
    move_to(list, static_cast<std::uint8_t>(list.block + 1));
  }
  Holding* const begin = holdings_.data() + list.first;
  Holding* const end = begin + list.size;
  Holding* const at = std::lower_bound(begin, end, holding.task(), is_before);
  assert(at == end || at->task() != holding.task());
  std::move_backward(at, end, end + 1);
  *at = holding;
  ++list.size;
}

std::optional<Holding> HoldingLists::remove(List& list, TaskId task) {
  Holding* const at = find(list, task);
  if (at == nullptr) return std::nullopt;
  const Holding removed = *at;
  Holding* const end = holdings_.data() + list.first + list.size;
  std::move(at + 1, end, at);
  --list.size;
  if (list.size == 0) {
    give_block(list.first, list.block);
  } else if (list.block > 0 && list.size <= capacity(list) / 4) {
    move_to(list, static_cast<std::uint8_t>(list.block - 1));
  }
  return removed;
}

void HoldingLists::move_to(List& list, std::uint8_t block) {
  const std::uint32_t first = take_block(block);
  std::copy_n(holdings_.begin() + list.first, list.size, holdings_.begin() + first);
  give_block(list.first, list.block);
  list.first = first;
  list.block = block;
}

// The smallest spare block that is large enough, its rest given back; else new.
std::uint32_t HoldingLists::take_block(std::uint8_t block) {
  for (std::uint8_t larger = block; larger < kBlocks; ++larger) {
    if (spare_[larger].empty()) continue;
    const std::uint32_t first = spare_[larger].back();
    spare_[larger].pop_back();
    while (larger > block) {
      --larger;
      spare_[larger].push_back(first + (kLeast << larger));
    }
    return first;
  }
  const std::size_t first = holdings_.size();
  reserve_more(holdings_, kLeast << block);
  holdings_.resize(first + (kLeast << block));
  return static_cast<std::uint32_t>(first);
}

void HoldingLists::give_block(std::uint32_t first, std::uint8_t block) {
  spare_[block].push_back(first);
}

std::size_t HoldingLists::bytes() const {
  std::size_t spare = 0;
  for (const auto& blocks : spare_) spare += blocks.capacity() * sizeof(std::uint32_t);
  return holdings_.capacity() * sizeof(Holding) + spare;
}

}  // namespace gridfold
