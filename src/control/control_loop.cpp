#include "control/control_loop.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_writer.h"
#include "base/planted.h"
#include "control/idempotency.h"
#include "control/job_change.h"
#include "control/job_lookup.h"
#include "control/reconcile.h"
#include "control/records.h"
#include "control/run_history.h"
#include "control/start_estimates.h"
#include "control/uuid.h"
#include "wire/job_file.h"
#include "wire/job_json.h"

namespace gridfold {
namespace {

constexpr Duration kRetryWhenReadOnly = Duration::seconds(1);

// What the next turn is told, and whom to tell if it cannot be stored: facts
// are told again, users are told why instead.
enum class Source : std::uint8_t { kFact, kUser };
struct Inbox {
  std::vector<Event> events;    // in order of arrival
  std::vector<Source> sources;  // beside them

  void push(Event event, Source source = Source::kFact) {
    events.push_back(std::move(event));
    sources.push_back(source);
  }
  void push_first(Event event) {
    events.insert(events.begin(), std::move(event));
    sources.insert(sources.begin(), Source::kFact);
  }
  void truncate(std::size_t size) {
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(size), events.end());
    sources.resize(size);
  }
  void clear() {
    events.clear();
    sources.clear();
  }
  void swap(Inbox& other) noexcept {
    events.swap(other.events);
    sources.swap(other.sources);
  }
};

// Launch orders of one job after another. Kept between turns for its memory.
class LaunchOrders {
 public:
  // The tasks of this run in order give the ranks.
  void begin(const JobRecord& record, std::span<const NodeRecord> nodes) {
    order_.job_uid = record.uid;
    order_.spec = record.spec;
    ranks_.resize(record.tasks.size());
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < record.tasks.size(); ++i) {
      if (record.tasks[i].phase != TaskPhase::kIdle) ranks_[i] = size++;
    }
    order_.world_size = size;
    order_.peers.resize(size);
    for (std::size_t i = 0; i < record.tasks.size(); ++i) {
      const TaskRecord& task = record.tasks[i];
      if (task.phase == TaskPhase::kIdle) continue;
      order_.peers[ranks_[i]] = nodes[task.allocation.node.value].spec.name;
    }
  }
  const LaunchOrder& of(const JobRecord& record, std::uint32_t index) {
    const TaskRecord& task = record.tasks[index];
    order_.task = {record.id, index};
    order_.attempt = task.attempt;
    order_.node = order_.peers[ranks_[index]];
    order_.devices = task.allocation.devices;
    order_.start = task.allocation.start;
    order_.rank = ranks_[index];
    return order_;
  }

 private:
  LaunchOrder order_;
  std::vector<std::uint32_t> ranks_;  // by task; of the idle ones meaningless
};

}  // namespace

struct ControlLoop::State {
  State(ControlOptions o, Engine e, Store& s, Backend& b, Executor& x, Clock& c)
      : options(std::move(o)), engine(std::move(e)), store(s), backend(b), executor(x), clock(c) {}

  ControlOptions options;
  Engine engine;
  Store& store;
  Backend& backend;
  Executor& executor;
  Clock& clock;
  Instant next_estimate = Instant::never();
  Backend::EventSink sink;

  records::Meta meta;
  Revision meta_revision = 0;  // of live/meta: ours as long as we own the store
  Revision revision = 0;
  bool meta_changed = false;

  Inbox inbox;  // for the next turn
  Inbox taken;  // by the turn in progress
  std::vector<Completion<void>> requests;
  struct Submitting {
    SubmitAnswer answer;
    Completion<SubmitAnswer> done;
  };
  std::vector<Submitting> submissions;
  std::vector<Submitting> answering;  // empty between turns
  LaunchOrders orders;
  IdempotencyKeys keys;
  JobLookup lookup{engine, store};

  std::optional<Error> read_only;
  bool fenced_off = false;  // another daemon owns the store: for good
  Instant retry_at = Instant::never();
  Instant reconcile_at = Instant::never();
  Instant windows_at{};  // when the engine is to be told of windows again

