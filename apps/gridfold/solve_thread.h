// Computes what the engine asks for on a thread of its own, one problem after
// another, so that no turn waits for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "control/executor.h"

namespace gridfold {

class SolveThread final : public Executor {
 public:
  SolveThread();
  // Waits for the problem in progress; those behind it are dropped.
  ~SolveThread() override;
  void run(Solve solve, std::function<void(Event)> answer) override;

 private:
  struct Waiting {
    Solve solve;
    std::function<void(Event)> answer;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable came_in_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool ending_ = false;          // guarded by mutex_
  std::thread thread_;
};

}  // namespace gridfold
