// Jobs that are submitted by a rule of local time: one batch for each time that
// is due. When each is next stands in the store, in UTC:
//
//   live/schedule/NAME     {"cron": "30 2 * * *", "zone": "America/New_York",
//                           "next": "2019-03-10T07:00:00Z"}
//
// A time that passed while no daemon ran is made up for once, however many have
// passed. A rule that was changed counts from the daemon's start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "calendar/local_rule.h"
#include "control/store.h"
#include "model/job.h"

namespace gridfold {

struct ScheduledJobs {
  std::string name;
  LocalRule rule;
  std::string tenant = "default";
  std::vector<JobSpec> jobs;  // one batch
};

class JobCalendar {
 public:
  JobCalendar() = default;
  explicit JobCalendar(std::vector<ScheduledJobs> scheduled);

  // A record as it was stored, before begin(). Error kCorrupt.
  Result<void> restore(std::string_view key, std::string_view value);
  // Those without a stored time count from now on.
  void begin(Instant now);
  // When take_due() has something; never() when nothing is scheduled.
  Instant next() const;

  struct Due {
    const ScheduledJobs* jobs = nullptr;
    Instant at{};  // the time that it is for
  };
  // What is due, each once; the next times count from now. Until the transaction
  // that has them is stored, forget_new() takes it back.
  std::vector<Due> take_due(Instant now);

  bool any_new() const;
  void put_new(Transaction& transaction) const;
  void new_are_stored();
  void forget_new();

 private:
  struct Entry {
    ScheduledJobs jobs;
    Instant stored = Instant::never();  // never(): nothing is stored
    Instant next = Instant::never();
  };
  std::vector<Entry> entries_;
  std::vector<std::string> gone_;  // stored keys of what is not scheduled any more
};

}  // namespace gridfold
