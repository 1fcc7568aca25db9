// Finds jobs by what a user writes: a number, a public id or the beginning of
// one, or a name; live jobs in the engine, ended ones in the store's history.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/store.h"
#include "engine/engine.h"

namespace gridfold {

class JobLookup {
 public:
  // Both outlive the lookup.
  JobLookup(const Engine& engine, Store& store) : engine_(engine), store_(store) {}

  // The job is live and on record from now on. In order of number.
  void add(const JobRecord& record);
  // It has ended; `record` is what was added, or a later state of it.
  void remove(const JobRecord& record);

  // Null when the tenant has no such live job. A beginning of an id needs 8
  // characters and must be of one job only; of several jobs of one name the
  // newest is meant.
  const JobRecord* find(std::string_view tenant, std::string_view reference) const;
  // Likewise, of the jobs that have ended. Error kNotFound.
  Result<JobRecord> find_ended(std::string_view tenant, std::string_view reference) const;
  // Newest first: up to `count` ended jobs with a number below `before`
  // (none(): all).
  Result<std::vector<JobRecord>> ended(JobId before, std::size_t count) const;

 private:
  // Most jobs end before anyone asks for any: a job enters the index only when
  // somebody does.
  struct Index {
    std::map<std::string, JobId, std::less<>> uids;
    std::map<std::pair<std::string, std::string>, std::set<JobId>> names;  // by tenant and name
  };
  void drop_gone() const;
  const Index& index() const;
  Result<JobRecord> read_ended(const KeyValue& entry) const;

  const Engine& engine_;
  Store& store_;
  mutable Index index_;
  // In order of number, all above those in the index.
  mutable std::vector<JobId> unindexed_;
  // Of these the ones that have ended since, in the order in which they did: at most as
  // many as of the others, and a few.
  mutable std::vector<JobId> gone_;
};

}  // namespace gridfold
