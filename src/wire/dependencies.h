// Finds what is wrong with the edges of a batch of jobs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/job.h"

namespace gridfold {

struct DependencyTrouble {
  std::size_t job = 0;   // index in the batch
  std::size_t edge = 0;  // index in its `after`
  std::string message;
  std::string hint;
};

// The first trouble in the order of the batch; see check_dependencies().
std::optional<DependencyTrouble> find_dependency_trouble(
    std::span<const JobSpec> jobs, const std::function<bool(std::string_view)>& exists);

}  // namespace gridfold
