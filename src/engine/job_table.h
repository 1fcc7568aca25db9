// The engine's jobs by number. A job that is gone leaves its memory to the
// next one, so that jobs come and go without allocating.
#pragma once

#include <cassert>
#include <deque>
#include <vector>

#include "base/id_map.h"
#include "base/ids.h"

namespace gridfold {

// Job needs `void forget()`: becomes as new, but keeps its memory.
template <class Job>
class JobTable {
 public:
  // Null when there is no such job.
  Job* find(JobId id) const {
    Job* const* job = jobs_.find(id);
    return job == nullptr ? nullptr : *job;
  }
  Job& at(JobId id) const {
    Job* job = find(id);
    assert(job != nullptr);
    return *job;
  }
  bool has(JobId id) const { return jobs_.find(id) != nullptr; }
  // Requires !has(id).
  Job& add(JobId id) {
    assert(!has(id));
    if (free_.empty()) free_.push_back(&made_.emplace_back());
    Job* job = free_.back();
    free_.pop_back();
    jobs_[id] = job;
    return *job;
  }
  void erase(JobId id) {
    Job& job = at(id);
    job.forget();
    free_.push_back(&job);
    jobs_.erase(id);
  }
  // In order of number.
  std::vector<Job*> in_order() const {
    std::vector<Job*> all;
    all.reserve(jobs_.size());
    jobs_.for_each([&all](JobId, Job* job) { all.push_back(job); });
    return all;
  }

 private:
  IdMap<JobId, Job*> jobs_;
  std::deque<Job> made_;  // stable addresses
  std::vector<Job*> free_;
};

}  // namespace gridfold
