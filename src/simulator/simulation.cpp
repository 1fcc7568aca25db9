#include "simulator/simulation.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "accounting/effective_account.h"
#include "base/random.h"
#include "control/control_loop.h"
#include "doctor/day_log.h"
#include "policies/learned_idle.h"
#include "policies/learned_run_times.h"
#include "simulator/fragmentation.h"
#include "simulator/true_run_times.h"
#include "simulator/virtual_executor.h"

namespace gridfold {
namespace {

constexpr std::int64_t kTurnsPerProgress = 4096;

class Run {
 public:
  // `truth` is the engine's, or null.
  Run(const SimulationInput& input, const SimulationOptions& options,
      const EngineOptions& engine_options, Engine engine, TrueRunTimes* truth, Store& store)
      : input_(input),
        options_(options),
        engine_options_(engine_options),
        capacity_(capacity_of(input.cluster)),
        cluster_(input.cluster.nodes, options.latencies, clock_),
        metrics_(input.workload, input.arrivals.size()),
        account_(counted_time(input)),
        day_log_(day_log_options()),
        fragmentation_(input.workload, input.cluster),
        uid_bits_(options.engine.seed, "simulation.uids"),
        specs_(shared_specs(input.workload)),
        shapes_(shapes_of(input.workload)),
        truth_(truth),
        fillers_(input.workload, input.cluster, Instant{} + input.arrivals[input.counted_from].at,
                 Instant{} + input.arrivals.back().at, options.fillers.interval,
                 options.fillers.cost),
        executor_(clock_),
        loop_(control_options(), std::move(engine), store, cluster_, executor_, clock_) {}

  Result<SimulationResult> run() {
    const auto began = std::chrono::steady_clock::now();
    auto started = loop_.start([this](Event&& event) { reported(std::move(event)); });
    if (!started) return started.error();
    cluster_.advance();
    loop_.turn();
    prepare_fragmentation();
    while (step()) {
      if (refused_) return *refused_;
      if (loop_.read_only()) return *loop_.read_only();
    }
    SimulationResult result = sum_up();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    result.wall_seconds = wall.count();
    return result;
  }

 private:
  using Specs = std::vector<std::shared_ptr<const JobSpec>>;
  // By shape: jobs of one shape share a specification, for nobody asks for a
  // simulated job by its name.
  static Specs shared_specs(const Workload& workload) {
    Specs specs;
    for (const JobSpec& shape : workload.shapes)
      specs.push_back(std::make_shared<const JobSpec>(shape));
    return specs;
  }

  // Beside one another: a trace's jobs are large and seldom in the cache.
  static std::vector<std::uint32_t> shapes_of(const Workload& workload) {
    std::vector<std::uint32_t> shapes;
    shapes.reserve(workload.jobs.size());
    for (const TraceJob& job : workload.jobs) shapes.push_back(job.shape);
    return shapes;
  }
  const JobSpec& shape_of(const Arrival& arrival) const {
    return input_.workload.shapes[shapes_[arrival.job]];
  }

  // Jobs with a limit, and those whose run times are learned, have a user and a
  // name; those that are alike in all still share one.
  std::shared_ptr<const JobSpec> spec_of(const Arrival& arrival) {
    if (arrival.limit.is_unlimited() && options_.run_times != RunTimeSource::kLearned)
      return specs_[shapes_[arrival.job]];
    const TraceJob& job = input_.workload.jobs[arrival.job];
    const std::int64_t limit = arrival.limit.is_unlimited() ? -1 : arrival.limit.bound().ns;
    auto& known = own_specs_[{job.shape, limit, job.user, job.program}];
    if (!known) {
      JobSpec spec = input_.workload.shapes[job.shape];
      spec.time_limit = arrival.limit;
      if (!job.user.empty()) spec.tenant = job.user;
      spec.name = job.program;
      known = std::make_shared<const JobSpec>(std::move(spec));
    }
    return known;
  }

  // From the first counted arrival to the last one; a run that counts all jobs
  // goes on to its end.
  static EffectiveOptions counted_time(const SimulationInput& input) {
    EffectiveOptions effective;
    effective.from = Instant{} + input.arrivals[input.counted_from].at;
    if (input.counted_from > 0) effective.to = Instant{} + input.arrivals.back().at;
    effective.ask_interval = Duration::minutes(5);
    return effective;
  }

