#include "simulator/training/table_process.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace gridfold {
namespace {

// To the nearest whole second, halves to even.
Duration rounded_seconds(double seconds) {
  return Duration::seconds(static_cast<std::int64_t>(std::nearbyint(seconds)));
}

Duration to_duration(double seconds) {
  return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

}  // namespace

TableProcess::TableProcess(std::shared_ptr<const PolluxProgram> program,
                           std::unique_ptr<JobAgent> agent, const TableProcessOptions& options)
    : program_(std::move(program)), agent_(std::move(agent)), options_(options) {}

void TableProcess::start(Instant now, std::span<const TrainingPlace> places) {
  tasks_by_node_.clear();
  tasks_ = 0;
  for (const auto& place : places) {
    tasks_by_node_.push_back(place.tasks);
    tasks_ += place.tasks;
    device_model_ = place.device_model;
  }
  running_ = true;
  restart_left_ = options_.restart;
  split_ = agent_->choose(static_cast<std::int32_t>(tasks_by_node_.size()), tasks_, history_);
  begin_stretch(now);
}

void TableProcess::stop(Instant now) {
  advance(now);
  running_ = false;
}

void TableProcess::advance(Instant now) {
  while (running_ && stretch_.due <= now) finish_stretch();
  count_until(now);
  if (running_) progress_ = progress_at(now);
}

// Up to this time, which is in the present stretch.
void TableProcess::count_until(Instant now) {
  if (now <= now_) return;
  if (running_ && restart_left_ <= Duration{}) productive_ += (now - now_).in_seconds() * tasks_;
  now_ = now;
}

Instant TableProcess::next_settling(Instant now) const {
  const std::int64_t period = options_.settle.ns;
  return Instant{(now.ns / period + 1) * period};
}

double TableProcess::progress_at(Instant now) const {
  return stretch_.progress + stretch_.rate * (now - stretch_.from).in_seconds();
}

void TableProcess::begin_stretch(Instant from) {
  const Instant settling = next_settling(from);
  stretch_ = {from, settling, settling, 0, progress_, false};
  now_ = from;
  if (restart_left_ > Duration{}) {
    stretch_.end = stretch_.due = std::min(settling, from + restart_left_);
    return;
  }
  stretch_.rate = measured_rate();
  const double goal = program_->curve.progress_after(epoch_ + 1);
  if (progress_ + stretch_.rate * (settling - from).in_seconds() < goal) return;
  stretch_.ends_epoch = true;
  stretch_.end = stretch_.due = from + rounded_seconds((goal - progress_) / stretch_.rate);
  // What rounds to nothing happens after the round at that minute, not before:
  // a policy still sees the job.
  if (stretch_.end == from && from.ns % options_.settle.ns == 0) {
    stretch_.due = from + Duration::nanoseconds(1);
  }
}

void TableProcess::finish_stretch() {
  const Instant end = stretch_.end;
  count_until(end);
  if (stretch_.ends_epoch) {
    ++epoch_;
    progress_ = program_->curve.progress_after(epoch_);
  } else {
    progress_ = progress_at(end);
  }
  const bool restarted = restart_left_ > Duration{};
  if (restarted) restart_left_ = restart_left_ - (end - stretch_.from);
  now_ = end;
  if (finished()) {
    running_ = false;
    return;
  }
  if (!restarted) {
    split_ = agent_->choose(static_cast<std::int32_t>(tasks_by_node_.size()), tasks_, history_);
  }
  begin_stretch(end);
}

double TableProcess::measured_rate() {
  const std::int64_t batch = std::int64_t{tasks_} * split_.local * (split_.accumulation + 1);
  const Known<StepTimes> times = program_->steps.at(tasks_by_node_, split_.local);
  const Known<GradientNoise> noise = program_->curve.noise(batch, epoch_);
  if (!times.is_known() || !noise.is_known()) return 0;
  keep_measurement(times.value(), noise.value(), batch);
  return program_->curve.gain(batch, epoch_).value() /
         (times.value().step + (times.value().step - times.value().sync) * split_.accumulation);
}

void TableProcess::keep_measurement(const StepTimes& times, const GradientNoise& noise,
                                    std::int64_t batch) {
  history_.gradient_square = noise.square;
  history_.gradient_variance = noise.variance;
  history_.batch = batch;
  const auto nodes = static_cast<std::int32_t>(tasks_by_node_.size());
  const auto same = [&](const StepMeasurement& m) {
    return m.nodes == nodes && m.tasks == tasks_ && m.local_batch == split_.local &&
           m.device_model == device_model_;
  };
  if (std::any_of(history_.steps.begin(), history_.steps.end(), same)) return;
  history_.steps.push_back({nodes, tasks_, device_model_, split_.local, split_.accumulation,
                            to_duration(times.step), to_duration(times.sync)});
}

std::optional<TrainingHistory> TableProcess::report() const {
  if (history_.steps.empty()) return std::nullopt;
  TrainingHistory told = history_;
  told.progress_steps = progress_;
  if (finished()) {
    told.progress_epochs = static_cast<double>(epoch_);
    return told;
  }
  const double begin = program_->curve.progress_after(epoch_);
  const double end = program_->curve.progress_after(epoch_ + 1);
  constexpr double kBelowOne = 1 - 1e-9;  // an epoch that is not over is not counted as one
  told.progress_epochs = epoch_ + std::clamp((progress_ - begin) / (end - begin), 0.0, kBelowOne);
  return told;
}

}  // namespace gridfold
