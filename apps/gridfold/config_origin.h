// Each effective key of a daemon's configuration, with its value and where that
// is from.
#pragma once

#include <string>
#include <vector>

#include "apps/gridfold/daemon_flags.h"

namespace gridfold {

struct ConfigEntry {
  enum class Origin : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };
  std::string key;    // "queues[0].devices.gpu"
  std::string value;  // as in TOML
  Origin origin = Origin::kDefault;
  std::string where;  // "FILE:LINE", the variable or the flag; of a default nothing
};
// "default", "file", "environment", "flag".
std::string_view to_string(ConfigEntry::Origin origin);

// Keys that have a value, in the order of docs/formats.md. The error of a
// configuration that a daemon would not read.
Result<std::vector<ConfigEntry>> config_entries(const Cli& cli, const DaemonFlags& flags);

}  // namespace gridfold
