// The placement policies by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/placement.h"

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
};

// Error kInvalid names the nearest policy or setting.
Result<std::unique_ptr<PlacementPolicy>> make_policy(std::string_view name,
                                                     const PolicyOptions& options);
std::vector<std::string_view> policy_names();

}  // namespace gridfold