  Result<void> load();
  Error why_read_only() const;
  Error no_open_queue(const std::string& name) const;
  Result<std::vector<DependencyRecord>> resolve(const SubmitRequest& request, std::size_t index,
                                                std::span<const SubmittedJob> batch,
                                                std::optional<Reason>& never) const;
  void run_reconcile(HeldOrders held);
  void tell_windows();
  bool has_to_store(const Decisions& decisions) const;
  Transaction transaction_for(const Decisions& decisions,
                              std::span<const std::string> expired) const;
  void carry_out(const Decisions& decisions);
  void forget_if_recorded(TaskId task, std::uint32_t attempt);
  void stop(const JobRecord& record, std::uint32_t task, StopCause cause);
  Instant take_turn();
  Instant next_scheduled() const;
  void committed(Instant now, const Decisions& decisions);
  void stop_what_is_saved(const TaskReported& report);
  bool owns_store();
  void refuse_waiting();
  void rejected(const Decisions& decisions, const Error& error);
  template <class Answer>
  void answer_requests(Answer answer);
  template <class Answer>
  void answer_submissions(Answer answer);
};

ControlLoop::ControlLoop(ControlOptions options, Engine engine, Store& store, Backend& backend,
                         Executor& executor, Clock& clock)
    : state_(std::make_unique<State>(std::move(options), std::move(engine), store, backend,
                                     executor, clock)) {}
ControlLoop::~ControlLoop() = default;

const Engine& ControlLoop::engine() const { return state_->engine; }
Backend& ControlLoop::backend() { return state_->backend; }
const std::optional<Error>& ControlLoop::read_only() const { return state_->read_only; }
Revision ControlLoop::revision() const { return state_->revision; }
StartEstimates* ControlLoop::estimates() { return state_->options.estimates.get(); }
Instant ControlLoop::next_estimate() const { return state_->next_estimate; }

// --- Start ---

Result<void> ControlLoop::start(Backend::EventSink sink) {
  State& s = *state_;
  if (!s.options.pools.empty() && !s.backend.capabilities().boots_nodes)
    return invalid("there are pools of nodes, and the backend boots none");
  s.sink = sink;
  if (auto loaded = s.load(); !loaded) return loaded;
  // Owning the store: whoever wrote live/meta last. Every later commit
  // compares its revision, so a daemon that was replaced cannot write.
  ++s.meta.epoch;
  Transaction claim;
  claim.compare.push_back({"live/meta", s.meta_revision});
  claim.put.emplace_back("live/meta", records::encode(s.meta));
  const auto revision = s.store.commit(claim);
  if (!revision) return revision.error().with_context("taking over the store");
  s.revision = s.meta_revision = *revision;
  if (auto opened = s.backend.open(std::move(sink)); !opened) return opened;
  s.options.scheduled.begin(s.clock.now());
  s.tell_windows();
  if (!s.options.pools.empty()) s.inbox.push(PoolsPlanned{s.options.pools});
  s.run_reconcile(HeldOrders::kMayBeLost);
  return {};
}

// Kept in the inbox until a turn takes it, and told again if that is not stored.
void ControlLoop::State::tell_windows() {
  const Instant now = clock.now();
  windows_at = options.windows.next(now);
  if (!options.windows.empty() || !engine.windows().empty())
    inbox.push(WindowsPlanned{options.windows.windows(now)});
}

