// The control loop: gathers events, lets the engine decide, commits the
// decisions against the revision they were made on, and only then gives the
// orders to the backend. The same loop runs live and in simulation; only its
// ports differ.
//
// Not thread-safe: one owner calls it. Live that is LoopThread
// (control/loop_thread.h), in simulation the event queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/backend.h"
#include "control/clock.h"
#include "control/executor.h"
#include "control/job_calendar.h"
#include "control/store.h"
#include "control/window_calendar.h"
#include "engine/engine.h"

namespace gridfold {

class StartEstimates;

// What one job of a batch asks for. Jobs that ask for the same may share it.
class SubmittedSpec {
 public:
  SubmittedSpec(JobSpec spec) : spec_(std::make_shared<const JobSpec>(std::move(spec))) {}
  SubmittedSpec(std::shared_ptr<const JobSpec> spec) : spec_(std::move(spec)) {}

  const JobSpec& operator*() const { return *spec_; }
  const JobSpec* operator->() const { return spec_.get(); }
  // Shared with the jobs' records: immutable.
  const std::shared_ptr<const JobSpec>& shared() const { return spec_; }

 private:
  std::shared_ptr<const JobSpec> spec_;
};

// One atomic batch of jobs. The key makes a repeated call harmless: the same
// key with the same body gives the first answer again, with another body
// kConflict.
struct SubmitRequest {
  std::string tenant = "default";
  std::string idempotency_key;  // empty: none
  std::string body_digest;      // of what the caller sent; compared on repeats
  std::vector<SubmittedSpec> jobs;
  bool held = false;
};
struct SubmittedJob {
  JobId id;
  std::string uid;
  std::string name;
};
struct SubmitAnswer {
  std::vector<SubmittedJob> jobs;  // in the order of the request
  bool repeated = false;
};

template <class T>
using Completion = std::function<void(Result<T>)>;

// What became of a job that has ended and left the engine.
struct EndedJob {
  JobRecord record;
};

// Whether jobs that have ended are kept under history/.
enum class History : std::uint8_t { kKeep, kDrop };

struct ControlOptions {
  History history = History::kKeep;
  // The queues there are: configuration, not records.
  QueueConfiguration queues;
  // When which nodes are closed: configuration as well.
  WindowCalendar windows;
  // Nodes that the backend can boot; it must be able to.
  std::vector<NodePool> pools;
  // What is submitted at which times.
  JobCalendar scheduled;
  // How often the backend's whole state is compared with ours; 0: only at start.
  Duration reconcile_interval = Duration::seconds(30);
  // Called with each committed turn's decisions, in order (decision log,
  // hashes, metrics).
  std::function<void(Instant, const Decisions&)> on_committed;
  // Called with each report of a task, in the turn that takes it in.
  std::function<void(const TaskReported&)> on_reported;
  // When waiting jobs are expected to start (control/start_estimates.h); null:
  // nobody asks. Told and asked by the loop, read by others on its thread.
  std::shared_ptr<StartEstimates> estimates;
  // Draws a UUIDv7's 74 random bits; seeded in simulation.
  std::function<std::uint64_t()> random_bits;
};

class ControlLoop {
 public:
  ControlLoop(ControlOptions options, Engine engine, Store& store, Backend& backend,
              Executor& executor, Clock& clock);
  ~ControlLoop();

  // Loads the store, restores the engine, opens the backend, reconciles. What
  // backend and executor tell the sink must be handed to post().
  Result<void> start(Backend::EventSink sink);

  // --- Input: takes effect in the next turn; completions are called from
  // within turn(), after the commit, or at once when the input is refused. ---
  void submit(SubmitRequest request, Completion<SubmitAnswer> done);
  // A user's or operator's request (JobCancelRequested, NodeDrainRequested, …).
  // Refused with kNotFound or kConflict when it names nothing or cannot apply.
  void request(Event event, Completion<void> done);
  // Takes over another configuration of the queues, whole or not at all, and of
  // how often to reconcile. Running work goes on, whatever it now exceeds.
  void reconfigure(QueueConfiguration queues, Duration reconcile_interval, Completion<void> done);
  // Takes over another calendar of windows.
  void set_windows(WindowCalendar windows);
  // A fact from the backend.
  void post(Event event);

  // One turn. Returns when the next is due if nothing comes in before.
  Instant turn();

  // --- Reading ---
  const Engine& engine() const;
  // A live job by id, public id (or a unique prefix of at least 8), or name
  // (the newest of this name).
  const JobRecord* find(std::string_view tenant, std::string_view reference) const;
  // Ended jobs, newest first, paged by number: those with id < before.
  Result<std::vector<EndedJob>> ended(JobId before, std::size_t count) const;
  Result<EndedJob> find_ended(std::string_view tenant, std::string_view reference) const;
  Backend& backend();
  // Set when the store cannot be written: nothing new is accepted, running
  // work goes on, and the loop tries again. Empty in normal operation.
  const std::optional<Error>& read_only() const;
  Revision revision() const;
  StartEstimates* estimates();  // null: there are none
  // When the next table of estimates is to be begun, as of the last turn(),
  // whose answer has it counted in.
  Instant next_estimate() const;

 private:
  void submit_what_is_due();

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridfold
