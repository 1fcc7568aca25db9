// The daemon's configuration: a TOML file, under flags and GRIDFOLD_*
// variables, over the defaults written here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/node.h"

namespace gridfold {

struct DaemonConfig {
  // Directory of the store, the socket, the token and the tasks' output.
  std::string state;
  // HOST:PORT on loopback; empty: the Unix socket only.
  std::string listen;
  // How nodes are chosen for tasks.
  std::string policy = "best_fit";
  // Name of this machine's node; empty: the host's name.
  std::string node_name;
  // Emulated devices beside the real ones, such as "gpu:H100-SXM5-80GB=8".
  std::string devices;
  // Directory of device plug-ins; empty: those beside the program.
  std::string plugins;
  // How often the backend's whole state is compared with the store.
  Duration reconcile_interval = Duration::seconds(30);
  // Whether work that can be moved is moved, so that blocked jobs find room.
  bool consolidate = false;
  std::vector<QueueSpec> queues = {QueueSpec{}};
};

// Reads the file's keys into `config`:
//
//   state = "/var/lib/gridfold"
//   listen = "127.0.0.1:8080"
//   policy = "fgd"
//   reconcile_interval = "30s"
//   [[queues]]
//   name = "research/llm"
//   priority = 10
//   cpu = "64"
//   memory = "512Gi"
//   devices = { gpu = "8" }
//
// An unknown key is an error that names the nearest known one.
Result<void> read_config_file(const std::string& path, DaemonConfig& config);
Result<void> read_config_text(std::string_view text, DaemonConfig& config);

}  // namespace gridfold
