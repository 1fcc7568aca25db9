// The clock port. Live it is the machine's; in simulation it is virtual.
#pragma once

#include "base/time.h"

namespace gridfold {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

}  // namespace gridfold
