// Reads what a job declares of its training.
#pragma once

#include "model/job.h"
#include "wire/field.h"

namespace gridfold {

// The spec's class and roles are read already.
TrainingDeclaration read_training(const Field& field, const JobSpec& spec);

}  // namespace gridfold
