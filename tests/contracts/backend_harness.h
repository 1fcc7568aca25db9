// What the contract suite of backends (backend_contract.h) asks of each of
// them. Time is the harness's: a simulated cluster lets its virtual clock run
// where processes are waited for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/backend.h"

namespace gridfold::contract {

// What a task of the suite does.
enum class Program {
  kSucceeds,     // ends at once with 0
  kFails,        // ends at once with 3
  kPrints,       // "one\ntwo\nthree" to its output, "trouble\n" to its errors; ends with 0
  kRuns,         // until a signal ends it
  kIgnoresTerm,  // until KILL ends it
  kMissing,      // there is no such program
};

class BackendHarness {
 public:
  virtual ~BackendHarness() = default;
  // Open, and reporting to events().
  virtual Backend& backend() = 0;
  virtual LaunchOrder order(Program program, TaskId task, std::uint32_t attempt) = 0;
  virtual std::vector<Event> events() = 0;
  // Lets time pass until `holds`; false when it does not within a long time.
  virtual bool wait_until(const std::function<bool()>& holds) = 0;
  // Lets about this much time pass.
  virtual void pass(Duration time) = 0;
  // Whether the task has come to its waiting part (its handlers are set).
  virtual bool is_ready(TaskId, std::uint32_t) { return true; }
  virtual bool has_logs() const { return true; }
  // Ends the backend but not its tasks, and begins another on the same state.
  // False when this backend cannot do so.
  virtual bool restart() { return false; }
};

}  // namespace gridfold::contract
