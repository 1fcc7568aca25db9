// What pending jobs ask for, and what keeps them from what is free. Each job's
// deciding reason is asked of the engine now and then only: in between, the
// last answers are taken to hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "accounting/device_books.h"
#include "engine/engine.h"

namespace gridfold {

class WaitingDemand {
 public:
  // A job that waits for room, or no longer does.
  void add(const JobRecord& job, DeviceBooks& books);
  void remove(JobId job, std::int32_t priority);

  // Thousandths of a class that all of them ask for.
  std::int64_t total(ClassIndex index) const;
  bool empty() const { return jobs_.empty(); }

  // Whether nobody was asked yet who waits for devices that are free.
  bool has_to_ask(const DeviceBooks& books) const;
  // Asks anew. Few jobs are asked, those first that are served first.
  void ask(const Engine& engine, const DeviceBooks& books);
  // Gives the parts of `free` thousandths: take(part, thousandths), summing to it.
  template <class Take>
  void split(ClassIndex index, std::int64_t free, Take take) const {
    std::int64_t wanted = std::min(free, total(index));
    if (index < blocked_.size() && wanted > 0 && !blocked_[index].empty()) {
      // Whoever was not asked waits for what the last who was asked waits for.
      const auto& causes = blocked_[index];
      for (std::size_t i = 0; i < causes.size() && wanted > 0; ++i) {
        const bool last = i + 1 == causes.size();
        const std::int64_t part = last ? wanted : std::min(wanted, causes[i].second);
        take(causes[i].first, part);
        wanted -= part;
        free -= part;
      }
    } else if (wanted > 0) {
      take(Part::kTurn, wanted);  // nobody was asked yet
      free -= wanted;
    }
    if (free > 0) take(Part::kNoDemand, free);
  }

 private:
  struct Job {
    std::shared_ptr<const JobSpec> spec;
    std::vector<ClassAmount> demand;
  };
  using Key = std::pair<std::int64_t, JobId>;  // minus the priority
  std::map<Key, Job> jobs_;
  std::vector<std::int64_t> totals_;  // by class
  // By class: causes in order of service, with what is asked for.
  std::vector<std::vector<std::pair<Part, std::int64_t>>> blocked_;
};

// What idle devices stand idle for while a job waits for this reason.
Part cause_of(const Reason& reason, const JobSpec& spec);

}  // namespace gridfold