  ControlOptions control_options() {
    ControlOptions control;
    control.history = History::kDrop;
    control.reconcile_interval = {};  // without faults no report is lost
    control.on_committed = [this](Instant now, const Decisions& decisions) {
      metrics_.committed(now, decisions);
      if (has_fillers()) fillers_.committed(now, metrics_.first_id(), decisions);
      if (options_.account) account_.committed(now, loop_.engine(), decisions);
      if (options_.doctor) day_log_.committed(now, loop_.engine(), decisions);
    };
    if (options_.estimates > Duration{}) control.estimates = start_estimates();
    control.random_bits = [this] { return uid_bits_.next(); };
    return control;
  }

  MakePolicies fresh_policies() const {
    return [&options = options_] {
      return std::move(*make_policy(options.policy, options.policy_options));  // made once already
    };
  }

  // All of the run is remembered.
  DayLogOptions day_log_options() const {
    DayLogOptions log;
    log.engine = engine_options_;
    log.make_policies = fresh_policies();
    log.learned_run_times = options_.run_times == RunTimeSource::kLearned;
    log.window = Duration{INT64_MAX / 2};
    log.max_jobs = input_.arrivals.size();
    return log;
  }

  DoctorReport diagnosis() const {
    const EffectiveOptions counted = counted_time(input_);
    return diagnose(day_log_.day(loop_.engine(), counted.from, std::min(counted.to, clock_.now()),
                                 clock_.now()));
  }

  std::shared_ptr<StartEstimates> start_estimates() {
    EstimateOptions estimates;
    estimates.engine = engine_options_;
    estimates.make_policies = fresh_policies();
    estimates.interval = options_.estimates;
    estimates.on_settled = [this](const SettledEstimate& settled) {
      if (settled.job >= metrics_.id_of(input_.counted_from)) starts_.add(settled);
    };
    return std::make_shared<StartEstimates>(std::move(estimates));
  }

  // Goes to the next instant at which something happens; false when nothing
  // will any more.
  bool step() {
    Instant next = std::min(next_arrival(), cluster_.next_event());
    next = std::min({next, executor_.next_event(), loop_.engine().next_wake()});
    if (next.is_never()) return false;
    next = std::min(next, loop_.next_estimate());
    clock_.advance_to(std::max(next, clock_.now()));
    const std::size_t first = arrived_;
    while (next_arrival() <= clock_.now()) submit(input_.arrivals[arrived_]);
    cluster_.advance();
    executor_.advance();
    loop_.turn();
    ++turns_;
    if (options_.leave_when_full) cancel_waiting(first);
    for (std::size_t i = first; i < arrived_; ++i) record_arrival(input_.arrivals[i]);
    if (options_.on_progress && turns_ % kTurnsPerProgress == 0) {
      options_.on_progress(static_cast<double>(arrived_) /
                           static_cast<double>(input_.arrivals.size()));
    }
    return true;
  }

  Instant next_arrival() const {
    return arrived_ < input_.arrivals.size() ? Instant{} + input_.arrivals[arrived_].at
                                             : Instant::never();
  }

  void submit(const Arrival& arrival) {
    ++events_;
    const std::size_t index = arrived_++;
    SubmitRequest request;
    request.jobs.emplace_back(spec_of(arrival));
    if (truth_ != nullptr) truth_->tell(arrival.duration);
    // The waits and ends of fillers are counted apart.
    metrics_.submitted(shapes_[arrival.job], Instant{} + arrival.at,
                       index >= input_.counted_from && !is_filler(arrival));
    if (has_fillers()) fillers_.submitted(arrival.job, Instant{} + arrival.at);
    loop_.submit(std::move(request), [this, index](Result<SubmitAnswer> answer) {
      const Arrival& accepted = input_.arrivals[index];
      if (!answer) {
        refused_ = answer.error().with_context(input_.workload.jobs[accepted.job].name);
        return;
      }
      const JobId id = answer->jobs.front().id;
      if (!metrics_.is_numbered(index, id)) refused_ = internal("jobs are not numbered in order");
      TaskTruth truth{accepted.duration};
      if (is_filler(accepted)) {
        truth.stop_time = options_.fillers.save;
        truth.restart_time = options_.fillers.restart;
      }
      cluster_.set_truth(id, truth);
    });
  }

  bool has_fillers() const { return !options_.fillers.workload.empty(); }
  bool is_filler(const Arrival& arrival) const {
    return shape_of(arrival).workload_class == WorkloadClass::kFiller;
  }

