// What the exchanges of jobs cost at their places: the fabric as the nodes and
// the site tell it, the traffic of the jobs that run, and the expected time of
// a step by both. Does nothing as long as no node tells its links.
//
//   cost.add(job, spec, tasks);              // it runs now
//   cost.expected(*spec, tasks)              // of another, with its traffic
//   cost.remove(job);
//
// What a job sends is worked out as if it were alone on the links: so it follows
// from its record, and does not depend on the order in which jobs came. All of
// it is derived: a change of nodes makes the fabric anew, and the traffic of all
// jobs with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/gang_placement.h"
#include "model/job.h"
#include "model/links.h"
#include "topology/rank_map.h"

namespace gridfold {

class CommunicationCost final : public GangCost {
 public:
  // The levels were checked (topology/site_fabric.h).
  CommunicationCost(const Cluster& cluster, std::vector<LevelLinks> levels);
  ~CommunicationCost() override;

  // Whether any node tells its links.
  bool is_known();

  // One step of a job with these tasks, in order of their ranks; empty when the
  // links of a node are not known, or the ranks do not come out even.
  std::optional<StepTime> expected(const JobTraffic& traffic, std::span<const TaskPlace> tasks);

  // --- Jobs that run ---
  void add(JobId job, std::shared_ptr<const JobSpec> spec, std::vector<TaskPlace> tasks);
  // Does nothing when it was not added.
  void remove(JobId job);
  bool has(JobId job) const { return running_.count(job) != 0; }
  std::size_t running() const { return running_.size(); }
  // By what these jobs send the traffic should be as it is: the first
  // difference, or empty.
  struct Running {
    JobId job;
    std::shared_ptr<const JobSpec> spec;
    std::vector<TaskPlace> tasks;
  };
  std::optional<std::string> check(std::span<const Running> jobs);

  // --- GangCost ---
  bool weighs(const Gang& gang) override;
  std::optional<StepTime> cost(const Gang& gang, std::span<const GangSeat> seats) override;
  std::optional<StepTime> undisturbed(const Gang& gang, std::span<const GangSeat> seats) override;
  bool is_loaded(DomainId domain) override;
  std::uint32_t kind_of(DomainId domain) override;
  std::optional<StepTime> order_ranks(const Gang& gang, std::span<GangSeat> seats) override;

 private:
  struct Links;
  struct Sending {
    std::shared_ptr<const JobSpec> spec;
    std::vector<TaskPlace> tasks;
    std::vector<LinkRate> rates;
  };

  void build();
  void take(Sending& sending);
  void read_seats(std::span<const GangSeat> seats);
  // For so many ranks; null when they do not come out even.
  const JobTraffic* for_ranks(const JobTraffic& traffic, std::int64_t ranks);
  // Fills places_; null when no time can be told.
  const JobTraffic* place(const JobTraffic& traffic, std::span<const TaskPlace> tasks);

  const Cluster& cluster_;
  std::vector<LevelLinks> levels_;
  std::uint64_t version_ = UINT64_MAX;  // of the nodes that links_ is made of
  std::unique_ptr<Links> links_;        // null: no node tells its links
  std::map<JobId, Sending> running_;
  // Scratch room.
  JobTraffic scaled_;
  std::vector<TaskPlace> tasks_;
  std::vector<Place> places_;
};

// The tasks of the job's run that take part in its exchanges.
std::vector<TaskPlace> communicating_tasks(const JobRecord& record);

}  // namespace gridfold
