// The policies by name: where jobs are placed, and for some also a policy that
// decides in rounds.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/engine.h"
#include "policies/training_truth.h"

namespace gridfold {

// A request and how often it comes, for policies that weigh what may arrive.
struct MixEntry {
  TaskRequest request;
  std::int64_t count = 0;
};

struct PolicyOptions {
  // Settings by name (`--set key=value`); an unknown key is an error.
  std::map<std::string, std::string> settings;
  // The mix of tasks, when it is known beforehand; else it is learned from
  // the arrivals.
  std::vector<MixEntry> known_mix;
  // For policies that decide in rounds: the length of one when no setting gives
  // it, and what a simulated world tells those that are oracles (null: nothing).
  Duration round = Duration::seconds(60);
  std::shared_ptr<const TrainingTruth> truth;
};

// Error kInvalid names the nearest policy or setting.
Result<Policies> make_policy(std::string_view name, const PolicyOptions& options);
std::vector<std::string_view> policy_names();

}  // namespace gridfold
