#include "simulator/steady_world.h"

#include <algorithm>

#include "simulator/arrivals.h"

namespace gridfold {
namespace {

// Work in task-nanoseconds; each task does one a nanosecond.
class SteadyProcess final : public TrainingProcess {
 public:
  SteadyProcess(std::int64_t work, Duration restart) : left_(work), restart_(restart) {}

  void start(Instant now, std::span<const TrainingPlace> places) override {
    tasks_ = 0;
    for (const TrainingPlace& place : places) tasks_ += place.tasks;
    begins_ = now + restart_;
    now_ = now;
  }
  void stop(Instant now) override {
    advance(now);
    tasks_ = 0;
  }
  void advance(Instant now) override {
    const Instant from = std::max(now_, begins_);
    if (tasks_ > 0 && now > from) {
      const std::int64_t done = std::min(left_, (now - from).ns * tasks_);
      left_ -= done;
      productive_ += done;
    }
    now_ = std::max(now_, now);
  }
  Instant next_event() const override {
    if (tasks_ == 0) return Instant::never();
    return std::max(now_, begins_) + Duration{(left_ + tasks_ - 1) / tasks_};
  }
  bool finished() const override { return left_ == 0; }
  std::optional<TrainingHistory> report() const override { return std::nullopt; }
  Known<double> productive_seconds() const override {
    return static_cast<double>(productive_) / 1e9;
  }

 private:
  std::int64_t left_;
  Duration restart_;
  std::int64_t tasks_ = 0;
  Instant begins_{};  // to make progress
  Instant now_{};
  std::int64_t productive_ = 0;
};

std::int64_t chosen_tasks(const JobSpec& spec) {
  if (spec.roles.size() == 1 && spec.roles.front().preferred > 0)
    return spec.roles.front().preferred;
  return spec.task_count();
}

}  // namespace

Result<TrainingWorkload> make_steady_world(const Workload& workload, ClusterSpec cluster,
                                           const SteadyWorldOptions& options) {
  const auto arrivals = own_times(workload);
  if (!arrivals) return arrivals.error();
  TrainingWorkload world;
  world.name = workload.name;
  world.cluster = std::move(cluster);
  for (const Arrival& arrival : *arrivals) {
    const TraceJob& job = workload.jobs[arrival.job];
    JobSpec spec = workload.shapes[job.shape];
    spec.name = job.name;
    const std::int64_t tasks = chosen_tasks(spec);
    TrainingArrival& added = world.arrivals.emplace_back();
    added.at = Instant{} + arrival.at;
    if (arrival.duration.is_unlimited()) {
      Error error = invalid("job " + spec.name + " never ends");
      error.hint = "give a workload whose jobs have durations";
      return error;
    }
    const std::int64_t work = arrival.duration.bound().ns * tasks;
    added.make_process = [work, restart = options.restart] {
      return std::make_unique<SteadyProcess>(work, restart);
    };
    std::int64_t devices = 0;  // of one task
    for (const DeviceRequest& device : spec.roles.front().each.devices) devices += device.count;
    const auto most = static_cast<double>(devices * spec.task_count());
    added.seconds_on_share = [work, devices, most, restart = options.restart](double share) {
      if (devices == 0) return Known<double>();
      const double on = std::min(share, most) / static_cast<double>(devices);  // tasks
      return Known<double>(restart.in_seconds() + static_cast<double>(work) / 1e9 / on);
    };
    added.spec = std::make_shared<const JobSpec>(std::move(spec));
  }
  return world;
}

}  // namespace gridfold
