// Pollux (OSDI 2021): each job has the devices, and its agent the batch, that
// make the cluster's goodput the best. Maximises the power mean p = -1 over jobs
// of
//
//   goodput / goodput at a fair share  x  what a restart leaves of it
//
// by models fitted to each job's own reports. The published program searches at
// random; here the numbers of devices are found exactly, and the places by trying
// how many of the jobs that keep their number should make way.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/goodput_book.h"
#include "policies/registry.h"
#include "policies/round_seating.h"

namespace gridfold {

struct PolluxOptions {
  Duration round = Duration::seconds(60);
  Duration restart = Duration::seconds(30);  // what it reckons a restart costs
};
Result<PolluxOptions> read_pollux_options(const PolicyOptions& options);

class Pollux final : public RoundPolicy {
 public:
  explicit Pollux(const PolluxOptions& options) : options_(options) {}
  std::string_view name() const override { return "pollux"; }
  Duration round() const override { return options_.round; }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  // One job's part in the sum that is made small.
  struct Part {
    const RoundJob* job = nullptr;
    const GoodputPage* page = nullptr;
    double fair_goodput = 0;  // 0: not fitted
    double fair_tasks = 1;
    double restart_factor = 0;  // of its speed-up when it is moved
    std::int32_t most_tasks = 0;
    std::int32_t node_tasks = 1;  // that fit one node
    double scale = 1;             // of speed-ups

    double speedup(std::int32_t nodes, std::int32_t tasks) const;
    double cost(std::int32_t nodes, std::int32_t tasks, bool moved) const;
    std::int32_t fewest_nodes(std::int32_t tasks) const {
      return (tasks + node_tasks - 1) / node_tasks;
    }
  };
  std::vector<Part> parts_of(const RoundView& view) const;
  static std::vector<SeatWish> wishes(const std::vector<Part>& parts,
                                      const std::vector<std::int32_t>& tasks);

  PolluxOptions options_;
  GoodputBook book_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
