// The least that giving out devices can cost: a bitmap of all devices, the
// first free one found by a word a level, no policy, no names, no books. What
// placements are measured against.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace gridfold {

class DeviceBitmap {
 public:
  explicit DeviceBitmap(std::size_t devices) {
    std::size_t width = devices;
    do {
      const std::size_t words = (width + 63) / 64;
      levels_.emplace_back(words, ~std::uint64_t{0});
      if (width % 64 != 0) levels_.back().back() = (std::uint64_t{1} << width % 64) - 1;
      width = words;
    } while (width > 1);
  }

  bool is_full() const { return levels_.back()[0] == 0; }
  // The first free device; there must be one.
  std::uint32_t take() {
    std::size_t at = 0;
    for (std::size_t level = levels_.size(); level-- > 0;)
      at = at * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][at]));
    const auto device = static_cast<std::uint32_t>(at);
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[at / 64];
      word &= ~(std::uint64_t{1} << at % 64);
      if (word != 0) break;
      at /= 64;
    }
    return device;
  }
  void give_back(std::uint32_t device) {
    std::size_t at = device;
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[at / 64];
      const bool was_full = word == 0;
      word |= std::uint64_t{1} << at % 64;
      if (!was_full) break;
      at /= 64;
    }
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // bit set: free, or free below
};

}  // namespace gridfold
