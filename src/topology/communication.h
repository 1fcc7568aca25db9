// The expected time of collectives and of a job's step for ranks at given
// places. docs/topology.md tells the model and the sources of its formulas.
//
//   ExpectedTime expected(traffic);              // once a cluster: keeps scratch room
//   StepTime time = expected.step(job, places);  // places[r] is where rank r runs
//
// All integers: the same places give the same nanoseconds in every build, so
// the figure may decide. A rise in bytes, in others' traffic or in the slowness
// of a link never makes it smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "model/job_traffic.h"
#include "topology/exchange_load.h"
#include "topology/link_traffic.h"
#include "topology/step_time.h"

namespace gridfold {

enum class Algorithm : std::uint8_t {
  kBest,  // the fastest of those there are for the collective
  kRing,
  kTree,          // all-reduce and broadcast
  kHierarchical,  // all-reduce of groups with alike parts, more than one rank each
};

class ExpectedTime {
 public:
  explicit ExpectedTime(const LinkTraffic& traffic) : traffic_(traffic), counter_(traffic) {}

  // places.size() == job.ranks(), devices that exist, a job that check_traffic
  // accepts. Times beyond the range of Duration stay at its end.
  StepTime step(const JobTraffic& job, std::span<const Place> places);
  // One exchange of the job by itself, once. Empty when the algorithm cannot
  // be used for it.
  std::optional<Duration> exchange(const JobTraffic& job, const Exchange& exchange,
                                   std::span<const Place> places,
                                   Algorithm algorithm = Algorithm::kBest);
  // What the job would send on average, to be told to LinkTraffic when it runs.
  // In order of domain and card.
  std::vector<LinkRate> rates(const JobTraffic& job, std::span<const Place> places);

  const LinkTraffic& traffic() const { return traffic_; }

 private:
  struct Cached {
    bool known = false;
    ExchangeLoad load;
  };
  void seat(std::span<const Place> places);
  const ExchangeLoad& load(const JobTraffic& job, const Exchange& exchange);

  const LinkTraffic& traffic_;
  LoadCounter counter_;
  std::vector<RankSeat> seats_;
  std::array<std::array<Cached, 3>, kAxes> loads_;  // axis x flow, of the seats at hand
};

}  // namespace gridfold
