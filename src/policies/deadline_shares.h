// Shares devices out over training jobs so that as many as can be end by their
// deadlines (ElasticFlow, ASPLOS 2023): a job is admitted when it and all that
// were admitted before can have, from now to their deadlines, the least shares
// that suffice. What is left is lent where a device brings most.
//
// Shares are powers of two, since that is what is measured. Times are seconds
// from now.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"

namespace gridfold {

struct DeadlineJob {
  JobId id;
  std::int32_t devices_each = 1;  // of a task
  std::vector<double> rates;      // steps a second on 1, 2, 4, … tasks; 0: it cannot run so
  double left = 0;                // steps
  double until = 0;               // the deadline
  std::int32_t held = 0;          // tasks now
};

struct DeadlineOptions {
  double restart = 30;    // seconds lost at every change of a share
  double round = 60;      // devices are held to the end of their round
  bool keeps = true;      // who holds more than suffices keeps it while nobody needs it
  bool retries = true;    // who was refused is asked again as room comes free
  double amortise = 300;  // a lent share must shorten the rest of at least so long
};

class DeadlineShares {
 public:
  explicit DeadlineShares(const DeadlineOptions& options) : options_(options) {}

  // Tasks of each job that its admission asks for now; 0: it is refused, is too
  // late, or begins later. Keeps in mind who is admitted: call it once a round
  // with all jobs, in the order of their arrival.
  std::vector<std::int32_t> least(std::span<const DeadlineJob> jobs, std::int32_t devices);
  // Raises the shares of the last call by what is left: who can meet its
  // deadline first, then those that are late. Returns the devices still left.
  std::int32_t lend(std::span<const DeadlineJob> jobs, std::int32_t devices,
                    std::vector<std::int32_t>& tasks);

  bool is_admitted(JobId job) const;
  // Whether it would meet its deadline had it all that it can use.
  bool can_alone(const DeadlineJob& job) const;
  std::int64_t steps() const { return steps_; }

 private:
  enum class Standing : std::uint8_t { kNew, kAdmitted, kRefused };
  // Devices that are free from a time on, until the next entry.
  using Profile = std::map<double, std::int32_t>;

  struct Fill {
    bool suffices = false;
    std::int32_t now = 0;  // tasks in the coming round
  };
  // Of the job at shares up to `most` tasks on what is free; takes it off `free`.
  bool fill(const DeadlineJob& job, std::int32_t most, Profile& free, Fill& filled);
  Fill fill_least(const DeadlineJob& job, Profile& free);
  // Of the jobs with these indices, the earliest deadline first. Returns those
  // that do not get what they need.
  std::vector<std::size_t> fill_all(std::span<const DeadlineJob> jobs,
                                    std::vector<std::size_t> chosen, Profile& free,
                                    std::vector<std::int32_t>& tasks);
  void keep_held(std::span<const DeadlineJob> jobs, std::vector<std::int32_t>& tasks,
                 std::int32_t& devices) const;
  // What a device more brings, of what a device of its least share does; 0: nothing.
  double worth(const DeadlineJob& job, std::int32_t from, std::int32_t to) const;

  DeadlineOptions options_;
  std::map<JobId, Standing> standing_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
