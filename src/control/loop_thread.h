// Runs a control loop on a thread of its own. Everyone else posts closures
// that run between turns and may read or call the loop freely.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <type_traits>

#include "control/control_loop.h"

namespace gridfold {

class LoopThread {
 public:
  // Takes the loop over. start() must have been called on it with sink().
  explicit LoopThread(std::unique_ptr<ControlLoop> loop);
  // Ends the thread after the turn in progress.
  ~LoopThread();

  // Runs `work` on the loop's thread before the next turn, soon. The inbox is
  // bounded (100,000): when it is full the caller waits.
  void post(std::function<void(ControlLoop&)> work);

  // Runs `work` on the loop's thread and waits for its answer.
  template <class Work>
  auto call(Work work) -> std::invoke_result_t<Work, ControlLoop&> {
    std::promise<std::invoke_result_t<Work, ControlLoop&>> promise;
    auto future = promise.get_future();
    post([&](ControlLoop& loop) { promise.set_value(work(loop)); });
    return future.get();
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridfold
