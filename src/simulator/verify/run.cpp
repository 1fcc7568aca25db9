#include "simulator/verify/run.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/sha256.h"
#include "policies/registry.h"
#include "simulator/verify/counted_faults.h"
#include "simulator/verify/daemon_backend.h"
#include "simulator/verify/faulty_store.h"
#include "simulator/verify/rebuild.h"
#include "simulator/verify/recount.h"
#include "simulator/verify/trace_text.h"
#include "simulator/virtual_executor.h"

namespace gridfold::verify {
namespace {

constexpr Duration kClientRetry = Duration::seconds(5);
constexpr Duration kDaemonRetry = Duration::seconds(5);
constexpr std::size_t kTraceKept = 60;

struct Daemon {
  int number = 0;
  std::unique_ptr<DaemonStore> store;
  std::unique_ptr<DaemonBackend> backend;
  std::unique_ptr<ControlLoop> loop;
  Instant due{};
};

class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request),
        world_(draw_world(request.seed)),
        store_(request.make_store()),
        disk_(*store_),
        checker_(world_, clock_),
        uuids_(request.seed, "verify.uuid"),
        samples_(request.seed, "verify.samples"),
        answered_(world_.batches.size()) {
    if (request.calm == Calm::kYes) world_.faults = FaultRates{.until = Instant{}};
    cluster_ = std::make_unique<SimulatedCluster>(
        world_.nodes, world_.cluster, clock_,
        std::make_unique<CountedFaults>(seeded_faults(request.seed, world_.faults), faults_));
    disk_.on_stored([this](const Transaction& transaction, Revision revision, int daemon) {
      checker_.stored(transaction, revision, daemon);
      tell_truths();
    });
    for (std::size_t b = 0; b < world_.batches.size(); ++b) {
      for (std::size_t j = 0; j < world_.batches[b].jobs.size(); ++j) {
        const PlannedJob& job = world_.batches[b].jobs[j];
        jobs_.push_back(&job);
        truths_[job.spec.name] = job.truth;
        work_ = work_ + job.truth.duration.bound() + Duration::minutes(1);
      }
    }
  }

  RunResult run() {
    start(0);
    pump();
    std::vector<Action> actions = wanted_actions();
    std::size_t next = 0;
    while (!over()) {
      Instant at = std::min(cluster_->next_event(), world_.quiet);
      if (next < actions.size()) at = std::min(at, actions[next].at);
      at = next_due(at);
      if (at >= world_.quiet) break;
      advance_to(at);
      if (next < actions.size() && actions[next].at <= clock_.now()) {
        const Action& action = actions[next++];
        note(std::string(to_string(action.kind)) + " " + std::to_string(action.index));
        act(action);
      }
      pump();
    }
    if (!over()) calm_down();
    return result();
  }

 private:
  bool over() const { return checker_.violation() || events_ > request_.until; }

  std::vector<Action> wanted_actions() const {
    if (!request_.only) return world_.actions;
    std::vector<Action> some;
    for (const std::uint32_t index : *request_.only) {
      if (index < world_.actions.size()) some.push_back(world_.actions[index]);
    }
    return some;
  }

  // --- Time ---

  Instant next_due(Instant at) const {
    if (!later_.empty()) at = std::min(at, later_.begin()->first);
    if (daemon_) at = std::min(at, daemon_->due);
    if (stale_) at = std::min(at, stale_->due);
    at = std::min(at, executor_.next_event());
    return at;
  }

  void advance_to(Instant at) {
    clock_.advance_to(std::max(at, clock_.now()));
    while (!later_.empty() && later_.begin()->first <= clock_.now()) {
      const std::function<void()> work = std::move(later_.begin()->second);
      later_.erase(later_.begin());
      work();
    }
  }

  void after(Duration delay, std::function<void()> work) {
    later_.emplace(clock_.now() + delay, std::move(work));
  }

  // Lets everything happen that is due now, and checks after each step.
  void pump() {
    for (int quiet = 0; quiet < 2 && !over();) {
      const std::uint64_t before = cluster_->reports();
      cluster_->advance();
      executor_.advance();
      events_ += cluster_->reports() - before;
      if (daemon_) turn(*daemon_);
      if (stale_ && stale_->due <= clock_.now()) turn_stale();
      check();
      const bool idle = cluster_->reports() == before && cluster_->next_event() > clock_.now();
      quiet = idle ? quiet + 1 : 0;
    }
  }

