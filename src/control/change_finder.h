// Finds what would let a job start now, outside the loop: the problem is handed
// to an executor. Keeps the copy of the engine that it tries things out on, for
// the next question about the same state.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "control/start_probe.h"
#include "model/solve.h"

namespace gridfold {

struct ChangeAnswer final : SolveAnswer {
  std::shared_ptr<const EngineSnapshot> snapshot;  // as of which it is true
  std::vector<StartChange> changes;                // the smallest first
};

class ChangeFinder {
 public:
  explicit ChangeFinder(MakePolicies make_policies) : make_policies_(std::move(make_policies)) {}

  // From any thread; questions wait for each other.
  std::shared_ptr<const ChangeAnswer> find(std::shared_ptr<const EngineSnapshot> snapshot,
                                           JobId job);

 private:
  MakePolicies make_policies_;
  std::mutex mutex_;
  std::shared_ptr<const EngineSnapshot> snapshot_;  // guarded by mutex_
  std::unique_ptr<StartProbe> probe_;               // likewise; of the snapshot
};

class ChangeProblem final : public SolveProblem {
 public:
  ChangeProblem(std::shared_ptr<ChangeFinder> finder,
                std::shared_ptr<const EngineSnapshot> snapshot, JobId job)
      : finder_(std::move(finder)), snapshot_(std::move(snapshot)), job_(job) {}
  // A hundred trials of the engine, about.
  std::int64_t steps() const override { return 100'000'000; }
  std::shared_ptr<const SolveAnswer> solve() const override {
    return finder_->find(snapshot_, job_);
  }

 private:
  std::shared_ptr<ChangeFinder> finder_;  // shared with who asks
  std::shared_ptr<const EngineSnapshot> snapshot_;
  JobId job_;
};

}  // namespace gridfold
