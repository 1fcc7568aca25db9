// Job files: YAML or JSON to JobSpecs. The format is in docs/formats.md and
// docs/job.schema.json.
//
//   auto jobs = parse_job_file("name: hello\nrun: echo hello", JobFileFormat::kYaml);
//   jobs->front().roles[0].command   // {"/bin/sh", "-c", "echo hello"}
//
// Errors name the field, the line and column, the reason and the next step.
// Nothing is clamped, guessed or dropped: an unknown key is an error.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "wire/document.h"

namespace gridfold {

using JobFileFormat = DocumentFormat;

// Jobs a batch may hold, arrays expanded.
inline constexpr std::size_t kMaxJobsPerBatch = 10'000;
// Dependencies a batch may hold, arrays expanded.
inline constexpr std::size_t kMaxEdgesPerBatch = 100'000;
// Bytes of all jobs of a batch as JSON, arrays expanded: each job of an array is
// stored whole, files and all.
inline constexpr std::size_t kMaxBatchBytes = 64 << 20;
// Tasks of one job, over all roles.
inline constexpr std::int64_t kMaxTasksPerJob = 100'000;

// What a task gets when its job does not say: a job that states no need still
// uses a core and some memory, and zero would let any number of such jobs onto
// one node.
inline constexpr MilliCores kDefaultCpu{1000};
inline constexpr Bytes kDefaultMemory{1ll << 30};

// All jobs of a file, one batch: a single job, several YAML documents, a list,
// or {"jobs": [...]}. An array job becomes one spec per index, "name[3]", and
// an edge to an array becomes one edge to each of its jobs. Cycles within the
// batch are errors; names that are not in it are the server's to resolve. The
// tenant is left at its default.
Result<std::vector<JobSpec>> parse_job_file(std::string_view text, JobFileFormat format);

// One job as to_json() writes it, with the tenant and the array index.
// Anything that does not read back is kCorrupt.
Result<JobSpec> parse_stored_job(std::string_view json);

// The edges of a batch: each leads to a job of the batch, or to a name or id
// that `exists`. Refused are cycles and self-edges (the message gives the path
// "a→b→a"), missing names, and names that two jobs of the batch bear.
Result<void> check_dependencies(std::span<const JobSpec> jobs,
                                const std::function<bool(std::string_view)>& exists);

}  // namespace gridfold
