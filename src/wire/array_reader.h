// The indices of an array job: "0-99", "1,3,7", {from: 0, to: 98, step: 2}.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/field.h"

namespace gridfold {

// Each index once, in the order written; at most kMaxJobsPerBatch of them,
// each at most 10^9.
std::vector<std::int64_t> read_array(const Field& field);

}  // namespace gridfold
