#include "api/job_waiters.h"

#include <variant>
#include <vector>

namespace gridfold {

JobWaiters::Ticket JobWaiters::add(JobId job, std::function<void()> ended) {
  const Ticket ticket = next_++;
  waiters_.emplace(ticket, Waiter{job, std::move(ended)});
  by_job_.emplace(job, ticket);
  return ticket;
}

bool JobWaiters::remove(Ticket ticket) {
  const auto found = waiters_.find(ticket);
  if (found == waiters_.end()) return false;
  const auto [first, last] = by_job_.equal_range(found->second.job);
  for (auto it = first; it != last; ++it)
    if (it->second == ticket) {
      by_job_.erase(it);
      break;
    }
  waiters_.erase(found);
  return true;
}

void JobWaiters::committed(const Decisions& decisions) {
  if (waiters_.empty()) return;
  for (const auto& decision : decisions.list)
    if (const auto* changed = std::get_if<JobChanged>(&decision))
      if (is_terminal(changed->to)) wake(changed->job);
}

void JobWaiters::wake(JobId job) {
  std::vector<std::function<void()>> calls;
  const auto [first, last] = by_job_.equal_range(job);
  for (auto it = first; it != last; ++it) {
    const auto waiter = waiters_.find(it->second);
    calls.push_back(std::move(waiter->second.ended));
    waiters_.erase(waiter);
  }
  by_job_.erase(first, last);
  for (const auto& call : calls) call();
}

}  // namespace gridfold
