// One job of a document to a JobSpec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"
#include "wire/field.h"

namespace gridfold {

// Who wrote the text: a user, or we ourselves. In stored jobs the tenant and
// the array index are keys, names may end in an index, and a need of zero
// stands (traces have such jobs).
enum class JobForm : std::uint8_t { kFile, kStored };

// A job as written, before its array is expanded.
struct JobTemplate {
  JobSpec spec;
  // The indices of an array, ascending or as listed; empty: not an array.
  std::vector<std::int64_t> indices;
  // Of each entry of spec.after.
  struct EdgePlace {
    TextPosition position;
    std::string path;
  };
  std::vector<EdgePlace> edge_places;
};

// Reports to the field's diagnosis; after a report the result has no meaning.
JobTemplate read_job(const Field& job, JobForm form);

}  // namespace gridfold
