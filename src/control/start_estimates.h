// When waiting jobs will start: a table that a forward run makes now and then,
// outside the loop, and what is learned from how it turned out.
//
// Belongs to the control loop, which tells it of every committed turn. A new
// table is begun when something has changed since the last one, jobs wait, and
// the interval is over; one is under way at most. It is computed by the executor
// and comes back as a Solved event of number kForwardRun.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "control/change_finder.h"
#include "control/executor.h"
#include "control/forward_run.h"
#include "control/start_calibration.h"
#include "control/what_if.h"

namespace gridfold {

// An estimate that was given once, and when the job started at last.
struct SettledEstimate {
  JobId job;
  Instant at{};  // of the estimate
  WaitBand band;
  Duration waited{};   // from the estimate to the start
  bool first = false;  // of this job's
};

struct EstimateOptions {
  EngineOptions engine;  // those of the loop's engine
  MakePolicies make_policies;
  // At least so long from one table to the next.
  Duration interval = Duration::seconds(10);
  ForwardOptions forward;
  // Where tables are computed; null: where the loop's other problems are.
  Executor* executor = nullptr;
  // Where it is found out what would let a job start now, while somebody waits
  // for the answer; null: nowhere.
  Executor* advice = nullptr;
  // Told of each estimate whose job has started.
  std::function<void(const SettledEstimate&)> on_settled;
};

struct StartEstimate {
  Instant start = Instant::never();  // never(): not within the horizon of the run
  Instant from{};                    // 80 % of such starts lie in [from, until]
  Instant until{};
};

// One row a job that was waiting when the table was begun.
struct StartTable {
  Instant at{};
  Revision revision = 0;
  std::shared_ptr<const EngineSnapshot> snapshot;  // what it was made from
  bool complete = false;                           // the run left nothing out
  Instant horizon{};                               // how far it came
  std::int64_t events = 0;
  std::size_t learned = 0;                            // starts from which the bands were learned
  std::vector<std::pair<JobId, StartEstimate>> rows;  // in order of job

  // Null: the job was not waiting then.
  const StartEstimate* find(JobId job) const;
};

class StartEstimates {
 public:
  // Of the Solved event that brings a table.
  static constexpr std::uint64_t kForwardRun = UINT64_MAX;

  explicit StartEstimates(EstimateOptions options)
      : options_(std::move(options)),
        finder_(std::make_shared<ChangeFinder>(options_.make_policies)) {}

  // A turn was committed; the engine's records are those after it.
  void committed(const Engine& engine, const Decisions& decisions, Instant now);
  // Begins a table if one is due. Returns when to ask again without a turn in
  // between; never() when nothing would come of it.
  Instant consider(const Engine& engine, Instant now, Revision revision, Executor& executor,
                   const std::function<void(Event)>& sink);
  // The answer to the run under way.
  void take(const Solved& solved, const Engine& engine);

  // What would let the job start now: of this moment, unless the state is so
  // large that it is as of the last table. `done` is called from the executor's
  // thread; with null at once when nothing can be said.
  void find_changes(const Engine& engine, Instant now, Revision revision, JobId job,
                    std::function<void(std::shared_ptr<const ChangeAnswer>)> done);

  // What would be otherwise, of the same state. Computed where tables are.
  // `done` is called from that thread, or at once with what is wrong with the
  // question, kUnavailable where nothing can be computed.
  void what_if(const Engine& engine, Instant now, Revision revision, const WhatIfQuestion& question,
               std::function<void(Result<std::shared_ptr<const WhatIfAnswer>>)> done);

  // Null: there is none yet.
  const std::shared_ptr<const StartTable>& table() const { return table_; }
  const RunOutcomes& outcomes() const { return outcomes_; }
  const EstimateOptions& options() const { return options_; }

 private:
  struct Given {
    Instant at{};
    WaitBand band;
    bool first = false;
  };
  // Of a job that waits.
  struct Waiting {
    std::vector<Given> given;
    std::uint32_t seen = 0;  // tables that it was in
  };
  void settle(JobId job, Instant start);
  // The state a question is about; null: there is none yet.
  std::shared_ptr<const EngineSnapshot> asked_about(const Engine& engine, Instant now,
                                                    Revision revision);
  void remember(JobId job, Instant at, const WaitBand& band);

  // More nodes and jobs together are not copied for one question.
  static constexpr std::size_t kMostToCopy = 20'000;

  EstimateOptions options_;
  std::shared_ptr<ChangeFinder> finder_;         // shared with the questions under way
  std::shared_ptr<const EngineSnapshot> asked_;  // of the last question
  RunOutcomes outcomes_;
  StartCalibration calibration_;
  std::unordered_map<JobId, Waiting> waiting_;
  std::shared_ptr<const EngineSnapshot> under_way_;
  std::shared_ptr<const StartTable> table_;
  Instant last_ = Instant::never();  // when the last was begun
  bool changed_ = true;              // since then
};

}  // namespace gridfold
