// A world's day by the real control loop on the simulated cluster, and what a
// judge who knows the truth counts. The judge shares no code with the doctor.
#pragma once

#include "doctor/day.h"
#include "tests/doctor/world.h"

namespace gridfold::doctor_worlds {

// Device-hours of the day.
struct Truth {
  double supplied = 0;
  double busy = 0;  // on work that need not be done again
  double lost = 0;  // asked for or held, and not busy
};

struct DayRun {
  Truth truth;
  // As noted: at the end of the day, and once the last job has ended.
  Day at_once;
  Day in_hindsight;
};

DayRun run_day(const World& world);

}  // namespace gridfold::doctor_worlds
