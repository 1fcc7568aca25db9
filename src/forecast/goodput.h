// Goodput of a training job: how fast its training comes ahead on so many
// devices, at the batch that suits them best (Pollux, OSDI 2021, sec. 3).
//
//   ThroughputModel speed = fit_throughput(history.steps);   // goodput_fit.h
//   GoodputModel model(speed, noise_of(history), limits_of(declaration));
//   model.best(2, 8).goodput      // on 8 tasks over 2 nodes
//
// goodput = examples a second x how much an example is worth at that batch.
#pragma once

#include <array>
#include <cstdint>

#include "model/training.h"

namespace gridfold {

// Seconds of a step:
//   gradient = alpha_c + beta_c * local batch
//   network  = alpha + beta * max(tasks - 2, 0), of the node or between nodes
//   step     = (gradient^gamma + network^gamma)^(1/gamma)
// and one more gradient for each accumulation.
struct ThroughputModel {
  double alpha_gradient = 0;
  double beta_gradient = 0;
  double alpha_between = 0;  // nodes
  double beta_between = 0;
  double alpha_within = 0;  // one node
  double beta_within = 0;
  double gamma = 1;  // 1: one after the other; 10: all but at once
};

// |g|^2 and tr(cov) of the gradient, at the initial batch. Both 0: unknown, and
// a larger batch is taken to be worth nothing more.
struct NoiseModel {
  double square = 0;
  double variance = 0;
};

struct BatchLimits {
  std::int64_t initial = 0;
  std::int64_t most = 0;
  std::int64_t min_local = 1;
  std::int64_t max_local = 0;
};

struct GoodputChoice {
  double goodput = 0;  // initial-batch steps a second
  std::int64_t local_batch = 0;
  std::int32_t accumulation = 0;
};

NoiseModel noise_of(const TrainingHistory& history);
BatchLimits limits_of(const TrainingDeclaration& declaration);

class GoodputModel {
 public:
  GoodputModel(const ThroughputModel& speed, const NoiseModel& noise, const BatchLimits& limits);

  // The best of 50 batches in geometric steps from the least that these tasks
  // can split to the largest. goodput 0: none is possible.
  GoodputChoice best(std::int32_t nodes, std::int32_t tasks) const;

 private:
  double goodput(std::int32_t tasks, std::int64_t local, std::int32_t accumulation,
                 double network) const;
  double network_seconds(std::int32_t nodes, std::int32_t tasks) const;

  ThroughputModel speed_;
  NoiseModel noise_;
  BatchLimits limits_;
};

}  // namespace gridfold
