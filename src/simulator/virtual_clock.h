// The clock of a simulated world: it stands still until it is moved.
#pragma once

#include <cassert>

#include "control/clock.h"

namespace gridfold {

class VirtualClock : public Clock {
 public:
  explicit VirtualClock(Instant start = {}) : now_(start) {}

  Instant now() const override { return now_; }
  // Time never runs backwards.
  void advance_to(Instant when) {
    assert(when >= now_);
    now_ = when;
  }

 private:
  Instant now_;
};

}  // namespace gridfold