  // Of the arrivals from this one on.
  void cancel_waiting(std::size_t first) {
    bool any = false;
    for (std::size_t i = first; i < arrived_; ++i) {
      const JobRecord* job = loop_.engine().job(metrics_.id_of(i));
      if (job == nullptr || job->state != JobState::kPending) continue;
      any = true;
      loop_.request(JobCancelRequested{job->id, "full"}, [](Result<void>) {});
    }
    if (any) loop_.turn();
  }

  void reported(Event&& event) {
    const auto* exited = std::get_if<TaskExited>(&event);
    if (has_fillers() && exited != nullptr && exited->status.ok()) finished_.insert(exited->task);
    if (const auto* cleaned = std::get_if<TaskCleaned>(&event)) {
      metrics_.cleaned(clock_.now(), cleaned->task);
      if (has_fillers()) filler_left(cleaned->task);
    }
    ++events_;
    loop_.post(std::move(event));
  }

  void filler_left(TaskId task) {
    const std::uint64_t index = task.job.value - metrics_.first_id().value;
    const Arrival& arrival = input_.arrivals[index];
    Duration worked{};
    if (is_filler(arrival)) {
      const bool finished = finished_.erase(task) > 0;
      const Duration done = finished ? arrival.duration.bound() : cluster_.saved_work(task);
      Duration& before = worked_[task];
      worked = done - before;
      before = done;
    }
    fillers_.cleaned(clock_.now(), metrics_.first_id(), task, worked);
  }

  void record_arrival(const Arrival& arrival) {
    if (options_.record_to_per_cent == 0) return;
    asked_ += device_thousandths(shape_of(arrival), "gpu");
    while (asked_ * 100 >=
           static_cast<std::int64_t>(allocated_by_arrived_.size()) * capacity_.gpu_thousandths) {
      mark_arrived();
    }
  }

  void mark_arrived() {
    allocated_by_arrived_.push_back(gpu_share(metrics_.usage().gpu_thousandths));
    fragmentation_by_arrived_.push_back(fragmentation_now());
  }

  double gpu_share(std::int64_t thousandths) const {
    return capacity_.gpu_thousandths == 0
               ? 0
               : static_cast<double>(thousandths) / static_cast<double>(capacity_.gpu_thousandths);
  }

  void prepare_fragmentation() {
    node_amounts_.resize(input_.cluster.nodes.size());
    if (options_.record_to_per_cent == 0) return;
    for (std::size_t i = 0; i < node_amounts_.size(); ++i) measure_node(i);
  }

  void measure_node(std::size_t node) {
    const auto amount =
        fragmentation_.measure(node, loop_.engine().room(NodeId(static_cast<std::uint32_t>(node))));
    fragmented_ += amount.fragmented - node_amounts_[node].fragmented;
    idle_ += amount.idle - node_amounts_[node].idle;
    node_amounts_[node] = amount;
  }

  // Of what is idle. Only nodes that got a task have changed: in a saturation
  // run nothing leaves.
  double fragmentation_now() {
    for (const NodeId node : metrics_.take_touched_nodes()) measure_node(node.value);
    return idle_ > 0 ? fragmented_ / idle_ : 0;
  }

  // What is held at the end by the engine's own books, thousandths of a GPU.
  std::int64_t gpus_held() const {
    std::int64_t free = 0;
    for (std::size_t i = 0; i < input_.cluster.nodes.size(); ++i) {
      const NodeRoom room = loop_.engine().room(NodeId(static_cast<std::uint32_t>(i)));
      for (std::size_t d = 0; d < room.devices.size(); ++d) {
        const bool gpu = input_.cluster.nodes[i].devices[d].device_class == "gpu";
        if (gpu && room.devices[d].usable) free += room.devices[d].free_share;
      }
    }
    return capacity_.gpu_thousandths - free;
  }

