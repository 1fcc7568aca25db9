// What a job's scaling table says: how fast it goes, and what is left of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.h"
#include "engine/round_policy.h"
#include "model/training.h"

namespace gridfold {

// Steps a second of so many tasks over so many nodes of one model; 0: it cannot
// run so, or does not say. Exact sizes only: nothing is extrapolated.
double declared_rate(const TrainingDeclaration& training, std::string_view model,
                     std::int32_t nodes, std::int32_t tasks);

inline bool declares_rates(const JobSpec& job) {
  return job.training.has_value() && !job.training->rates.empty();
}

// Steps to its declared end, by what it has reported; at least 0.
Known<double> declared_steps_left(const RoundJob& job);

}  // namespace gridfold