Result<void> ControlLoop::State::load() {
  const auto snapshot = store.load("live/");
  if (!snapshot) return snapshot.error();
  revision = snapshot->revision;

  std::vector<NodeRecord> nodes;
  std::map<JobId, std::shared_ptr<const JobSpec>> specs;
  std::vector<std::pair<JobId, const KeyValue*>> job_entries;
  std::vector<UsageRecord> usages;
  for (const KeyValue& entry : snapshot->entries) {
    const std::string_view key = entry.key;
    if (key == "live/meta") {
      const auto read = records::decode_meta(entry.value);
      if (!read) return read.error();
      meta = *read;
      meta_revision = entry.revision;
    } else if (key.starts_with("live/node/")) {
      auto node = records::decode_node(key.substr(10), entry.value);
      if (!node) return node.error();
      nodes.push_back(std::move(*node));
    } else if (key.starts_with("live/spec/")) {
      const auto id = records::job_of_key(key);
      if (!id) return id.error();
      auto spec = parse_stored_job(entry.value);
      if (!spec) return corrupt("record " + entry.key + ": " + spec.error().describe());
      specs[*id] = std::make_shared<const JobSpec>(std::move(*spec));
    } else if (key.starts_with("live/job/")) {
      const auto id = records::job_of_key(key);
      if (!id) return id.error();
      job_entries.emplace_back(*id, &entry);
    } else if (key.starts_with("live/schedule/")) {
      if (auto restored = options.scheduled.restore(key, entry.value); !restored) return restored;
    } else if (key.starts_with("live/usage/")) {
      auto usage = records::decode_usage(key, entry.value);
      if (!usage) return usage.error();
      usages.push_back(std::move(*usage));
    } else if (key.starts_with("live/key/")) {
      if (GRIDFOLD_PLANTED_BUG(forget_key_on_restart)) continue;
      if (auto restored = keys.restore(key, entry.value); !restored) return restored;
    }
  }

  // In the order of their numbers, so that ids are as they were.
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeRecord& a, const NodeRecord& b) { return a.id < b.id; });
  std::map<std::string, NodeId, std::less<>> by_name;
  std::vector<Event> events;
  events.emplace_back(QueuesConfigured{options.queues});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = NodeId(static_cast<std::uint32_t>(i));
    by_name[nodes[i].spec.name] = nodes[i].id;
    events.emplace_back(NodeRestored{nodes[i]});
  }
  for (UsageRecord& usage : usages) events.emplace_back(UsageRestored{std::move(usage)});
  const auto find_node = [&](std::string_view name) {
    const auto it = by_name.find(name);
    return it == by_name.end() ? NodeId::none() : it->second;
  };
  for (const auto& [id, entry] : job_entries) {
    auto record = records::decode_job(id, entry->value, find_node);
    if (!record) return record.error();
    const auto spec = specs.find(id);
    if (spec == specs.end())
      return corrupt("record " + entry->key + " has no " + records::spec_key(id) + " beside it");
    record->spec = spec->second;
    if (GRIDFOLD_PLANTED_BUG(crash_after_queue_deletion)) {
      const bool there =
          std::any_of(options.queues.queues.begin(), options.queues.queues.end(),
                      [&](const QueueSpec& q) { return q.name == record->spec->queue; });
      if (!there) return corrupt("record " + entry->key + " names a queue that is gone");
    }
    if (record->tasks.size() != static_cast<std::size_t>(record->spec->task_count()))
      return corrupt("record " + entry->key + ": its tasks and its spec differ in number");
    lookup.add(*record);
    events.emplace_back(JobRestored{std::move(*record)});
  }
  if (engine.learns_from_history()) {
    auto ended = read_ended_jobs(store);
    if (!ended) return ended.error();
    events.emplace_back(HistoryRestored{std::move(*ended)});
  }
  // No node is up yet and no time passes: records go in, nothing is decided.
  const Decisions& restored = engine.step(Instant{}, events);
  assert(restored.list.empty() && restored.changed_jobs.empty());
  for (const Solve& solve : restored.solves) executor.run(solve, sink);
  return {};
}

// --- Input ---

Error ControlLoop::State::why_read_only() const {
  Error error = *read_only;
  error.kind = ErrorKind::kUnavailable;
  error.hint = fenced_off ? "another daemon has taken over this store; stop this one"
                          : "free some space or make the store writable; the daemon tries again "
                            "by itself";
  return error.with_context("the store cannot be written, nothing new is accepted");
}

void ControlLoop::post(Event event) {
  if (const auto* solved = std::get_if<Solved>(&event);
      solved != nullptr && solved->id == StartEstimates::kForwardRun) {
    if (state_->options.estimates) state_->options.estimates->take(*solved, state_->engine);
    return;
  }
  state_->inbox.push(std::move(event));
}

