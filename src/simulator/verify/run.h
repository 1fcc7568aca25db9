// One seed: the world it draws, the daemon that runs it, the faults that hit
// both, and the checker that watches. The same request gives the same run,
// event for event.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/store.h"
#include "simulator/verify/checker.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

using MakeStore = std::function<std::unique_ptr<Store>()>;

enum class Calm : std::uint8_t { kNo, kYes };  // kYes: the cluster itself does not fail
enum class Trace : std::uint8_t { kOff, kOn };

struct RunRequest {
  std::uint64_t seed = 1;
  MakeStore make_store;
  // The actions that happen, by index; empty: all of them.
  std::optional<std::vector<std::uint32_t>> only;
  Calm calm = Calm::kNo;
  // The run ends after this event.
  std::uint64_t until = UINT64_MAX;
  Trace trace = Trace::kOff;
};

struct RunResult {
  std::optional<Violation> violation;
  // Reports, actions, and turns that decided something.
  std::uint64_t events = 0;
  std::map<std::string, std::int64_t> faults;  // by kind, how often
  std::size_t jobs = 0;                        // that were stored
  std::string decisions_sha256;
  // With Trace::kOn: a line an event, the last ones; and who holds what at the end.
  std::vector<std::string> trace;
  std::string state;
};

RunResult run_seed(const RunRequest& request);

}  // namespace gridfold::verify
