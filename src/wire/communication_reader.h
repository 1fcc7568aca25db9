// What a job exchanges, from its document.
#pragma once

#include <vector>

#include "model/job.h"
#include "wire/field.h"

namespace gridfold {

// {collective: all_reduce, bytes: 2GiB, compute: 300ms}, or with several
// exchanges in a list and degrees of parallelism. `roles`: those of the job,
// whose whole devices are its ranks.
JobTraffic read_communication(const Field& field, const std::vector<Role>& roles);

}  // namespace gridfold