void ControlLoop::request(Event event, Completion<void> done) {
  State& s = *state_;
  if (s.read_only) return done(s.why_read_only());
  const auto check_job = [&](JobId id, auto ok, const char* verb) -> Result<void> {
    const JobRecord* job = s.engine.job(id);
    if (job == nullptr) return not_found("there is no live job " + std::to_string(id.value));
    if (ok(*job)) return {};
    return conflict("job " + job->uid + " is " + std::string(to_string(job->state)) +
                    ": it cannot be " + verb);
  };
  const auto check_node = [&](const std::string& name) -> Result<void> {
    for (const NodeRecord& node : s.engine.nodes())
      if (node.spec.name == name) return {};
    return not_found("there is no node " + name);
  };
  Result<void> allowed;
  if (const auto* e = std::get_if<JobCancelRequested>(&event)) {
    allowed = check_job(
        e->job, [](const JobRecord& j) { return !is_terminal(j.state); }, "cancelled");
  } else if (const auto* h = std::get_if<JobHoldRequested>(&event)) {
    allowed = check_job(
        h->job, [](const JobRecord& j) { return j.state == JobState::kPending; }, "held");
  } else if (const auto* r = std::get_if<JobReleaseRequested>(&event)) {
    allowed = check_job(
        r->job, [](const JobRecord& j) { return j.held; }, "released, for it is not held");
  } else if (const auto* q = std::get_if<JobRequeueRequested>(&event)) {
    allowed = check_job(
        q->job,
        [](const JobRecord& j) { return !is_terminal(j.state) && j.state != JobState::kPending; },
        "requeued, for it does not run");
  } else if (const auto* c = std::get_if<JobChangeRequested>(&event)) {
    const JobRecord* job = s.engine.job(c->job);
    allowed = job == nullptr
                  ? Result<void>(not_found("there is no live job " + std::to_string(c->job.value)))
                  : check_job_change(*job, *c);
  } else if (const auto* d = std::get_if<NodeDrainRequested>(&event)) {
    allowed = check_node(d->node);
  }
  if (!allowed) return done(allowed);
  s.inbox.push(std::move(event), Source::kUser);
  s.requests.push_back(std::move(done));
}

void ControlLoop::reconfigure(QueueConfiguration queues, Duration reconcile_interval,
                              Completion<void> done) {
  request(QueuesConfigured{std::move(queues)},
          [s = state_.get(), reconcile_interval, done = std::move(done)](Result<void> taken) {
            if (taken && s->options.reconcile_interval != reconcile_interval) {
              s->options.reconcile_interval = reconcile_interval;
              s->reconcile_at = s->clock.now();  // and from now on by the new one
            }
            done(std::move(taken));
          });
}

void ControlLoop::set_windows(WindowCalendar windows) {
  state_->options.windows = std::move(windows);
  state_->windows_at = state_->clock.now();
}

// Edges whose parent is still to end. An edge that can never be met any more
// sets `never`.
Result<std::vector<DependencyRecord>> ControlLoop::State::resolve(
    const SubmitRequest& request, std::size_t index, std::span<const SubmittedJob> batch,
    std::optional<Reason>& never) const {
  std::vector<DependencyRecord> edges;
  for (const Dependency& edge : request.jobs[index]->after) {
    std::optional<JobId> parent;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (i != index && batch[i].name == edge.job) parent = batch[i].id;
    }
    if (!parent) {
      if (const JobRecord* live = lookup.find(request.tenant, edge.job)) parent = live->id;
    }
    if (parent) {
      edges.push_back({*parent, edge.condition});
      continue;
    }
    const auto ended = lookup.find_ended(request.tenant, edge.job);
    if (!ended) {
      Error error = invalid("there is no job \"" + edge.job + "\" to wait for");
      error.field = "after";
      error.hint = "name a job of this batch, or give the id of one that exists";
      return error;
    }
    if (!is_satisfied(edge.condition, ended->state, ended->runs))
      never = Reason(ReasonCode::kDependencyNeverMet,
                     {{"job", ended->uid}, {"condition", std::string(to_string(edge.condition))}});
  }
  return edges;
}

Error ControlLoop::State::no_open_queue(const std::string& name) const {
  const bool exists = engine.queue(name) != nullptr;
  Error error = invalid(exists ? "queue \"" + name + "\" takes no jobs"
                               : "there is no queue \"" + name + "\"");
  error.field = "queue";
  std::string names;
  for (const QueueSpec& queue : engine.queues()) {
    if (queue.open) names += (names.empty() ? "" : ", ") + queue.name;
  }
  error.hint = "open queues: " + names;
  return error;
}

