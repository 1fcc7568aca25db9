// The world of the Pollux artefact: 16 nodes of 4 devices, six programs, and
// workloads of which each line is a job:
//
//   name,time,application,num_replicas,batch_size
//   cifar10-0,107,cifar10,6,2048            seconds; what its user would ask for
//
// `time` counts from the workload's origin.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/training/pollux_program.h"
#include "simulator/training/table_process.h"
#include "simulator/training_workload.h"

namespace gridfold {

// Who chooses the batch.
enum class BatchChoice : std::uint8_t {
  kAdaptive,  // each job's agent, by a model fitted to what it measured
  kFixed,     // the user
};

struct PolluxWorldOptions {
  BatchChoice batch = BatchChoice::kAdaptive;
  TableProcessOptions process;
};

using PolluxPrograms = std::map<std::string, std::shared_ptr<const PolluxProgram>, std::less<>>;
// All programs; `traces` is the folder data/pollux/traces.
Result<PolluxPrograms> read_pollux_programs(const std::string& traces);

// `file` is named in errors. Programs of the lines must be among `programs`.
Result<TrainingWorkload> read_pollux_workload(std::string_view text, const std::string& file,
                                              const PolluxPrograms& programs,
                                              const PolluxWorldOptions& options);

// Seconds that the program takes from its start to its end on so many devices,
// or on fewer where more do not help, at the best batch all along.
Known<double> pollux_seconds_alone(const PolluxProgram& program, std::int32_t devices);

}  // namespace gridfold
