// A training job that goes at one rate as long as it stays where it is, by a
// table: what it declares is how it is. It reports how many steps it has done.
#pragma once

#include <memory>

#include "model/job.h"
#include "simulator/training_process.h"

namespace gridfold {

// Of a job that declares its rates and the number of its steps. Each start
// costs `restart`, in which it makes no step. Where it declares no rate, or 0,
// it makes none.
std::unique_ptr<TrainingProcess> make_rate_process(std::shared_ptr<const JobSpec> spec,
                                                   Duration restart);

}  // namespace gridfold