void ControlLoop::submit(SubmitRequest request, Completion<SubmitAnswer> done) {
  State& s = *state_;
  if (s.read_only) return done(s.why_read_only());
  const Instant now = s.clock.now();
  const auto before = s.keys.find(request);
  if (!before) return done(before.error());
  if (*before != nullptr) {
    // The first may still wait for its commit: answered with it.
    s.submissions.push_back({**before, std::move(done)});
    return;
  }
  std::vector<SubmittedJob> batch;
  batch.reserve(request.jobs.size());
  for (const SubmittedSpec& job : request.jobs) {
    const JobId id(s.meta.next_job + batch.size());
    batch.push_back(
        {id, make_uuid7(now, s.options.random_bits(), s.options.random_bits()), job->name});
  }
  const std::size_t before_batch = s.inbox.events.size();
  const auto refuse = [&](Error error) {
    s.inbox.truncate(before_batch);
    done(std::move(error));
  };
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    SubmittedSpec& job = request.jobs[i];
    const QueueSpec* queue = s.engine.queue(job->queue);
    if (queue == nullptr || !queue->open) return refuse(s.no_open_queue(job->queue));
    if (const auto& asked = job->time_limit;
        !asked.is_unlimited() && !queue->longest_run.allows(asked.bound())) {
      Error error = invalid("the time limit " + to_text(asked.bound()) +
                            " is longer than queue \"" + job->queue + "\" lets its jobs run");
      error.field = "time_limit";
      error.hint = "at most " + to_text(queue->longest_run.bound()) + "; or use another queue";
      return refuse(std::move(error));
    }
    if (job->tenant != request.tenant) {
      JobSpec own = *job;
      own.tenant = request.tenant;
      job = SubmittedSpec(std::move(own));
    }
    std::optional<Reason> never;
    auto edges = s.resolve(request, i, batch, never);
    if (!edges) return refuse(edges.error());
    s.inbox.push(JobSubmitted{batch[i].id, batch[i].uid, job.shared(), std::move(*edges),
                              request.held, std::move(never)},
                 Source::kUser);
  }
  // Nothing can refuse the batch any more.
  s.meta.next_job += batch.size();
  s.meta_changed = true;
  SubmitAnswer answer{std::move(batch)};
  s.keys.add(request, now, answer);
  if (GRIDFOLD_PLANTED_BUG(ack_before_commit)) {
    done(answer);
    done = [](Result<SubmitAnswer>) {};
  }
  s.submissions.push_back({std::move(answer), std::move(done)});
}

// One batch for each time. The key keeps it from being submitted twice whatever
// becomes of this daemon; a batch that is refused is not tried again.
void ControlLoop::submit_what_is_due() {
  State& s = *state_;
  if (s.read_only) return;
  for (const JobCalendar::Due& due : s.options.scheduled.take_due(s.clock.now())) {
    SubmitRequest request;
    request.tenant = due.jobs->tenant;
    request.idempotency_key = "schedule/" + due.jobs->name + "/" + to_rfc3339(due.at);
    request.body_digest = request.idempotency_key;
    for (const JobSpec& job : due.jobs->jobs) request.jobs.emplace_back(job);
    submit(std::move(request), [](Result<SubmitAnswer>) {});
  }
}

// While nothing can be stored, nothing is submitted.
Instant ControlLoop::State::next_scheduled() const {
  return read_only ? Instant::never() : options.scheduled.next();
}

// --- One turn ---

Instant ControlLoop::turn() {
  State& s = *state_;
  submit_what_is_due();
  const Instant due = std::min(s.take_turn(), s.next_scheduled());
  s.next_estimate = Instant::never();
  // While the store cannot be written the engine believes in a turn that is not
  // stored.
  if (s.options.estimates && !s.read_only) {
    s.next_estimate =
        s.options.estimates->consider(s.engine, s.clock.now(), s.revision, s.executor, s.sink);
  }
  return std::min(due, s.next_estimate);
}

Instant ControlLoop::State::take_turn() {
  const Instant now = clock.now();
  if (windows_at <= now) tell_windows();
  if (reconcile_at <= now) run_reconcile(HeldOrders::kWereGiven);
  const bool retry_due = retry_at <= now;
  const Instant wake = std::min({engine.next_wake(), reconcile_at, windows_at});
  if (fenced_off) return Instant::never();
  if (read_only && !retry_due) return retry_at;
  if (inbox.events.empty() && submissions.empty() && engine.next_wake() > now && !retry_due &&
      !options.scheduled.any_new())
    return wake;

  inbox.swap(taken);
  const Decisions& decisions = engine.step(now, taken.events);
  // Pure work, so it need not wait for the commit.
  for (const Solve& solve : decisions.solves) executor.run(solve, sink);
  if (has_to_store(decisions)) {
    const std::vector<std::string> expired = keys.expire(now);
    const auto write = [&] { return transaction_for(decisions, expired); };
    const auto stored = store.commit_lazily(std::cref(write));
    if (!stored) {
      rejected(decisions, stored.error());
      taken.clear();
      return retry_at;
    }
    revision = *stored;
    if (meta_changed) meta_revision = *stored;
    meta_changed = false;
  }
  committed(now, decisions);
  taken.clear();
  return std::min({engine.next_wake(), reconcile_at, windows_at});
}

