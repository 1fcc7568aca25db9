// Callers that wait for a job to end. Told of every committed turn by
// ControlOptions::on_committed; nothing is polled.
//
// Not thread-safe: everything happens on the control loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/ids.h"
#include "model/decision.h"

namespace gridfold {

class JobWaiters {
 public:
  using Ticket = std::uint64_t;
  // `ended` is called once, from within committed(): it must not call the loop.
  Ticket add(JobId job, std::function<void()> ended);
  // False when the job has ended and the waiter was called.
  bool remove(Ticket ticket);
  void committed(const Decisions& decisions);

 private:
  struct Waiter {
    JobId job;
    std::function<void()> ended;
  };
  void wake(JobId job);

  std::map<Ticket, Waiter> waiters_;
  std::multimap<JobId, Ticket> by_job_;
  Ticket next_ = 1;
};

}  // namespace gridfold
