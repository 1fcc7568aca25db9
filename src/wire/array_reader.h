// The indices of an array job, and how many of its jobs at a time: "0-99", "1,3,7",
// "0-99%4", {from: 0, to: 98, step: 2, limit: 4}.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/field.h"

namespace gridfold {

struct ArrayWish {
  // Each index once, in the order written; at most kMaxJobsPerBatch of them,
  // each at most 10^9.
  std::vector<std::int64_t> indices;
  std::int32_t limit = 0;  // 0: any number of its jobs at a time
};
ArrayWish read_array(const Field& field);

}  // namespace gridfold
