// The roles of a job: what runs, how often, and what each task needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/job.h"
#include "wire/job_reader.h"

namespace gridfold {

// From `roles`, or from the short form (`run`, `count`, `each` beside the
// job's other keys), which makes one role named "main".
std::vector<Role> read_roles(const Field& job, JobForm form);

// Variables by name; values may be text, numbers or bools.
std::map<std::string, std::string> read_env(const Field& env);

// For a key of `each` that stands one level too high: where it belongs.
std::string hint_for_need(std::string_view key);

}  // namespace gridfold
