// Computes what the engine asks for in no time of the simulation, and answers
// after the virtual time that its steps are charged, or at once where nothing
// is.
#pragma once

#include <chrono>
#include <vector>

#include "control/clock.h"
#include "control/executor.h"
#include "simulator/event_queue.h"

namespace gridfold {

enum class Thinking : std::uint8_t { kCharged, kFree };

class VirtualExecutor final : public Executor {
 public:
  explicit VirtualExecutor(const Clock& clock, Thinking thinking = Thinking::kCharged)
      : clock_(clock), thinking_(thinking) {}

  void run(Solve solve, std::function<void(Event)> answer) override {
    const auto began = std::chrono::steady_clock::now();
    const Duration charged{thinking_ == Thinking::kFree ? 0 : solve.problem->steps()};
    wall_ += std::chrono::steady_clock::now() - began;
    queue_.push(clock_.now() + charged, running_.size());
    running_.push_back({std::move(solve), std::move(answer)});
  }

  // When the next answer is due; Instant::never() when none is awaited.
  Instant next_event() const { return queue_.next(); }

  // Tells the answers that are due.
  void advance() {
    while (queue_.next() <= clock_.now()) {
      const Running running = std::move(running_[queue_.pop()]);
      const auto began = std::chrono::steady_clock::now();
      auto solved = running.solve.problem->solve();
      wall_ += std::chrono::steady_clock::now() - began;
      running.answer(Solved{running.solve.id, std::move(solved)});
    }
    if (queue_.empty()) running_.clear();
  }
  // Real time that it has computed.
  double wall_seconds() const { return wall_.count(); }

 private:
  struct Running {
    Solve solve;
    std::function<void(Event)> answer;
  };
  const Clock& clock_;
  Thinking thinking_;
  std::chrono::duration<double> wall_{};
  EventQueue<std::size_t> queue_;
  std::vector<Running> running_;  // by the queue's payload
};

}  // namespace gridfold
