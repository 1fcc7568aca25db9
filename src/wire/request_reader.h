// What one task asks of its node: the key `each`.
#pragma once

#include "model/job.h"
#include "wire/job_reader.h"

namespace gridfold {

// Devices by a class's own keys (`gpu`, `gpu_model`, `gpu_memory`) or listed
// under `devices`; each class once.
TaskRequest read_request(const Field& each, JobForm form);

}  // namespace gridfold
