// A JobSpec as canonical JSON, for the store and the API.
#pragma once

#include <string>

#include "model/job.h"

namespace gridfold {

// The keys of docs/formats.md, with the tenant and the array index: equal
// specs give equal bytes, and parse_stored_job(to_json(spec)) == spec for every
// spec that the parsers make.
std::string to_json(const JobSpec& spec);

}  // namespace gridfold
