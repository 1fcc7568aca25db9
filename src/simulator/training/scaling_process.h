// A job of a world that has measured nothing but steps a second by the number of
// tasks: it runs at that rate, wherever its tasks are. Every start on new places
// costs a restart.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "simulator/training_process.h"

namespace gridfold {

// Steps a second by the number of tasks, all above 0.
using RateTable = std::map<std::int32_t, double>;

// Between two measured numbers the rate of the smaller, since nothing says that
// it would be more; 0 below the least.
double rate_of(const RateTable& rates, std::int32_t tasks);

class ScalingProcess final : public TrainingProcess {
 public:
  ScalingProcess(std::shared_ptr<const RateTable> rates, std::int64_t steps, std::int64_t batch,
                 Duration restart)
      : rates_(std::move(rates)), steps_(steps), batch_(batch), restart_(restart) {}

  void start(Instant now, std::span<const TrainingPlace> places) override;
  void stop(Instant now) override;
  void advance(Instant now) override;
  Instant next_event() const override { return end_; }
  bool finished() const override { return finished_; }
  // An epoch is a step.
  std::optional<TrainingHistory> report() const override;
  Known<double> productive_seconds() const override { return productive_; }

 private:
  void keep_measurement(std::int32_t nodes, const std::string& model);

  std::shared_ptr<const RateTable> rates_;
  std::int64_t steps_ = 0;
  std::int64_t batch_ = 0;
  Duration restart_{};

  Instant trained_until_{};  // the restart's end at first
  Instant end_ = Instant::never();
  std::int32_t tasks_ = 0;  // 0: it is stopped
  double rate_ = 0;
  double done_ = 0;  // steps
  double productive_ = 0;
  bool finished_ = false;
  TrainingHistory history_;
};

}  // namespace gridfold