  SimulationResult sum_up() {
    SimulationResult result;
    result.decisions_sha256 = metrics_.decisions_sha256();
    result.events = events_;
    result.turns = turns_;
    result.counts = metrics_.counts();
    for (const JobRecord* job : loop_.engine().jobs()) {
      if (job->state != JobState::kPending) continue;
      ++result.waiting;
      const auto reason = loop_.engine().main_reason(job->id);
      result.infeasible += reason && is_never(reason->code);
    }
    result.waits = metrics_.waits();
    result.wait = summarise(result.waits);
    result.completion = summarise(metrics_.completions());
    result.bounded_slowdown = metrics_.bounded_slowdown();
    const Instant first = Instant{} + input_.arrivals.front().at;
    if (metrics_.last_end() > first) result.makespan = metrics_.last_end() - first;
    result.gpu_allocated = gpu_share(gpus_held());
    if (const auto demand = metrics_.gpu_demand(); demand.offered > 0) {
      result.gpu_demand_blocked =
          static_cast<double>(demand.blocked) / static_cast<double>(demand.offered);
    }
    add_utilisation(result);
    if (options_.doctor) result.diagnosis = diagnosis();
    if (options_.account) result.effective = account_.report(clock_.now()).all();
    if (options_.record_to_per_cent > 0) {
      while (allocated_by_arrived_.size() <= options_.record_to_per_cent) mark_arrived();
      result.fragmentation = fragmentation_now();
      result.gpu_allocated_by_arrived = std::move(allocated_by_arrived_);
      result.fragmentation_by_arrived = std::move(fragmentation_by_arrived_);
    }
    if (has_fillers()) {
      result.fillers = fillers_.summary(capacity_.gpu_thousandths);
      result.fillers->delayed = std::count_if(result.waits.begin(), result.waits.end(),
                                              [](Duration wait) { return wait > Duration{}; });
    }
    result.starts = std::move(starts_);
    result.usage.assign(metrics_.history().begin(), metrics_.history().end());
    return result;
  }

  // From the first counted arrival to the last one; a run that counts all jobs
  // goes on to the last end.
  void add_utilisation(SimulationResult& result) const {
    const Instant from = Instant{} + input_.arrivals[input_.counted_from].at;
    Instant to = Instant{} + input_.arrivals.back().at;
    if (input_.counted_from == 0) to = std::max(to, metrics_.last_end());
    const auto history = metrics_.history();
    const double gpus = mean_usage(history, &UsagePoint::gpu_thousandths, from, to);
    const double cores = mean_usage(history, &UsagePoint::millicores, from, to);
    if (capacity_.gpu_thousandths > 0) {
      result.gpu_utilisation = gpus / static_cast<double>(capacity_.gpu_thousandths);
    }
    if (capacity_.millicores > 0) {
      result.cpu_utilisation = cores / static_cast<double>(capacity_.millicores);
    }
  }

  const SimulationInput& input_;
  const SimulationOptions& options_;
  EngineOptions engine_options_;
  StartScore starts_;
  ClusterCapacity capacity_;
  VirtualClock clock_;
  SimulatedCluster cluster_;
  RunMetrics metrics_;
  EffectiveAccount account_;
  DayLog day_log_;
  FragmentationMeter fragmentation_;
  RandomStream uid_bits_;
  Specs specs_;
  std::vector<std::uint32_t> shapes_;  // of the workload's jobs
  using SpecKey = std::tuple<std::uint32_t, std::int64_t, std::string, std::string>;
  std::map<SpecKey, std::shared_ptr<const JobSpec>> own_specs_;
  TrueRunTimes* truth_ = nullptr;
  FillerMetrics fillers_;
  std::set<TaskId> finished_;          // by themselves, not yet cleaned up
  std::map<TaskId, Duration> worked_;  // by fillers, in all their runs
  VirtualExecutor executor_;
  ControlLoop loop_;

  std::size_t arrived_ = 0;
  std::int64_t events_ = 0;
  std::int64_t turns_ = 0;
  std::optional<Error> refused_;
  std::int64_t asked_ = 0;  // thousandths of a GPU
  std::vector<double> allocated_by_arrived_;
  std::vector<double> fragmentation_by_arrived_;
  std::vector<FragmentationMeter::Amount> node_amounts_;
  double fragmented_ = 0;
  double idle_ = 0;
};

}  // namespace

Result<SimulationResult> simulate(const SimulationInput& input, const SimulationOptions& options,
                                  Store& store) {
  auto policy = make_policy(options.policy, options.policy_options);
  if (!policy) return policy.error();
  TrueRunTimes* truth = nullptr;
  if (options.run_times == RunTimeSource::kLearned) {
    policy->run_times = std::make_unique<LearnedRunTimes>();
  } else if (options.run_times == RunTimeSource::kTrue) {
    auto made = std::make_unique<TrueRunTimes>();
    truth = made.get();
    policy->run_times = std::move(made);
  }
  policy->idle = std::make_unique<LearnedIdle>();
  EngineOptions engine = options.engine;
  engine.fabric = input.cluster.fabric;
  Run run(input, options, engine, Engine(engine, std::move(*policy)), truth, store);
  return run.run();
}

}  // namespace gridfold
