// What the engine keeps of a policy that decides in rounds: see round_policy.h
// for the policy, rounds.cpp for what is done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "engine/round_policy.h"
#include "model/reason.h"
#include "model/record.h"
#include "model/solve.h"

namespace gridfold {

struct EngineJob;

// The plan, and whom it is about: jobs that came or moved since are left alone.
struct RoundAnswer final : SolveAnswer {
  RoundPlan plan;
  std::vector<JobId> viewed;
};

class RoundProblem final : public SolveProblem {
 public:
  RoundProblem(std::shared_ptr<RoundPolicy> policy, RoundView view)
      : policy_(std::move(policy)), view_(std::move(view)) {}

  // Known once it is solved, and so it solves it.
  std::int64_t steps() const override {
    solve();
    return steps_;
  }
  std::shared_ptr<const SolveAnswer> solve() const override;

 private:
  std::shared_ptr<RoundPolicy> policy_;
  RoundView view_;
  // The policy is asked once a round. One thread at a time.
  mutable std::shared_ptr<const RoundAnswer> answer_;
  mutable std::int64_t steps_ = 0;
};

struct Rounds {
  std::shared_ptr<RoundPolicy> policy;  // null: nothing goes by rounds
  std::set<JobId> jobs;                 // those that do and have not ended
  Instant due = Instant::never();       // when the policy is asked next
  std::int64_t last = -1;               // multiple of round() at which it was asked last
  std::uint64_t views = 0;
  std::uint64_t awaited = 0;     // the Solve whose answer is awaited; 0: none
  std::uint64_t adopted = 0;     // the last one answered,
  std::uint64_t adopted_in = 0;  // and in which turn
};

// One job for which the plan says something else than is.
struct RoundChange {
  EngineJob* job = nullptr;
  std::vector<RoundPlace> places;  // wanted, in the order of tasks; none: it waits
  std::int64_t from = 0;           // tasks
  std::int64_t to = 0;
  std::vector<Allocation> at;    // by task, once they are bound
  std::vector<JobId> victims;    // fillers that make room for it
  std::optional<Reason> missed;  // why it stays as it is after all
};

}  // namespace gridfold
