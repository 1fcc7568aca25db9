// What jobs of one program tell each other: steps that any of them measured, the
// noise of the gradient and the steps of an epoch, epoch by epoch. Kept after
// the jobs have ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/round_policy.h"
#include "forecast/goodput.h"

namespace gridfold {

class ProgramPage {
 public:
  bool is_fitted() const { return fitted_ > 0; }
  const ThroughputModel& speed() const { return speed_; }
  std::int32_t most_measured() const { return most_measured_; }
  // Grows whenever something was learned.
  std::uint64_t version() const { return version_; }
  // In this epoch, or in the nearest that was seen.
  Known<NoiseModel> noise(std::int64_t epoch) const;
  // Steps of the initial batch an epoch takes, as far as it was seen.
  Known<double> epoch_steps() const;

 private:
  friend class ProgramBook;
  void learn(const RoundJob& job);
  void fit();

  std::map<std::int64_t, NoiseModel> noise_;  // by epoch
  // By nodes, tasks and local batch in steps of a twentieth.
  std::map<std::vector<std::int64_t>, StepMeasurement> steps_;
  double progress_steps_ = 0;  // of the job that came farthest
  double progress_epochs_ = 0;
  ThroughputModel speed_;
  std::size_t fitted_ = 0;  // number of steps at the last fit
  std::int32_t most_measured_ = 0;
  std::uint64_t version_ = 0;
};

class ProgramBook {
 public:
  void update(const RoundView& view);
  // Null where the job names no program, or nothing is known of it.
  const ProgramPage* page(const RoundJob& job) const;

 private:
  struct Seen {
    std::size_t steps = 0;
    std::int64_t epoch = -1;
  };
  std::map<std::string, ProgramPage> pages_;
  std::map<JobId, Seen> seen_;
};

}  // namespace gridfold
