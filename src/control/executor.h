// The executor port: computes what the engine asks for outside its steps.
#pragma once

#include <functional>

#include "model/event.h"
#include "model/solve.h"

namespace gridfold {

class Executor {
 public:
  virtual ~Executor() = default;
  // Computes the answer and tells it through `answer`, once: from any thread,
  // now or later. What has not been told when the process dies is asked for
  // again by the next one.
  virtual void run(Solve solve, std::function<void(Event)> answer) = 0;
};

// At once, on the caller's thread: for tests and for reading a store.
class InlineExecutor final : public Executor {
 public:
  void run(Solve solve, std::function<void(Event)> answer) override {
    answer(Solved{solve.id, solve.problem->solve()});
  }
};

}  // namespace gridfold
