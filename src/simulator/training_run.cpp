#include "simulator/training_run.h"

#include <algorithm>
#include <chrono>

#include "base/random.h"
#include "control/control_loop.h"

namespace gridfold {
namespace {

constexpr std::int64_t kTurnsPerProgress = 256;
// Rounds in a row in which nothing came, ran or started: what waits then is
// never given anything.
constexpr std::int64_t kMostIdleRounds = 10'000;

class TrainingRun {
 public:
  TrainingRun(const TrainingWorkload& workload, const TrainingRunOptions& options, Engine engine,
              Store& store)
      : workload_(workload),
        options_(options),
        cluster_(workload.cluster.nodes, options.latencies, clock_),
        metrics_(workload),
        uid_bits_(options.engine.seed, "simulation.uids"),
        executor_(clock_, options.thinking),
        loop_(control_options(), std::move(engine), store, cluster_, executor_, clock_) {}

  Result<TrainingResult> run() {
    const auto began = std::chrono::steady_clock::now();
    auto started = loop_.start([this](Event&& event) { reported(std::move(event)); });
    if (!started) return started.error();
    cluster_.advance();
    loop_.turn();
    while (step()) {
      if (refused_) return *refused_;
      if (loop_.read_only()) return *loop_.read_only();
    }
    TrainingResult result = metrics_.sum_up([this](JobId job) { return cluster_.training(job); });
    result.turns = turns_;
    result.rounds = rounds_;
    result.policy_seconds = executor_.wall_seconds();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    result.wall_seconds = wall.count();
    return result;
  }

 private:
  ControlOptions control_options() {
    ControlOptions control;
    control.history = History::kDrop;
    control.reconcile_interval = {};  // without faults no report is lost
    control.on_committed = [this](Instant now, const Decisions& decisions) {
      rounds_ += static_cast<std::int64_t>(decisions.solves.size());
      if (!decisions.list.empty()) idle_rounds_ = 0;
      metrics_.committed(now, decisions);
    };
    control.random_bits = [this] { return uid_bits_.next(); };
    return control;
  }

  // Goes to the next instant at which something happens; false when all jobs
  // have ended or nothing will happen any more.
  bool step() {
    if (arrived_ == workload_.arrivals.size() && metrics_.all_ended()) return false;
    const Instant others =
        std::min({next_arrival(), cluster_.next_event(), executor_.next_event()});
    const Instant next = std::min(others, loop_.engine().next_wake());
    if (next.is_never()) return false;
    if (others.is_never() && ++idle_rounds_ > kMostIdleRounds) return false;
    clock_.advance_to(std::max(next, clock_.now()));
    if (loop_.engine().next_round() <= clock_.now()) cluster_.report_training();
    cluster_.advance();
    while (next_arrival() <= clock_.now()) submit();
    executor_.advance();
    loop_.turn();
    if (options_.on_progress && ++turns_ % kTurnsPerProgress == 0) {
      options_.on_progress(static_cast<double>(arrived_) /
                           static_cast<double>(workload_.arrivals.size()));
    }
    return true;
  }

  Instant next_arrival() const {
    return arrived_ < workload_.arrivals.size() ? workload_.arrivals[arrived_].at
                                                : Instant::never();
  }

  void submit() {
    const TrainingArrival& arrival = workload_.arrivals[arrived_++];
    SubmitRequest request;
    request.tenant = arrival.spec->tenant;
    request.jobs.emplace_back(arrival.spec);
    loop_.submit(std::move(request), [this, &arrival](Result<SubmitAnswer> answer) {
      if (!answer) {
        refused_ = answer.error().with_context(arrival.spec->name);
        return;
      }
      cluster_.set_training(answer->jobs.front().id, arrival.make_process());
    });
    // Numbers are given out in this order; the turn's decisions name them.
    metrics_.submitted(clock_.now(), JobId(next_id_++));
  }

  void reported(Event&& event) {
    if (const auto* cleaned = std::get_if<TaskCleaned>(&event))
      metrics_.cleaned(clock_.now(), cleaned->task);
    loop_.post(std::move(event));
  }

  const TrainingWorkload& workload_;
  const TrainingRunOptions& options_;
  VirtualClock clock_;
  SimulatedCluster cluster_;
  TrainingMetrics metrics_;
  RandomStream uid_bits_;
  VirtualExecutor executor_;
  ControlLoop loop_;

  std::size_t arrived_ = 0;
  std::uint64_t next_id_ = 1;
  std::int64_t turns_ = 0;
  std::int64_t rounds_ = 0;
  std::int64_t idle_rounds_ = 0;
  std::optional<Error> refused_;
};

}  // namespace

Result<TrainingResult> run_training(const TrainingWorkload& workload,
                                    const TrainingRunOptions& options, Store& store) {
  PolicyOptions own;
  own.settings = options.policy_settings;
  own.round = workload.round;
  own.truth = workload.truth;
  auto policies = make_policy(options.policy, own);
  if (!policies) return policies.error();
  return TrainingRun(workload, options, Engine(options.engine, std::move(*policies)), store).run();
}

}  // namespace gridfold