// Whether the turn leaves anything for the store: not a job that came and
// ended within it, when no history is kept.
bool ControlLoop::State::has_to_store(const Decisions& decisions) const {
  if (keys.any_new() || options.scheduled.any_new()) return true;
  const std::size_t nodes = engine.nodes().size();
  for (const NodeId node : decisions.changed_nodes)
    if (node.value < nodes) return true;
  for (const JobId id : decisions.changed_jobs) {
    const JobRecord* record = engine.job(id);
    if (record == nullptr) continue;
    if (!is_terminal(record->state) || !decisions.is_new(id) || options.history == History::kKeep)
      return true;
  }
  return false;
}

Transaction ControlLoop::State::transaction_for(const Decisions& decisions,
                                                std::span<const std::string> expired) const {
  Transaction transaction;
  if (!GRIDFOLD_PLANTED_BUG(stale_leader_writes))
    transaction.compare.push_back({"live/meta", meta_revision});
  if (meta_changed) transaction.put.emplace_back("live/meta", records::encode(meta));
  const auto nodes = engine.nodes();
  for (const NodeId node : decisions.changed_nodes) {
    if (node.value >= nodes.size()) continue;  // its joining was undone
    const NodeRecord& record = nodes[node.value];
    transaction.put.emplace_back(records::node_key(record.spec.name), records::encode_node(record));
  }
  for (const JobId id : decisions.changed_jobs) {
    const JobRecord* record = engine.job(id);
    if (record == nullptr) continue;  // its submission was undone
    if (!is_terminal(record->state)) {
      transaction.put.emplace_back(records::job_key(id), records::encode_job(*record, nodes));
      if (decisions.is_new(id))
        transaction.put.emplace_back(records::spec_key(id), to_json(*record->spec));
      continue;
    }
    if (!decisions.is_new(id)) {
      transaction.erase.push_back(records::job_key(id));
      transaction.erase.push_back(records::spec_key(id));
    }
    if (options.history == History::kDrop) continue;
    std::string value = "{\"record\":" + records::encode_job(*record, nodes) +
                        ",\"spec\":" + to_json(*record->spec) + "}";
    transaction.put.emplace_back(records::history_key(id), std::move(value));
    transaction.put.emplace_back(records::history_uid_key(record->uid), std::to_string(id.value));
    transaction.put.emplace_back(
        records::history_name_key(record->spec->tenant, record->spec->name, id), record->uid);
  }
  for (const UsageRecord& usage : engine.changed_usage())
    transaction.put.emplace_back(records::usage_key(usage), records::encode_usage(usage));
  for (const JobId id : decisions.changed_specs) {
    const JobRecord* record = engine.job(id);
    if (record != nullptr && !is_terminal(record->state) && !decisions.is_new(id))
      transaction.put.emplace_back(records::spec_key(id), to_json(*record->spec));
  }
  keys.put_new(transaction);
  options.scheduled.put_new(transaction);
  transaction.erase.insert(transaction.erase.end(), expired.begin(), expired.end());
  return transaction;
}

void ControlLoop::State::committed(Instant now, const Decisions& decisions) {
  read_only.reset();
  retry_at = Instant::never();
  keys.new_are_stored();
  options.scheduled.new_are_stored();
  for (const JobId id : decisions.changed_jobs) {
    const JobRecord* record = engine.job(id);
    if (record == nullptr) continue;
    if (is_terminal(record->state)) {
      if (!decisions.is_new(id)) lookup.remove(*record);
    } else if (decisions.is_new(id)) {
      lookup.add(*record);
    }
  }
  carry_out(decisions);
  for (const Event& event : taken.events) {
    const auto* cleaned = std::get_if<TaskCleaned>(&event);
    const auto* failed = std::get_if<LaunchFailed>(&event);
    if (cleaned != nullptr) forget_if_recorded(cleaned->task, cleaned->attempt);
    if (failed != nullptr) forget_if_recorded(failed->task, failed->attempt);
    const auto* reported = std::get_if<TaskReported>(&event);
    if (reported != nullptr && options.on_reported) options.on_reported(*reported);
    if (reported != nullptr && reported->report.saved) stop_what_is_saved(*reported);
  }
  if (options.on_committed) options.on_committed(now, decisions);
  if (options.estimates) options.estimates->committed(engine, decisions, now);
  if (!decisions.changed_jobs.empty() || !decisions.changed_nodes.empty())
    inbox.push_first(TurnCommitted{decisions.turn});

  answer_requests([] { return Result<void>(); });
  answer_submissions([](Submitting& waiting) { return std::move(waiting.answer); });
}

