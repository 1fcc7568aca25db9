// The daemon's configuration: a TOML file, under flags and GRIDFOLD_*
// variables, over the defaults written here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/queue.h"

namespace gridfold {

struct DaemonConfig {
  // Directory of the store, the socket, the token and the tasks' output.
  std::string state;
  // HOST:PORT on loopback; empty: the Unix socket only.
  std::string listen;
  // How nodes are chosen for tasks.
  std::string policy = "best_fit";
  // Its settings, such as {"round", "10s"}.
  std::map<std::string, std::string> policy_settings;
  // Name of this machine's node; empty: the host's name.
  std::string node_name;
  // Emulated devices beside the real ones, such as "gpu:H100-SXM5-80GB=8".
  std::string devices;
  // Directory of device plug-ins; empty: those beside the program.
  std::string plugins;
  // How often the backend's whole state is compared with the store.
  Duration reconcile_interval = Duration::seconds(30);
  // When queues take turns: what they have held counts half after this time;
  // zero: only what they hold.
  Duration usage_half_life{};
  std::vector<QueueSpec> queues = {QueueSpec{}};
};

// Reads the file's keys into `config`:
//
//   state = "/var/lib/gridfold"
//   listen = "127.0.0.1:8080"
//   policy = "fgd"
//   policy_settings = { round = "10s" }
//   reconcile_interval = "30s"
//   [[queues]]
//   name = "research/llm"
//   priority = 10
//   cpu = "64"
//   memory = "512Gi"
//   devices = { gpu = "8" }
//   running_jobs = 20
//   longest_run = "48h"
//   weight = 2
//   guaranteed = { cpu = "32", devices = { gpu = "4" } }
//   each_tenant = { running_jobs = 5, devices = { gpu = "4" } }
//
// An unknown key is an error that names the nearest known one.
Result<void> read_config_file(const std::string& path, DaemonConfig& config);
Result<void> read_config_text(std::string_view text, DaemonConfig& config);

}  // namespace gridfold
