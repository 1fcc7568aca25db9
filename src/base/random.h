// Seeded random streams. Each component draws from a stream of its own, named
// after it, so that one more draw in one place does not shift the others.
//
// The generator is xoshiro256** (Blackman and Vigna, "Scrambled Linear
// Pseudorandom Number Generators", ACM TOMS 2021), seeded by splitmix64. Its
// state is four words and may be stored and restored.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gridfold {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  std::uint64_t next();
  // Uniform in [0, bound), without bias (Lemire, ACM TOMACS 2019). bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high], low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // True with probability numerator / denominator.
  bool chance(std::uint64_t numerator, std::uint64_t denominator);
  // Uniform in [0, 1), 53 bits. For simulated worlds, never for decisions.
  double uniform();
  // Exponential with the given mean. For simulated worlds.
  double exponential(double mean);

  using State = std::array<std::uint64_t, 4>;
  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  State state_;
};

}  // namespace gridfold
