#include "tests/doctor/world_run.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "control/control_loop.h"
#include "doctor/day_log.h"
#include "policies/learned_idle.h"
#include "policies/learned_run_times.h"
#include "policies/registry.h"
#include "simulator/simulated_cluster.h"
#include "simulator/virtual_executor.h"
#include "stores/null/null_store.h"

namespace gridfold::doctor_worlds {
namespace {

// By then all jobs have ended, but those that cannot start.
constexpr Duration kHindsight = Duration::hours(24 * 10);
constexpr Duration kReportDelay = Duration::seconds(30);

MakePolicies make_policies() {
  return [] { return std::move(*make_policy("best_fit", {})); };
}

// Counts from the jobs' records and what is true of them.
class Judge {
 public:
  explicit Judge(const World& world) : world_(world), end_(Instant{} + world.length) {
    for (const NodeSpec& node : world.nodes) devices_ += static_cast<double>(node.devices.size());
    truth_.supplied = devices_ * world.length.in_seconds() / 3600;
  }

  void committed(Instant now, const Engine& engine, const Decisions& decisions) {
    pass(now);
    for (const JobId id : decisions.changed_jobs) {
      const JobRecord* record = engine.job(id);
      if (record != nullptr) see(*record);
    }
  }

  Truth at_end() {
    pass(end_);
    return truth_;
  }

 private:
  struct Seen {
    double held = 0, useful = 0, wanted = 0;
    double done = 0;  // device-hours of this run
    std::int32_t runs = 0;
  };

  void pass(Instant now) {
    now = std::min(now, end_);
    const double hours = (now - now_).in_seconds() / 3600;
    now_ = now;
    double held = 0, wanted = 0;
    for (auto& [id, seen] : jobs_) {
      held += seen.held;
      wanted += seen.wanted;
      seen.done += seen.useful * hours;
      truth_.busy += seen.useful * hours;
      truth_.lost += (seen.held - seen.useful) * hours;
    }
    truth_.lost += std::min(devices_ - held, wanted) * hours;
  }

  void see(const JobRecord& record) {
    const WorldJob& job = world_.jobs[record.id.value - 1];
    Seen& seen = jobs_[record.id];
    const double each = record.spec->roles[0].each.devices[0].count;
    double tasks = 0;
    for (const TaskRecord& task : record.tasks) tasks += holds_allocation(task.phase) ? 1 : 0;
    const bool waits = record.state == JobState::kPending;
    if ((waits && seen.held > 0) || record.runs > seen.runs) {  // it begins from the start
      truth_.busy -= seen.done;
      truth_.lost += seen.done;
      seen.done = 0;
    }
    seen.runs = record.runs;
    seen.held = tasks * each;
    seen.useful = tasks * job.used * 1e6 / static_cast<double>(job.step());
    seen.wanted = waits ? record.spec->roles[0].count * each : 0;
    if (is_terminal(record.state)) jobs_.erase(record.id);
  }

  const World& world_;
  Instant end_;
  Instant now_{};
  double devices_ = 0;
  Truth truth_;
  std::map<JobId, Seen> jobs_;
};

class Simulated {
 public:
  explicit Simulated(const World& world)
      : world_(world),
        bits_(world.seed, "uids"),
        cluster_(world.nodes, {}, clock_),
        judge_(world),
        log_(log_options(world)),
        executor_(clock_, Thinking::kFree),
        loop_(control(), Engine(engine_options(world), policies(world)), store_, cluster_,
              executor_, clock_) {
    for (const Outage& outage : world.outages) {
      outages_.emplace(Instant{} + outage.from, std::pair(outage.node, true));
      outages_.emplace(Instant{} + outage.until, std::pair(outage.node, false));
    }
  }

