#include "base/random.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace gridfold {
namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
  x += 0x9E3779B97F4A7C15ull;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001B3ull;
  return hash;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
  std::uint64_t x = seed ^ fnv1a(name);
  for (auto& word : state_) word = splitmix64(x);
}

std::uint64_t RandomStream::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  assert(bound > 0);
  unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<unsigned __int128>(next()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t RandomStream::between(std::int64_t low, std::int64_t high) {
  assert(low <= high);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

bool RandomStream::chance(std::uint64_t numerator, std::uint64_t denominator) {
  return below(denominator) < numerator;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double RandomStream::exponential(double mean) { return -mean * std::log1p(-uniform()); }

}  // namespace gridfold
