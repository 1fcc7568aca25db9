// `gridfold sim run` without its flags: everything between the options and the
// JSON that it prints.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/store.h"

namespace gridfold {

struct SimRunOptions {
  std::string cluster;   // see run_inputs.h; may be empty where a training world has its own
  std::string workload;  // see run_inputs.h
  std::string policy = "best_fit";
  std::string seed = "1";                  // "7", or a range "1..10"
  std::map<std::string, std::string> set;  // see run_settings.h
  std::string html_path;                   // empty: no report
  std::string jobs_path;                   // a line a job of a training world; empty: no file
  // An empty store for each run (the memory store: apps joins the parts).
  std::function<std::unique_ptr<Store>()> make_store;
};

// One JSON object, ended by a newline; see docs/formats.md. Errors name the
// field, the reason and the next step.
Result<std::string> run_simulation(const SimRunOptions& options);

// "7" or "1..10": first and last, in order; at most 10,000 seeds.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};
Result<SeedRange> parse_seeds(std::string_view text);

}  // namespace gridfold
