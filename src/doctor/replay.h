// A day once more, on a copy of the engine and in virtual time: what its
// device-time came to. With a fix made to the day (doctor/fix.h) it tells what
// the fix would have given back.
//
// Tasks start at once and run as long as the day says; a run that loses its node
// begins anew or from its last whole checkpoint interval. Jobs of rounds keep
// the size that they start with.
#pragma once

#include <cstdint>

#include "accounting/parts.h"
#include "doctor/day.h"

namespace gridfold {

// Over the whole day, devices of all classes. Every moment of each device counts
// to one of: busy, unused, input, network, thrown_away, idle_wanted, idle_free.
struct DayBalance {
  DeviceTime supplied = 0;
  DeviceTime busy = 0;         // held, and nothing is known to keep it from working
  DeviceTime unused = 0;       // held, and never used by the task
  DeviceTime input = 0;        // waits for what it reads
  DeviceTime network = 0;      // waits for other tasks
  DeviceTime thrown_away = 0;  // worked for nothing: it had to be done again
  DeviceTime idle_wanted = 0;  // held by nobody, or out of order, while jobs ask for as much
  DeviceTime idle_free = 0;    // likewise, and nobody asks
  DeviceTime silent = 0;       // of busy: by jobs that say nothing of themselves
  DeviceTime unmet = 0;        // asked for beyond all that was free; of no device

  DeviceTime lost() const { return unused + input + network + thrown_away + idle_wanted; }
};

struct DayReplay {
  DayBalance balance;
  EffectiveTotals causes;  // by cause of each part; only where asked for
  bool complete = true;    // false: it ran out of events
};

struct ReplayOptions {
  std::int64_t max_events = 2'000'000;
  bool causes = false;
};

DayReplay replay(const Day& day, const ReplayOptions& options);

}  // namespace gridfold
