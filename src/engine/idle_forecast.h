// How much of what is idle now will be needed soon: an extension point.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace gridfold {

// Deterministic: what it says follows from what it was told before. The engine
// owns it.
class IdleForecast {
 public:
  virtual ~IdleForecast() = default;
  // From `now` on so many devices of the pool hold no work that has a right to
  // its place. Pools are numbered from 0; times never go back.
  virtual void observe(Instant now, std::size_t pool, std::int64_t idle) = 0;
  // By how many fewer they may become within `horizon`: as many or less in
  // nineteen of twenty cases.
  virtual std::int64_t drop(Instant now, std::size_t pool, Duration horizon) = 0;
};

}  // namespace gridfold
