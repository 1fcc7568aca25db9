// Sia (Jayaram Subramanya et al., SOSP 2023), as far as its paper says: each
// round every job gets one configuration, a type of devices and a number of
// them, or none. Maximises over jobs
//
//   goodput / the job's least goodput, to the power p,  x  what a restart leaves
//
// and with p below 0 minimises its sum, in which a job without devices counts
// `lambda`. Numbers are 1, 2, 4, … within a node and whole nodes beyond; jobs of
// a fixed size have theirs. The published program solves it as an integer
// programme; here see policies/type_choice.h. Its own settings file was not to be
// had: p, lambda and the factor of a restart are the paper's, so: "Sia-like".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/goodput_book.h"
#include "policies/registry.h"
#include "policies/round_types.h"
#include "policies/type_choice.h"

namespace gridfold {

struct SiaOptions {
  Duration round = Duration::seconds(60);
  Duration restart = Duration::seconds(30);  // what it reckons a restart costs
  double power = -0.5;                       // p, below 0
  double idle_cost = 1.1;                    // lambda
};
Result<SiaOptions> read_sia_options(const PolicyOptions& options);

class Sia final : public RoundPolicy {
 public:
  explicit Sia(const SiaOptions& options) : options_(options) {}
  std::string_view name() const override { return "sia"; }
  Duration round() const override { return options_.round; }
  bool takes(const JobSpec& job) const override { return job.training.has_value(); }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  struct Part {
    const RoundJob* job = nullptr;
    const GoodputPage* page = nullptr;
    double restart_factor = 0;  // of its goodput when it is moved
    double least_speed = 0;     // of its configurations; 0: nothing is known
    std::int32_t most_tasks = 0;
    std::int32_t held = 0;
    std::size_t held_type = 0;
  };
  Part part_of(const RoundView& view, const RoundJob& job,
               const std::vector<RoundType>& types) const;
  // Steps a second; where nothing is known, in proportion to the tasks.
  double speed(const Part& part, const RoundType& type, std::int32_t nodes,
               std::int32_t tasks) const;
  double cost(const Part& part, const RoundType& type, std::int32_t nodes, std::int32_t tasks,
              bool moved) const;
  ShareCurve curve_of(const Part& part, const std::vector<RoundType>& types,
                      std::size_t type) const;

  SiaOptions options_;
  GoodputBook book_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
