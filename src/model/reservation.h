// A holding in the future: where a job that waits will run from which time on,
// at the latest, if nothing takes longer than it may.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace gridfold {

// So many tasks of a role on a node; which devices is decided at the start.
struct ReservedSeat {
  NodeId node = NodeId::none();
  std::uint32_t role = 0;
  std::int32_t tasks = 0;
  friend bool operator==(const ReservedSeat&, const ReservedSeat&) = default;
};

struct Reservation {
  Instant start = Instant::never();
  Duration run{};                   // for so long; the longest duration: for ever
  std::vector<ReservedSeat> seats;  // role after role, along the tree of domains
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

}  // namespace gridfold
