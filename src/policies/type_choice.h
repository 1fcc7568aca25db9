// Shares devices of several types out over jobs at the least summed cost: each
// job gets so many tasks on one type, or none.
//
// One type: exactly (share_out.h). Several: exactly by a dynamic programme over
// the free devices of all types where that is small enough, else by the linear
// relaxation, in which at most as many jobs are split as there are types, and
// the best that then still fits. One code path for a cluster of one kind and of
// many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/share_out.h"

namespace gridfold {

// A cost from here on is not offered. Costs of one job's types at 0 tasks are
// equal: none is none.
inline constexpr double kNotOffered = 1e9;

struct TypeChoice {
  std::size_t type = 0;
  std::int32_t tasks = 0;  // 0: it waits
  friend bool operator==(const TypeChoice&, const TypeChoice&) = default;
};

struct TypeChoiceLimits {
  // Combinations of jobs, options and free devices up to which it is exact.
  std::int64_t exact = 40'000'000;
  std::int64_t iterations = 100'000;  // of the simplex, beyond
};

// jobs[j][t]: costs on type t; type_devices: of each type. `steps` grows by the
// combinations looked at.
std::vector<TypeChoice> choose_types(std::span<const std::vector<ShareCurve>> jobs,
                                     std::span<const std::int32_t> type_devices,
                                     std::int64_t& steps, const TypeChoiceLimits& limits = {});

}  // namespace gridfold