// Whoever is answered may ask again: that waits for the next turn.
template <class Answer>
void ControlLoop::State::answer_requests(Answer answer) {
  if (requests.empty()) return;
  for (const Completion<void>& done : std::exchange(requests, {})) done(answer());
}

template <class Answer>
void ControlLoop::State::answer_submissions(Answer answer) {
  submissions.swap(answering);
  for (Submitting& waiting : answering) waiting.done(answer(waiting));
  answering.clear();
}

// Nothing of the turn happened. Facts are told again; users are told why.
void ControlLoop::State::rejected(const Decisions& decisions, const Error& error) {
  read_only = error;
  fenced_off = error.kind == ErrorKind::kConflict;
  retry_at = clock.now() + kRetryWhenReadOnly;
  Inbox again;
  again.push(TurnRejected{decisions.turn});
  for (std::size_t i = 0; i < taken.events.size(); ++i) {
    if (taken.sources[i] == Source::kFact) again.push(std::move(taken.events[i]));
  }
  for (std::size_t i = 0; i < inbox.events.size(); ++i)
    again.push(std::move(inbox.events[i]), inbox.sources[i]);
  inbox = std::move(again);
  refuse_waiting();
}

void ControlLoop::State::refuse_waiting() {
  keys.forget_new();
  options.scheduled.forget_new();
  answer_requests([this] { return Result<void>(why_read_only()); });
  answer_submissions([this](const Submitting&) { return why_read_only(); });
}

// Asked before orders that follow no commit of ours. A daemon that was
// replaced is fenced off by the answer: it would take the work of its
// successor for strangers' and kill it.
bool ControlLoop::State::owns_store() {
  if (GRIDFOLD_PLANTED_BUG(stale_leader_orders)) return true;
  Transaction ours;
  ours.compare.push_back({"live/meta", meta_revision});
  const auto owned = store.commit(ours);
  if (owned) return true;
  if (owned.error().kind == ErrorKind::kConflict) {
    read_only = owned.error();
    fenced_off = true;
    refuse_waiting();
  }
  return false;
}

// --- Orders ---

void ControlLoop::State::carry_out(const Decisions& decisions) {
  JobId begun = JobId::none();  // a job's launches come together
  for (const Decision& decision : decisions.list) {
    if (const auto* order = std::get_if<LaunchTask>(&decision)) {
      const JobRecord* record = engine.job(order->task.job);
      if (record == nullptr) continue;
      // Stopped again within the same turn: never launched.
      const TaskRecord& task = record->tasks[order->task.index];
      if (task.attempt != order->attempt || task.phase != TaskPhase::kHeld) continue;
      if (std::exchange(begun, record->id) != record->id) orders.begin(*record, engine.nodes());
      backend.launch(orders.of(*record, order->task.index));
    } else if (const auto* end = std::get_if<StopTask>(&decision)) {
      const JobRecord* record = engine.job(end->task.job);
      if (record == nullptr) continue;
      // Gone within the same turn (its node was lost): nothing is left to stop.
      const TaskRecord& task = record->tasks[end->task.index];
      if (task.attempt != end->attempt || task.phase != TaskPhase::kStopping) continue;
      stop(*record, end->task.index, end->cause);
    } else if (const auto* started = std::get_if<BootNode>(&decision)) {
      const NodeRecord& node = engine.nodes()[started->node.value];
      if (node.power == NodePower::kBooting) backend.boot(node.spec);
    } else if (const auto* released = std::get_if<ReleaseNode>(&decision)) {
      const NodeRecord& node = engine.nodes()[released->node.value];
      if (node.power == NodePower::kReleasing) backend.release(node.spec.name);
    }
  }
}

