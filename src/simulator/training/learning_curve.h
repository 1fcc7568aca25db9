// How far a step brings the training, as it was measured: a run to the end at
// each of some batches, epoch by epoch.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"

namespace gridfold {

struct MeasuredEpoch {
  double progress = 0;    // steps of the initial batch done at its end
  double iterations = 0;  // steps of its own batch done at its end
  double gradient_square = 0;
  double gradient_variance = 0;
};

struct GradientNoise {
  double square = 0;
  double variance = 0;
};

class LearningCurve {
 public:
  // Epochs by batch; each batch has at least `epochs` of them. The initial batch
  // is the smallest.
  LearningCurve(std::map<std::int64_t, std::vector<MeasuredEpoch>> by_batch, std::int32_t epochs);

  std::int32_t epochs() const { return epochs_; }
  std::int64_t initial_batch() const { return by_batch_.begin()->first; }
  std::int64_t largest_batch() const { return by_batch_.rbegin()->first; }

  // Progress at which so many epochs are done: the least over the batches.
  double progress_after(std::int32_t epochs) const;
  // Linear between the measured batches; unknown beyond them. epoch counts from 0.
  Known<GradientNoise> noise(std::int64_t batch, std::int32_t epoch) const;
  // Steps of this batch that have been done when `epoch` is over.
  Known<double> iterations(std::int64_t batch, std::int32_t epoch) const;
  // Steps of the initial batch that one step of this batch is worth.
  Known<double> gain(std::int64_t batch, std::int32_t epoch) const;

 private:
  struct Neighbours {
    const std::vector<MeasuredEpoch>* low = nullptr;
    const std::vector<MeasuredEpoch>* high = nullptr;
    double low_batch = 0;
    double high_batch = 0;
  };
  Known<Neighbours> neighbours(std::int64_t batch) const;

  std::map<std::int64_t, std::vector<MeasuredEpoch>> by_batch_;
  std::int32_t epochs_;
  std::vector<double> progress_after_;
};

}  // namespace gridfold
