// One training program of the Pollux artefact (OSDI 2021), as its authors
// measured it. A folder `traces/NAME` of data/pollux:
//
//   placements.csv    placement,local_bsz,step_time,sync_time   tasks a node as digits; seconds
//   scalability.csv   num_nodes,num_replicas,local_bsz,step_time,sync_time
//   validation-B.csv  progress,iteration,…,grad_sqr,grad_var    an epoch a line, at batch B
//
// Each may be packed by gzip (with .gz after its name).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/training.h"
#include "simulator/training/learning_curve.h"
#include "simulator/training/step_table.h"

namespace gridfold {

struct PolluxProgram {
  std::string name;
  StepTable steps;
  LearningCurve curve;
  std::int64_t max_local_batch = 0;
  // A program that the artefact runs on one device at one batch, under every
  // policy; 0: it is free.
  std::int64_t pinned_batch = 0;

  // What a user would say of a job that runs it, at this batch.
  TrainingDeclaration declaration(std::int64_t batch) const;
  // As many tasks as its largest batch can be split over, at most 64.
  std::int32_t most_tasks() const;
};

// Programs of the artefact, by name.
std::vector<std::string_view> pollux_program_names();

// `traces`: the folder that has one folder a program.
Result<std::shared_ptr<const PolluxProgram>> read_pollux_program(const std::string& traces,
                                                                 std::string_view name);

// The steps of one table; `file` is named in errors.
Result<std::vector<MeasuredStep>> read_pollux_placements(std::string_view text,
                                                         const std::string& file);
Result<std::vector<MeasuredStep>> read_pollux_scalability(std::string_view text,
                                                          const std::string& file);
Result<std::vector<MeasuredEpoch>> read_pollux_validation(std::string_view text,
                                                          const std::string& file);

}  // namespace gridfold