  // --- Daemons ---

  void start(std::uint32_t queues) {
    const int number = ++daemons_;
    Daemon daemon;
    daemon.number = number;
    daemon.store = std::make_unique<DaemonStore>(disk_, number);
    daemon.backend = std::make_unique<DaemonBackend>(
        *cluster_, DaemonBackend::Observer{
                       [this, number](std::string_view order) { checker_.ordered(number, order); },
                       [this](TaskId task, std::uint32_t attempt) {
                         checker_.forgotten(task, attempt, *cluster_);
                       }});
    EngineOptions engine;
    engine.seed = request_.seed;
    engine.tie_break = world_.tie_break;
    engine.backfill = world_.backfill;
    engine.consolidation = world_.consolidation;
    engine.gang_repair = world_.gang_repair;
    ControlOptions control;
    control.queues.queues = world_.queues[queues];
    control.windows = window_calendar();
    control.reconcile_interval = world_.reconcile_interval;
    control.random_bits = [this] { return uuids_.next(); };
    control.on_committed = [this](Instant now, const Decisions& decisions) {
      checker_.turn_taken(now);
      heard(decisions);
    };
    auto policy = make_policy(world_.policy, {.settings = world_.policy_settings});
    if (!policy) return checker_.fail("I1", policy.error().describe());
    daemon.loop =
        std::make_unique<ControlLoop>(std::move(control), Engine(engine, std::move(*policy)),
                                      *daemon.store, *daemon.backend, executor_, clock_);
    note("daemon " + std::to_string(number) + " starts");
    queues_ = queues;
    checker_.set_queues(world_.queues[queues]);
    checker_.taking_over(number);
    checker_.daemon_started();
    std::optional<Error> refused;
    const auto sink = [this, number](Event event) {
      if (!daemon_ || daemon_->number != number) return;  // told to the dead
      note_event(event);
      daemon_->loop->post(std::move(event));
    };
    try {
      if (const auto started = daemon.loop->start(sink); !started) refused = started.error();
    } catch (const DaemonCrash&) {
      refused = unavailable("it died at once");
    }
    if (!refused) {
      daemon_.emplace(std::move(daemon));
      return;
    }
    if (refused->kind != ErrorKind::kUnavailable && refused->kind != ErrorKind::kInternal)
      return checker_.fail("I1", "the daemon does not start: " + refused->describe());
    daemon.loop.reset();
    disk_.settle_limbo();
    after(kDaemonRetry, [this, queues] {
      if (!daemon_) start(queues);
    });
  }

  WindowCalendar window_calendar() const {
    std::vector<WindowRule> rules;
    for (const NodeWindow& window : world_.windows)
      rules.push_back({window.name, window.where, window.from, window.until, std::nullopt, {}});
    return WindowCalendar(std::move(rules));
  }

  // kill -9, and the next daemon a while later.
  void die(Duration away, std::uint32_t queues) {
    if (!daemon_) return;
    note("daemon " + std::to_string(daemon_->number) + " dies");
    daemon_.reset();
    disk_.settle_limbo();
    after(away, [this, queues] {
      if (!daemon_) start(queues);
    });
  }

  void turn(Daemon& daemon) {
    try {
      daemon.due = daemon.loop->turn();
    } catch (const DaemonCrash&) {
      return die(away_, next_queues_);
    }
    if (disk_.in_limbo()) die(away_, next_queues_);
  }

  void turn_stale() {
    try {
      stale_->due = std::max(stale_->loop->turn(), clock_.now() + Duration::milliseconds(1));
    } catch (const DaemonCrash&) {
      stale_.reset();
    }
  }

