// Where `run` and `submit` take their jobs from: a file, standard input, or
// flags and a command after "--".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/gridfold/cli.h"

namespace gridfold {

struct JobSource {
  std::string file;  // path, or "-"
  // Flags describe the job only when there is no file.
  std::string name, queue, workload_class, cpu, memory, gpu, gpu_model, time_limit, workdir;
  std::vector<std::string> environment;  // NAME=VALUE
  int count = 1;
  int priority = 0;
};

// Adds the flags to a command; the source outlives the parsing.
std::shared_ptr<JobSource> add_job_source(CLI::App& command);

// kInvalid when neither or both are given.
Result<Submission> read_source(const JobSource& source, const std::vector<std::string>& command);

}  // namespace gridfold
