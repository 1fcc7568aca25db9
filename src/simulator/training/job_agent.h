// The part of a training program that chooses its batch: at each start, each
// epoch's end and each round.
#pragma once

#include <cstdint>
#include <memory>

#include "model/training.h"

namespace gridfold {

// A step's batch is tasks * local * (accumulation + 1) examples.
struct BatchSplit {
  std::int64_t local = 0;
  std::int32_t accumulation = 0;
  friend bool operator==(const BatchSplit&, const BatchSplit&) = default;
};

// How the artefact's programs split a batch over tasks. A single task with a
// batch over the initial one accumulates at least once, because one gradient
// alone tells nothing of its noise. Never over the declared largest batch.
BatchSplit split_batch(const TrainingDeclaration& job, std::int32_t tasks, std::int64_t batch);

class JobAgent {
 public:
  virtual ~JobAgent() = default;
  // `history`: what its job has measured so far.
  virtual BatchSplit choose(std::int32_t nodes, std::int32_t tasks,
                            const TrainingHistory& history) = 0;
};

// Keeps the declared batch.
std::unique_ptr<JobAgent> make_fixed_agent(const TrainingDeclaration& job);

// Takes the batch of the most goodput by a model fitted to the job's own
// history; before the first measurement the least batch that can be split.
std::unique_ptr<JobAgent> make_adaptive_agent(const TrainingDeclaration& job);

}  // namespace gridfold
