// Many seeds, one after another: `gridfold sim verify`. What fails is made
// smaller, as long as the same invariant breaks.
//
//   VerifyOptions options{.first_seed = 1, .last_seed = 2000, .make_store = …};
//   const VerifyReport report = verify_seeds(options);
//   for (const Failure& failure : report.failures) puts(failure_line(failure).c_str());
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/verify/run.h"

namespace gridfold::verify {

enum class Shrink : std::uint8_t { kNo, kYes };

struct VerifyOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  MakeStore make_store;
  Calm calm = Calm::kNo;  // the cluster itself does not fail
  Shrink shrink = Shrink::kYes;
  // One seed in so many is run twice, and must decide the same; 0: none.
  std::uint64_t twice_every = 16;
  // After this many failing seeds no more are tried.
  std::size_t most_failures = 20;
  std::function<void(std::uint64_t seed, const RunResult&)> on_seed;
};

struct Failure {
  std::uint64_t seed = 0;
  Violation violation;
  std::uint64_t event = 0;
  std::optional<std::vector<std::uint32_t>> only;  // the actions that it needs
  Calm calm = Calm::kNo;
};

struct VerifyReport {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  std::uint64_t jobs = 0;
  std::map<std::string, std::int64_t> faults;
  std::vector<Failure> failures;
};

VerifyReport verify_seeds(const VerifyOptions& options);

// "seed 7: I3 … at event 31: gridfold sim replay --seed 7 --until 31"
std::string failure_line(const Failure& failure);
// {"seeds": …, "faults": {…}, "events": …, "events_per_second": …, "failures": […]}
std::string to_json(const VerifyReport& report, double wall_seconds);

// "3-5,9" and back; kInvalid names what does not read.
std::string indices_text(const std::vector<std::uint32_t>& indices);
Result<std::vector<std::uint32_t>> parse_indices(std::string_view text);

}  // namespace gridfold::verify
