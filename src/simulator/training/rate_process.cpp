#include "simulator/training/rate_process.h"

#include <algorithm>
#include <cmath>

#include "policies/declared_rates.h"

namespace gridfold {
namespace {

class RateProcess final : public TrainingProcess {
 public:
  RateProcess(std::shared_ptr<const JobSpec> spec, Duration restart)
      : spec_(std::move(spec)),
        restart_(restart),
        total_(static_cast<double>(spec_->training->steps.value())) {}

  void start(Instant now, std::span<const TrainingPlace> places) override {
    tasks_ = 0;
    for (const TrainingPlace& place : places) tasks_ += place.tasks;
    const auto& model = places.front().device_model;
    // All tasks go together: devices of several models do not make one job.
    const bool is_mixed = std::any_of(places.begin(), places.end(), [&](const TrainingPlace& p) {
      return p.device_model != model;
    });
    rate_ = is_mixed ? 0
                     : declared_rate(*spec_->training, model,
                                     static_cast<std::int32_t>(places.size()), tasks_);
    from_ = now + restart_;
    done_before_ = done_;
    counted_ = 0;
    end_ = rate_ > 0 ? from_ + seconds_rounded_up((total_ - done_) / rate_) : Instant::never();
  }

  void stop(Instant now) override {
    advance(now);
    tasks_ = 0;
    rate_ = 0;
    end_ = Instant::never();
  }

  void advance(Instant now) override {
    if (rate_ <= 0 || now <= from_) return;
    const double worked = (now - from_).in_seconds();
    done_ = now >= end_ ? total_ : std::min(total_, done_before_ + worked * rate_);
    const double productive = worked * tasks_;
    productive_ += productive - counted_;
    counted_ = productive;
    if (now >= end_) end_ = Instant::never();
  }

  Instant next_event() const override { return end_; }
  bool finished() const override { return done_ >= total_; }
  std::optional<TrainingHistory> report() const override {
    TrainingHistory history;
    history.progress_steps = done_;
    return history;
  }
  Known<double> productive_seconds() const override { return productive_; }

 private:
  static Duration seconds_rounded_up(double seconds) {
    return Duration{static_cast<std::int64_t>(std::ceil(seconds * 1e9))};
  }

  std::shared_ptr<const JobSpec> spec_;
  Duration restart_;
  double total_;
  double done_ = 0;  // steps
  std::int32_t tasks_ = 0;

  // Since the last start.
  double rate_ = 0;  // steps a second
  Instant from_{};   // when it makes its first step
  Instant end_ = Instant::never();
  double done_before_ = 0;
  double counted_ = 0;  // task-seconds of it that are in productive_

  double productive_ = 0;  // task-seconds
};

}  // namespace

std::unique_ptr<TrainingProcess> make_rate_process(std::shared_ptr<const JobSpec> spec,
                                                   Duration restart) {
  return std::make_unique<RateProcess>(std::move(spec), restart);
}

}  // namespace gridfold
