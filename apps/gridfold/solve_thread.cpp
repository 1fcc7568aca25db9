#include "apps/gridfold/solve_thread.h"

#include <utility>

namespace gridfold {

SolveThread::SolveThread() : thread_([this] { work(); }) {}

SolveThread::~SolveThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  came_in_.notify_one();
  thread_.join();
}

void SolveThread::run(Solve solve, std::function<void(Event)> answer) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(solve), std::move(answer)});
  }
  came_in_.notify_one();
}

void SolveThread::work() {
  while (true) {
    Waiting next;
    {
      std::unique_lock lock(mutex_);
      came_in_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next.answer(Solved{next.solve.id, next.solve.problem->solve()});
  }
}

}  // namespace gridfold
