#include "engine/decayed_usage.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr int kBits = 62;
constexpr std::int64_t kOne = std::int64_t{1} << kBits;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<__int128>(a) * b >> kBits);
}

// 2^-x for 0 <= x < 1, in units of 2^-62: the Taylor series of e^(-x ln 2) by
// Horner's rule. Eleven terms leave an error below 10^-10.
std::int64_t halving(std::int64_t x) {
  constexpr std::int64_t kLn2 = 3196577161300663914;  // ln 2 in units of 2^-62
  const std::int64_t y = times(x, kLn2);
  std::int64_t sum = kOne;
  for (std::int64_t term = 11; term >= 1; --term) sum = kOne - times(sum, y) / term;
  return sum;
}

}  // namespace

std::int64_t decay_factor(Duration elapsed, Duration half_life) {
  const std::int64_t halvings = elapsed.ns / half_life.ns;
  if (halvings >= kBits) return 0;
  const auto part = static_cast<std::int64_t>(
      (static_cast<__int128>(elapsed.ns % half_life.ns) << kBits) / half_life.ns);
  return halving(part) >> halvings;
}

// What is held between two calls enters as an area; the areas enter the means
// only after a millionth of the half-life, for less would be lost in rounding.
void DecayedUsage::advance(Instant now, std::span<const std::int64_t> held, Duration half_life) {
  if (half_life <= Duration{}) return;
  if (!begun_) {
    begun_ = true;
    since_ = until_ = now;
  }
  if (held.size() > means_.size()) {
    means_.resize(held.size());
    areas_.resize(held.size());
  }
  const std::int64_t microseconds = (now - until_).ns / 1000;
  if (microseconds > 0) {
    for (std::size_t r = 0; r < held.size(); ++r)
      areas_[r] += static_cast<__int128>(held[r]) * microseconds;
    until_ = until_ + Duration{microseconds * 1000};
  }
  const Duration elapsed = until_ - since_;
  if (elapsed.ns == 0 || elapsed.ns < half_life.ns >> 20) return;
  const std::int64_t kept = decay_factor(elapsed, half_life);
  for (std::size_t r = 0; r < means_.size(); ++r) {
    const auto lately = static_cast<std::int64_t>((areas_[r] << kFraction) / (elapsed.ns / 1000));
    means_[r] = times(means_[r], kept) + times(lately, kOne - kept);
    areas_[r] = 0;
  }
  since_ = until_;
}

DecayedUsage::Parts DecayedUsage::parts() const {
  Parts parts{since_, until_, means_, {}};
  // Below 2^63: they reach over less than a millionth of a half-life.
  for (const __int128 area : areas_) parts.areas.push_back(static_cast<std::int64_t>(area));
  return parts;
}

void DecayedUsage::restore(const Parts& parts) {
  begun_ = true;
  since_ = parts.since;
  until_ = parts.until;
  means_ = parts.means;
  areas_.assign(parts.areas.begin(), parts.areas.end());
  areas_.resize(means_.size());
}

}  // namespace gridfold