  DayRun run() {
    const auto started = loop_.start([this](Event event) { told(std::move(event)); });
    assert(started);
    static_cast<void>(started);
    cluster_.advance();
    Instant wake = loop_.turn();
    for (const std::string& node : world_.drained)
      loop_.request(NodeDrainRequested{node, true, "operator"}, [](Result<void>) {});
    wake = loop_.turn();
    const Instant end = Instant{} + world_.length;
    DayRun day;
    bool over = false;
    while (true) {
      const Instant next = std::min({wake, next_arrival(), next_outage(), next_report(),
                                     cluster_.next_event(), executor_.next_event()});
      if (next > end && !over) {
        over = true;
        day.at_once = log_.day(loop_.engine(), end);
      }
      if (next > end + kHindsight) break;
      clock_.advance_to(std::max(next, clock_.now()));
      while (next_outage() <= clock_.now()) happen();
      while (next_arrival() <= clock_.now()) submit();
      while (next_report() <= clock_.now()) report();
      cluster_.advance();
      executor_.advance();
      wake = loop_.turn();
    }
    day.truth = judge_.at_end();
    day.in_hindsight = log_.day(loop_.engine(), {}, end, clock_.now());
    return day;
  }

 private:
  static EngineOptions engine_options(const World& world) {
    EngineOptions options;
    options.seed = world.seed;
    options.backfill = world.backfill;
    return options;
  }
  static Policies policies(const World& world) {
    Policies made = make_policies()();
    if (world.learned_run_times) made.run_times = std::make_unique<LearnedRunTimes>();
    made.idle = std::make_unique<LearnedIdle>();
    return made;
  }
  static DayLogOptions log_options(const World& world) {
    DayLogOptions options;
    options.window = Duration::hours(24 * 60);
    options.engine = engine_options(world);
    options.make_policies = make_policies();
    options.learned_run_times = world.learned_run_times;
    return options;
  }
  ControlOptions control() {
    ControlOptions options;
    options.history = History::kDrop;
    options.reconcile_interval = {};
    options.queues.queues = world_.queues;
    options.random_bits = [this] { return bits_.next(); };
    options.on_committed = [this](Instant now, const Decisions& decisions) {
      judge_.committed(now, loop_.engine(), decisions);
      log_.committed(now, loop_.engine(), decisions);
    };
    return options;
  }

  Instant next_arrival() const {
    return arrived_ < world_.jobs.size() ? Instant{} + world_.jobs[arrived_].arrives
                                         : Instant::never();
  }
  Instant next_outage() const {
    return outages_.empty() ? Instant::never() : outages_.begin()->first;
  }
  Instant next_report() const {
    return reports_.empty() ? Instant::never() : reports_.begin()->first;
  }

  void happen() {
    const auto [node, lost] = outages_.begin()->second;
    outages_.erase(outages_.begin());
    lost ? cluster_.lose_node(node, Fencing::kFenced) : cluster_.return_node(node);
  }

  void submit() {
    const WorldJob& job = world_.jobs[arrived_++];
    SubmitRequest request;
    request.jobs.emplace_back(job.spec);
    loop_.submit(std::move(request), [this, &job](Result<SubmitAnswer> answer) {
      assert(answer);
      cluster_.set_truth(answer->jobs.front().id, {job.run()});
    });
  }

  void told(Event event) {
    if (const auto* started = std::get_if<TaskStarted>(&event);
        started != nullptr && world_.jobs[started->task.job.value - 1].reports)
      reports_.emplace(clock_.now() + kReportDelay, *started);
    loop_.post(std::move(event));
  }

  // What a task says of itself a little after its start.
  void report() {
    const TaskStarted started = reports_.begin()->second;
    reports_.erase(reports_.begin());
    const WorldJob& job = world_.jobs[started.task.job.value - 1];
    TaskReported reported{started.task, started.attempt, {}};
    reported.report.devices_used = job.used;
    reported.report.step_time = Duration::microseconds(job.step());
    reported.report.input_time = Duration::microseconds(job.input);
    if (job.network > 0) reported.report.sync_time = Duration::microseconds(job.network);
    log_.reported(reported);
    loop_.post(std::move(reported));
  }

  const World& world_;
  RandomStream bits_;
  VirtualClock clock_;
  SimulatedCluster cluster_;
  Judge judge_;
  DayLog log_;
  NullStore store_;
  VirtualExecutor executor_;
  ControlLoop loop_;
  std::multimap<Instant, std::pair<std::string, bool>> outages_;  // true: is lost
  std::multimap<Instant, TaskStarted> reports_;
  std::size_t arrived_ = 0;
};

}  // namespace

DayRun run_day(const World& world) { return Simulated(world).run(); }

}  // namespace gridfold::doctor_worlds
