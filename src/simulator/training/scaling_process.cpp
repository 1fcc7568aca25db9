#include "simulator/training/scaling_process.h"

#include <algorithm>
#include <cmath>

namespace gridfold {
namespace {

Duration to_duration(double seconds) { return Duration{std::llround(seconds * 1e9)}; }

}  // namespace

double rate_of(const RateTable& rates, std::int32_t tasks) {
  const auto above = rates.upper_bound(tasks);
  return above == rates.begin() ? 0 : std::prev(above)->second;
}

void ScalingProcess::start(Instant now, std::span<const TrainingPlace> places) {
  tasks_ = 0;
  for (const auto& place : places) tasks_ += place.tasks;
  rate_ = rate_of(*rates_, tasks_);
  trained_until_ = now + restart_;
  end_ = Instant::never();
  if (rate_ <= 0) return;
  end_ = trained_until_ + to_duration((static_cast<double>(steps_) - done_) / rate_);
  keep_measurement(static_cast<std::int32_t>(places.size()), places.front().device_model);
}

void ScalingProcess::advance(Instant now) {
  if (tasks_ == 0 || now <= trained_until_) return;
  const double seconds = (now - trained_until_).in_seconds();
  trained_until_ = now;
  if (rate_ <= 0) return;
  productive_ += seconds * tasks_;
  done_ = std::min(done_ + seconds * rate_, static_cast<double>(steps_));
  if (now < end_) return;
  done_ = static_cast<double>(steps_);
  finished_ = true;
  tasks_ = 0;
  end_ = Instant::never();
}

void ScalingProcess::stop(Instant now) {
  advance(now);
  tasks_ = 0;
  end_ = Instant::never();
}

void ScalingProcess::keep_measurement(std::int32_t nodes, const std::string& model) {
  const auto same = [&](const StepMeasurement& m) {
    return m.nodes == nodes && m.tasks == tasks_ && m.device_model == model;
  };
  if (std::any_of(history_.steps.begin(), history_.steps.end(), same)) return;
  StepMeasurement measured;
  measured.nodes = nodes;
  measured.tasks = tasks_;
  measured.device_model = model;
  measured.local_batch = (batch_ + tasks_ - 1) / tasks_;
  measured.step = to_duration(1 / rate_);
  // Of a step on several tasks, what is over an equal part of one on the fewest.
  const auto& [fewest, slowest] = *rates_->begin();
  const double alone = static_cast<double>(fewest) / slowest / tasks_;
  measured.sync = to_duration(std::max(0.0, 1 / rate_ - alone));
  history_.steps.push_back(std::move(measured));
}

std::optional<TrainingHistory> ScalingProcess::report() const {
  if (history_.steps.empty()) return std::nullopt;
  TrainingHistory told = history_;
  told.batch = batch_;
  told.progress_steps = done_;
  told.progress_epochs = done_;
  return told;
}

}  // namespace gridfold
