// What a policy of rounds knows of each job's goodput: a model fitted to the
// job's own reports, kept from round to round and fitted anew when a size was
// measured for the first time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/round_policy.h"
#include "forecast/goodput.h"

namespace gridfold {

class ProgramBook;
class ProgramPage;

// One job's model and the goodputs asked of it so far.
class GoodputPage {
 public:
  // Steps of the initial batch a second on so many tasks over so many nodes; 0:
  // it cannot run so. nodes <= tasks.
  double goodput(std::int32_t nodes, std::int32_t tasks) const;
  bool is_fitted() const { return steps_seen_ > 0; }
  // The most tasks that it has been measured with.
  std::int32_t most_measured() const { return most_measured_; }

 private:
  friend class GoodputBook;
  void update(const TrainingDeclaration& declaration, const TrainingHistory& history);
  void update(const RoundJob& job, const ProgramPage& program);
  void take(const ThroughputModel& speed, const NoiseModel& noise,
            const TrainingDeclaration& declaration);

  ThroughputModel speed_;
  NoiseModel noise_;
  GoodputModel model_{{}, {}, {}};
  std::size_t steps_seen_ = 0;
  std::int32_t most_measured_ = 0;
  std::uint64_t program_version_ = 0;
  mutable std::map<std::pair<std::int32_t, std::int32_t>, double> asked_;
};

class GoodputBook {
 public:
  // Brings the pages of the view's jobs up to date and drops those of others.
  // With `programs`, what jobs of the same program reported is used as well.
  void update(const RoundView& view, const ProgramBook* programs = nullptr);
  const GoodputPage& page(const RoundJob& job) const { return pages_.at(job.id); }

 private:
  std::map<JobId, GoodputPage> pages_;
};

}  // namespace gridfold
