// Computes what the engine asks for in no time of ours, and answers after the
// virtual time that its steps are charged.
#pragma once

#include <vector>

#include "control/clock.h"
#include "control/executor.h"
#include "simulator/event_queue.h"

namespace gridfold {

class VirtualExecutor final : public Executor {
 public:
  explicit VirtualExecutor(const Clock& clock) : clock_(clock) {}

  void run(Solve solve, std::function<void(Event)> answer) override {
    queue_.push(clock_.now() + Duration{solve.problem->steps()}, running_.size());
    running_.push_back({std::move(solve), std::move(answer)});
  }

  // When the next answer is due; Instant::never() when none is awaited.
  Instant next_event() const { return queue_.next(); }

  // Tells the answers that are due.
  void advance() {
    while (queue_.next() <= clock_.now()) {
      const Running running = std::move(running_[queue_.pop()]);
      running.answer(Solved{running.solve.id, running.solve.problem->solve()});
    }
    if (queue_.empty()) running_.clear();
  }

 private:
  struct Running {
    Solve solve;
    std::function<void(Event)> answer;
  };
  const Clock& clock_;
  EventQueue<std::size_t> queue_;
  std::vector<Running> running_;  // by the queue's payload
};

}  // namespace gridfold