  // A second daemon takes the store over; the first has not noticed.
  void take_over(const Action& action) {
    if (!daemon_ || disk_healthy_until_ > clock_.now()) return;
    stale_ = std::exchange(daemon_, std::nullopt);
    start(action.queues);
    if (!daemon_) {
      stale_.reset();
      return;
    }
    // It is still asked for things.
    const PlannedJob& job = *jobs_[action.index % jobs_.size()];
    stale_->loop->submit({"default", "", "", {job.spec}}, [this](Result<SubmitAnswer> answer) {
      if (answer) checker_.fail("I8", "a daemon that was replaced acknowledges a job");
    });
    if (const JobRecord* live = stale_->loop->find("default", job.spec.name)) {
      stale_->loop->request(JobCancelRequested{live->id, "stale"}, [this](Result<void> answer) {
        if (answer) checker_.fail("I8", "a daemon that was replaced cancels a job");
      });
    }
    const int number = stale_->number;
    after(action.duration, [this, number] {
      if (stale_ && stale_->number == number) stale_.reset();
    });
  }

  // --- Users and operators ---

  void submit(std::size_t index) {
    if (!daemon_) return retry_submit(index);
    const PlannedBatch& batch = world_.batches[index];
    SubmitRequest call;
    call.idempotency_key = batch.key;
    call.body_digest = "body-" + std::to_string(index);
    call.held = batch.held && clock_.now() < world_.quiet;
    for (const PlannedJob& job : batch.jobs) call.jobs.push_back(job.spec);
    const int daemon = daemon_->number;
    // A daemon that dies never answers; then the client asks again.
    after(kClientRetry, [this, index, daemon] {
      if (!answered_[index] && (!daemon_ || daemon_->number != daemon)) retry_submit(index);
    });
    daemon_->loop->submit(std::move(call), [this, index](Result<SubmitAnswer> answer) {
      if (answer) {
        answered_[index] = true;
        checker_.acknowledged(index, *answer);
      } else if (answer.error().kind == ErrorKind::kUnavailable) {
        retry_submit(index);
      } else {
        answered_[index] = true;
        note("refused: " + answer.error().describe());
      }
    });
  }

  void retry_submit(std::size_t index) {
    if (world_.batches[index].key.empty()) {
      answered_[index] = true;  // it cannot be asked again without harm
      return;
    }
    after(kClientRetry, [this, index] {
      if (!answered_[index]) submit(index);
    });
  }

  template <class Make>
  void of_job(std::size_t index, Make make) {
    if (!daemon_) return;
    const JobRecord* job = daemon_->loop->find("default", jobs_[index % jobs_.size()]->spec.name);
    if (job == nullptr) return;
    daemon_->loop->request(make(job->id), [](Result<void>) {});
  }

  void drain(std::size_t node, bool drained) {
    if (!daemon_) return;
    daemon_->loop->request(NodeDrainRequested{world_.nodes[node].name, drained, "operator"},
                           [](Result<void>) {});
  }

  void lose(std::size_t node, Fencing fencing, Duration outage) {
    const std::string& name = world_.nodes[node].name;
    if (!cluster_->lose_node(name, fencing)) return;
    after(outage, [this, name] { cluster_->return_node(name); });
  }

  void break_disk(FaultyStore::Disk how, Duration lasting) {
    disk_.set_disk(how);
    disk_healthy_until_ = clock_.now() + lasting;
    after(lasting, [this] {
      if (disk_healthy_until_ <= clock_.now()) disk_.set_disk(FaultyStore::Disk::kHealthy);
    });
  }

