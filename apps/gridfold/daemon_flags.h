// The flags of a daemon, and what its configuration becomes with them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/config.h"

namespace gridfold {

// Those that are not given are empty. GRIDFOLD_* variables stand in for them.
struct DaemonFlags {
  std::string config;
  std::string listen, policy, node, devices, plugins;
  std::vector<std::string> settings;  // "policy.KEY=VALUE"
  bool stop_tasks = false;
};

// --listen, --policy, --set, --node, --devices, --plugins.
std::shared_ptr<DaemonFlags> add_daemon_flags(CLI::App& command);

// Flag or variable over file over default. The file's errors are told as of the
// file.
Result<DaemonConfig> daemon_configuration(const Cli& cli, const DaemonFlags& flags);

}  // namespace gridfold