// A report that came before the one it follows has changed nothing: then the
// backend's record is the only one that knows how the attempt ended.
void ControlLoop::State::forget_if_recorded(TaskId id, std::uint32_t attempt) {
  const JobRecord* record = engine.job(id.job);
  if (record != nullptr && id.index < record->tasks.size()) {
    const TaskRecord& task = record->tasks[id.index];
    const bool ended = !holds_allocation(task.phase) || task.phase == TaskPhase::kBackoff ||
                       task.phase == TaskPhase::kWaiting;
    if (task.attempt == attempt && !ended) return;
  }
  backend.forget(id, attempt);
}

void ControlLoop::State::stop(const JobRecord& record, std::uint32_t index, StopCause cause) {
  const TaskRecord& task = record.tasks[index];
  const bool comes_back = cause == StopCause::kPreempt || cause == StopCause::kRequeue ||
                          cause == StopCause::kTimeLimit || cause == StopCause::kResize;
  const Stop how = comes_back ? record.spec->effective_stop() : record.spec->stop;
  backend.stop({{record.id, index},
                task.attempt,
                engine.nodes()[task.allocation.node.value].spec.name,
                how.signal,
                how.grace});
}

// A job that was asked to save before its stop has said that it did: it need not
// use up the grace that it has for saving, and is stopped as any other. Its word
// counts for all of its tasks.
void ControlLoop::State::stop_what_is_saved(const TaskReported& report) {
  const JobRecord* record = engine.job(report.task.job);
  if (record == nullptr || !record->spec->checkpoint || report.task.index >= record->tasks.size())
    return;
  const TaskRecord& speaker = record->tasks[report.task.index];
  if (speaker.attempt != report.attempt || speaker.phase != TaskPhase::kStopping) return;
  for (std::uint32_t i = 0; i < record->tasks.size(); ++i) {
    const TaskRecord& task = record->tasks[i];
    if (task.phase != TaskPhase::kStopping || task.shed != speaker.shed) continue;
    backend.stop({{record->id, i},
                  task.attempt,
                  engine.nodes()[task.allocation.node.value].spec.name,
                  record->spec->stop.signal,
                  record->spec->stop.grace});
  }
}

void ControlLoop::State::run_reconcile(HeldOrders held) {
  reconcile_at = options.reconcile_interval.ns <= 0 ? Instant::never()
                                                    : clock.now() + options.reconcile_interval;
  // A turn that was not stored must not be acted on.
  if (read_only || !owns_store()) return;
  const auto observed = backend.observe();
  if (!observed) return;  // out of reach: nothing is known, so nothing is concluded
  const std::vector<const JobRecord*> jobs = engine.jobs();
  Reconciliation result = reconcile(jobs, engine.nodes(), *observed, held);
  for (Event& event : result.events) inbox.push(std::move(event));
  for (const auto& again : result.launch) {
    const JobRecord& record = *engine.job(again.task.job);
    orders.begin(record, engine.nodes());
    backend.launch(orders.of(record, again.task.index));
  }
  for (const auto& again : result.stop) {
    const JobRecord& record = *engine.job(again.task.job);
    const bool is_shed = record.tasks[again.task.index].shed;
    stop(record, again.task.index, is_shed ? StopCause::kPreempt : record.stopping);
  }
  for (const NodeId node : result.boot) backend.boot(engine.nodes()[node.value].spec);
  for (const NodeId node : result.release) backend.release(engine.nodes()[node.value].spec.name);
  for (const StopOrder& order : result.kill) backend.stop(order);
  for (const auto& again : result.forget) backend.forget(again.task, again.attempt);
}

// --- Reading ---

const JobRecord* ControlLoop::find(std::string_view tenant, std::string_view reference) const {
  return state_->lookup.find(tenant, reference);
}

Result<EndedJob> ControlLoop::find_ended(std::string_view tenant,
                                         std::string_view reference) const {
  auto record = state_->lookup.find_ended(tenant, reference);
  if (!record) return record.error();
  return EndedJob{std::move(*record)};
}

Result<std::vector<EndedJob>> ControlLoop::ended(JobId before, std::size_t count) const {
  auto records = state_->lookup.ended(before, count);
  if (!records) return records.error();
  std::vector<EndedJob> jobs;
  for (JobRecord& record : *records) jobs.push_back({std::move(record)});
  return jobs;
}

}  // namespace gridfold
