#include "policies/gridfold_load.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr std::int64_t kWhole = 1 << 16;

std::int64_t faded(std::int64_t sum, std::int64_t asked, std::int64_t capacity) {
  return sum - static_cast<std::int64_t>(static_cast<__int128>(sum) * asked / capacity);
}

}  // namespace

void OfferedLoad::update(std::int64_t idle, std::int64_t capacity) {
  if (capacity <= 0) return;
  const std::int64_t asked = std::min(arrived_, capacity);
  gone_ = faded(gone_, asked, capacity) + left_;
  held_ = faded(held_, asked, capacity) + asked * ((capacity - idle) * kWhole / capacity);
  arrived_ = 0;
  left_ = 0;
}

std::int64_t OfferedLoad::permille() const {
  if (gone_ <= 0) return 1000;
  return static_cast<std::int64_t>(static_cast<__int128>(held_) * 1000 / gone_ / kWhole);
}

}  // namespace gridfold