  void act(const Action& action) {
    ++events_;
    using enum ActionKind;
    if (action.kind >= kCrash && action.kind != kLimitArray)
      ++faults_[std::string(to_string(action.kind))];
    away_ = action.duration;
    next_queues_ = action.queues;
    switch (action.kind) {
      case kSubmit:
      case kSubmitAgain: return submit(action.index);
      case kCancel:
        return of_job(action.index, [](JobId id) { return JobCancelRequested{id, "user"}; });
      case kHold:
        return of_job(action.index, [](JobId id) { return JobHoldRequested{id, "user"}; });
      case kRelease:
        return of_job(action.index, [](JobId id) { return JobReleaseRequested{id, "user"}; });
      case kRequeue:
        return of_job(action.index, [](JobId id) { return JobRequeueRequested{id, "user"}; });
      case kCancelStorm:
        ++faults_["cancel_storm"];
        for (std::uint32_t i = 0; i < action.count; ++i) {
          of_job(action.index + i, [](JobId id) { return JobCancelRequested{id, "storm"}; });
        }
        return;
      case kDrain: return drain(action.index, true);
      case kUndrain: return drain(action.index, false);
      case kCrash: return die(action.duration, action.queues);
      case kCrashAtCommit:
        if (daemon_) disk_.crash_at_commit(static_cast<CommitCrash>(action.index), daemon_->number);
        return;
      case kCrashInOrders:
        if (daemon_) daemon_->backend->crash_after(action.count);
        return;
      case kStoreFull: return break_disk(FaultyStore::Disk::kFull, action.duration);
      case kStoreBroken: return break_disk(FaultyStore::Disk::kBroken, action.duration);
      case kNodeOff: return lose(action.index, Fencing::kFenced, action.duration);
      case kNodeReboot: return lose(action.index, Fencing::kFenced, Duration{1});
      case kNodeCut: return lose(action.index, Fencing::kUnfenced, action.duration);
      case kTakeOver: return take_over(action);
      case kLimitArray:
        return of_job(action.index, [&](JobId id) {
          JobChangeRequested change;
          change.job = id;
          change.array_limit = static_cast<std::int32_t>(action.count);
          return change;
        });
    }
  }

  // --- The end ---

