// What a queue, or a tenant of it, has held lately, as it is stored: what decayed
// usage is beside the records of jobs. It is of the last change of what is held
// there; from then on the records of jobs tell the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace gridfold {

struct UsageRecord {
  struct Amount {
    std::string resource;  // "cpu", "memory" or a class of devices
    std::int64_t mean = 0;
    std::int64_t area = 0;  // amount x microseconds, between the two times below
    friend bool operator==(const Amount&, const Amount&) = default;
  };

  std::string queue;
  std::string tenant;  // empty: of the queue itself
  Instant since{};     // the means are of this time
  Instant until{};     // the areas reach from there to here
  std::vector<Amount> amounts;
  friend bool operator==(const UsageRecord&, const UsageRecord&) = default;
};

}  // namespace gridfold
