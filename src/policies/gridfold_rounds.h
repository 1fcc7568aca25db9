// The policy `gridfold` for training whose size may change. Once a round it
// shares out devices at the least sum over jobs of
//
//   weight / (goodput / goodput at a fair share)^evenness
//
// where the fair share lies on the fewest nodes, and the weight falls with the
// work that is left, so that short jobs come first and long ones are never
// without: (reference / seconds left)^order. A change of places is reckoned by what a restart
// leaves of the time until the next change or the job's end. Devices of several types are shared
// out at once: how fast a job goes on each is a part of the choice.
//
// With the objective `makespan`, gangs that declare their rates and their length
// get what lets all of them end soonest (type_shares.h); other jobs as before.
//
// What it may use is a setting:
//   nothing   the job's own reports; what is left is guessed from what it had, and
//             of a job of fixed size from those that have ended
//             (gridfold_lengths.h): before any has, whoever runs goes on
//   declared  and the number of epochs that it declares
//   shared    and what jobs of the same program reported
//   profiled  as declared, but of jobs with a deadline the world's true speeds
//
// A job runs on devices of one type, but for those that no type could hold at all:
// they get places across types where that is worth more than what the others lose
// by it.
//
// Where all devices are of one type, jobs that declare a deadline, and of which
// speed and length are known, come first with the least that meets it
// (deadline_shares.h); the others share what that leaves, those that are too late
// among them, and what is left then is lent to the former.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/deadline_shares.h"
#include "policies/goodput_book.h"
#include "policies/gridfold_lengths.h"
#include "policies/program_book.h"
#include "policies/registry.h"
#include "policies/round_types.h"
#include "policies/type_choice.h"

namespace gridfold {

enum class RoundKnowledge : std::uint8_t { kNothing, kDeclared, kShared, kProfiled };
enum class RoundObjective : std::uint8_t { kCompletion, kMakespan };

struct GridfoldRoundsOptions {
  Duration round = Duration::seconds(60);
  RoundKnowledge knows = RoundKnowledge::kDeclared;
  RoundObjective objective = RoundObjective::kCompletion;
  Duration restart = Duration::seconds(30);  // what it reckons a restart costs
  double order = 0.45;                       // exponent of the work left
  double evenness = 0.7;  // exponent of speed-ups: the more, the more alike they become
  Duration long_job = Duration::seconds(40'000);  // from here on more work left weighs no less
  Duration horizon = Duration::seconds(120);  // for which a change of places is reckoned to last
  double idle_worth = 0.5;  // speed-up that a job without devices is reckoned to have
  std::shared_ptr<const TrainingTruth> truth;  // used when it knows `profiled`
  std::int32_t growth = 4;                     // times the most tasks measured that a job may have
};
Result<GridfoldRoundsOptions> read_gridfold_rounds_options(const PolicyOptions& options);

class GridfoldRounds final : public RoundPolicy {
 public:
  explicit GridfoldRounds(const GridfoldRoundsOptions& options);
  std::string_view name() const override { return "gridfold"; }
  Duration round() const override { return options_.round; }
  bool takes(const JobSpec& job) const override { return job.training.has_value(); }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  struct Part {
    const RoundJob* job = nullptr;
    const GoodputPage* page = nullptr;
    double fair_speed = 0;  // steps a second; 0: nothing is known of its speed
    double fair_tasks = 1;  // of a job of fixed size, that
    double left = 0;        // seconds, on a fair share
    double weight = 1;
    std::int32_t most_tasks = 0;
    std::int32_t held = 0;
    std::size_t held_type = 0;
    std::vector<double> shares;  // of its time, by type, for the makespan; none: by its cost
  };
  // The jobs that are served by their deadlines, by their numbers in the view.
  struct Timed {
    std::vector<std::size_t> parts;
    std::vector<DeadlineJob> jobs;
    bool has(std::size_t part) const {
      return std::binary_search(parts.begin(), parts.end(), part);
    }
  };
  std::vector<Part> parts_of(const RoundView& view, std::span<const RoundType> types) const;
  void add_makespan_shares(std::vector<Part>& parts, std::span<const RoundType> types);
  // On a fair share: for a scaling table an equal part of every type.
  double fair_speed(const Part& part, std::span<const RoundType> types) const;
  // In fair shares.
  double speedup(const Part& part, const RoundType& type, std::int32_t nodes,
                 std::int32_t tasks) const;
  double cost(const Part& part, std::span<const RoundType> types, std::size_t type,
              std::int32_t nodes, std::int32_t tasks, bool moved) const;
  double cost_at(const Part& part, double speed, bool moved) const;
  // Seconds that the job needs on a fair share to its end, as far as can be told.
  Known<double> seconds_left(const Part& part) const;
  void weigh(std::vector<Part>& parts) const;
  // Steps to its declared end.
  Known<double> steps_left(const RoundJob& job) const;
  Timed timed_of(const std::vector<Part>& parts, const RoundView& view) const;
  // Their tasks for their deadlines. Takes out those that are served by their
  // work after all: who is too late, while there are others that are.
  std::vector<std::int32_t> least_of(const std::vector<Part>& parts, Timed& timed,
                                     std::int32_t devices);
  std::vector<TypeChoice> choose(const std::vector<Part>& parts, std::span<const RoundType> types,
                                 Timed& timed);
  ShareCurve curve_of(const Part& part, std::span<const RoundType> types, std::size_t type) const;
  // gridfold_spanning.cpp
  double cost_across(const Part& part, std::span<const RoundType> types,
                     std::span<const RoundPlace> places) const;
  std::vector<RoundAssignment> span_types(const std::vector<Part>& parts,
                                          std::span<const RoundType> types, const RoundView& view);

  GridfoldRoundsOptions options_;
  GoodputBook book_;
  ProgramBook programs_;
  RunLengths lengths_;
  DeadlineShares deadlines_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
