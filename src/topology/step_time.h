// What the communication model says of a job's step at given places.
#pragma once

#include "base/time.h"
#include "model/link_kind.h"

namespace gridfold {

struct StepTime {
  Duration step;                         // computing and what of the communication is not hidden
  Duration communication;                // of that, the latter
  LinkKind slowest = LinkKind::kNvlink;  // what bounds the longest exchange
  // Time summed over all links: of two equally fast placements the one with
  // less of it leaves more to others, and a search that prefers it is led over
  // the plateaus that a bottleneck makes.
  Duration work;
  bool better_than(const StepTime& other) const {
    return step != other.step ? step < other.step : work < other.work;
  }
};

}  // namespace gridfold