  // Nothing fails any more: whatever can run must come to its end.
  void calm_down() {
    advance_to(world_.quiet);
    note("quiet");
    stale_.reset();
    disk_.set_disk(FaultyStore::Disk::kHealthy);
    disk_.cancel_crash();
    daemon_.reset();
    disk_.settle_limbo();
    start(0);
    for (const NodeSpec& node : world_.nodes) cluster_->return_node(node.name);
    pump();
    if (!over() && !daemon_)
      return checker_.fail("I9", "the daemon does not come up on a healthy store");
    for (std::size_t n = 0; n < world_.nodes.size(); ++n) {
      drain(n, true);
      drain(n, false);
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      of_job(j, [](JobId id) { return JobReleaseRequested{id, "operator"}; });
    pump();
    const Instant deadline = world_.quiet + Duration{6 * work_.ns} + Duration::minutes(10);
    run_until(deadline, [this] { return settled(); });
    if (over()) return;
    if (!settled()) return checker_.fail("I9", unsettled());
    // What can never start is cancelled; then nothing may be left.
    for (const std::uint64_t id : std::set<std::uint64_t>(checker_.mirror().live()))
      daemon_->loop->request(JobCancelRequested{JobId(id), "operator"}, [](Result<void>) {});
    pump();
    const Duration two_rounds{2 * world_.reconcile_interval.ns};
    run_until(clock_.now() + two_rounds + Duration::minutes(2), [] { return false; });
    if (!over()) checker_.check_end(daemon_->loop->engine(), cluster_->presences());
  }

  template <class Done>
  void run_until(Instant deadline, Done done) {
    while (!over() && !done()) {
      const Instant at = next_due(cluster_->next_event());
      if (at > deadline) return;
      advance_to(at);
      pump();
    }
  }

  // All that still lives waits for what will never be.
  bool settled() const {
    if (std::find(answered_.begin(), answered_.end(), false) != answered_.end() && !later_.empty())
      return false;
    return unsettled_job() == nullptr;
  }

  // One that runs, or could. Null: there is none.
  const MirrorJob* unsettled_job() const {
    const Mirror& mirror = checker_.mirror();
    for (const std::uint64_t id : mirror.live()) {
      if (mirror.job(id)->state != State::kPending) return mirror.job(id);
    }
    if (mirror.live().empty()) return nullptr;
    const Recount recount(world_, mirror, world_.queues[queues_], daemon_->loop->engine().nodes(),
                          clock_.now());
    for (const std::uint64_t id : mirror.live()) {
      const MirrorJob& job = *mirror.job(id);
      // Several roles may fit one by one and not together: not judged.
      const bool waits = !job.waits_for.empty() || job.spec->roles.size() > 1;
      if (!waits && !recount.never(job)) return &job;
    }
    return nullptr;
  }

  std::string unsettled() const {
    const MirrorJob* job = unsettled_job();
    if (job == nullptr) return "a call is never answered";
    const auto reason = daemon_->loop->engine().main_reason(JobId(job->id));
    return "job " + std::to_string(job->id) + " (" + job->spec->name +
           ") does not end: " + std::string(to_string(static_cast<JobState>(job->state))) +
           (reason ? ", " + to_json(*reason) : "");
  }

  // --- Looking ---

  void heard(const Decisions& decisions) {
    if (!decisions.list.empty()) ++events_;
    checker_.decided(decisions);
    if (daemon_) checker_.check_launches(daemon_->loop->engine(), decisions);
    for (const Decision& decision : decisions.list) append_canonical(decision, log_);
    if (request_.trace == Trace::kOn) {
      for (const Decision& decision : decisions.list)
        note(decision_text(
            decision, daemon_ ? daemon_->loop->engine().nodes() : std::span<const NodeRecord>{}));
    }
  }

  // The cluster learns how long a job runs as soon as the job is stored.
  void tell_truths() {
    for (const Mirror::Changed& changed : checker_.mirror().changed()) {
      if (changed.before.spec != nullptr) continue;
      const MirrorJob* job = checker_.mirror().job(changed.id);
      cluster_->set_truth(JobId(changed.id), truths_.at(job->spec->name));
    }
  }

  void check() {
    const auto presences = cluster_->presences();
    checker_.check_cluster(presences);
    if (!daemon_ || daemon_->loop->read_only() || checker_.violation()) return;
    const Engine& engine = daemon_->loop->engine();
    checker_.check_usage(engine);
    checker_.check_spread(engine);
    if (world_.gang_repair > Duration{}) checker_.check_repairs(clock_.now());
    if (world_.backfill.mode != BackfillMode::kNone) checker_.check_plans();
    if (!world_.windows.empty()) checker_.check_windows();
    if (samples_.chance(1, 8)) checker_.check_reasons(engine);
    if (samples_.chance(1, 100)) {
      if (const auto broken = engine.check_invariants()) checker_.fail("I14", *broken);
      if (const auto differs = differs_from_stored(engine, *store_, world_, world_.queues[queues_],
                                                   request_.make_store))
        checker_.fail("I14", *differs);
    }
  }

  void note(std::string text) {
    if (request_.trace == Trace::kOff) return;
    trace_.push_back("event " + std::to_string(events_) + " @" + to_text(clock_.now() - Instant{}) +
                     " " + std::move(text));
    if (trace_.size() > kTraceKept) trace_.erase(trace_.begin());
  }
  void note_event(const Event& event) {
    if (request_.trace == Trace::kOn) note("report: " + event_text(event));
  }

  RunResult result() {
    RunResult result;
    result.violation = checker_.violation();
    result.events = events_;
    result.faults = faults_;
    result.jobs = checker_.mirror().jobs().size();
    result.decisions_sha256 = sha256_hex(log_);
    if (request_.trace == Trace::kOn) {
      result.trace = std::move(trace_);
      result.state = state_text(world_, checker_.mirror(), cluster_->presences());
    }
    return result;
  }

  const RunRequest& request_;
  World world_;
  VirtualClock clock_;
  VirtualExecutor executor_{clock_};
  std::unique_ptr<Store> store_;
  FaultyStore disk_;
  std::unique_ptr<SimulatedCluster> cluster_;
  Checker checker_;
  std::map<std::string, std::int64_t> faults_;
  RandomStream uuids_, samples_;

  std::optional<Daemon> daemon_;
  std::optional<Daemon> stale_;  // replaced, and unaware of it
  int daemons_ = 0;
  std::uint32_t queues_ = 0;
  Duration away_{};
  std::uint32_t next_queues_ = 0;
  Instant disk_healthy_until_{};

  std::multimap<Instant, std::function<void()>> later_;
  std::vector<const PlannedJob*> jobs_;
  std::map<std::string, TaskTruth> truths_;
  std::vector<bool> answered_;  // by batch
  Duration work_{};

  std::uint64_t events_ = 0;
  std::string log_;
  std::vector<std::string> trace_;
};

}  // namespace

RunResult run_seed(const RunRequest& request) { return Run(request).run(); }

}  // namespace gridfold::verify
