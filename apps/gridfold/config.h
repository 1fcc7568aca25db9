// The daemon's configuration: a TOML file, under flags and GRIDFOLD_*
// variables, over the defaults written here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/window_calendar.h"
#include "engine/backfill_options.h"
#include "engine/filler_options.h"
#include "model/queue.h"
#include "topology/machine_links.h"

namespace gridfold {

// How fast this machine's parts are joined: what its topology file says, and
// what that does not say.
struct MachineLinksConfig {
  std::string machine;  // path of the file
  LinkFacts facts;
  friend bool operator==(const MachineLinksConfig&, const MachineLinksConfig&) = default;
};

// Jobs that are submitted by a rule of local time.
struct ScheduleConfig {
  std::string name;
  std::optional<LocalRule> rule;  // always there once it is read
  std::string tenant = "default";
  std::string job;  // path of a job file
  friend bool operator==(const ScheduleConfig&, const ScheduleConfig&) = default;
};

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
  // Whether the partitions of split devices (MIG) are Gridfold's to make and remove.
  bool manage_partitions = false;
  // How often the backend's whole state is compared with the store.
  Duration reconcile_interval = Duration::seconds(30);
  // What is promised to jobs that wait, and who may use the time until then.
  BackfillOptions backfill;
  // Whether plans go by what earlier runs took, where any are known, rather than
  // by limits alone.
  bool learned_run_times = false;
  // Whether work that can be moved is moved, so that blocked jobs find room.
  bool consolidate = false;
  FillerOptions fillers;
  // When which nodes are closed.
  std::vector<WindowRule> maintenance;
  std::vector<ScheduleConfig> schedule;
  // For so long a gang that lost a node keeps its other places; zero: not at all.
  Duration gang_repair{};
  QueueConfiguration queues;
  // Without it expected times of communication are unknown.
  std::optional<MachineLinksConfig> links;
};

// Reads the file's keys into `config`:
//
//   state = "/var/lib/gridfold"
//   listen = "127.0.0.1:8080"
//   policy = "fgd"
//   policy_settings = { round = "10s" }
//   reconcile_interval = "30s"
//   backfill = "easy"
//   default_run = "24h"
//   run_times = "learned"
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
//   [[maintenance]]
//   name = "firmware"
//   domains = ["rack:r1"]
//   cron = "30 2 * * sun"
//   zone = "America/New_York"
//   for = "2h"
//   [[schedule]]
//   name = "nightly"
//   cron = "30 2 * * *"
//   zone = "America/New_York"
//   job = "/etc/gridfold/nightly.yaml"
//   [links]
//   machine = "/etc/gridfold/dgx.xml"
//   network = "infiniband"
//   card = "400Gbps"
//   pcie = "400Gbps"
//
// An unknown key is an error that names the nearest known one.
Result<void> read_config_file(const std::string& path, DaemonConfig& config);
Result<std::string> config_file_text(const std::string& path);
Result<void> read_config_text(std::string_view text, DaemonConfig& config);

// Whether a daemon would start with it, as far as that can be told beside one:
// names, settings and files that are only read when it does.
Result<void> check_config(const DaemonConfig& config);

// What the queues, and all else that a running daemon takes over, become by
// going from one configuration to the other: "queues.research/llm",
// "usage_half_life". An error, with the key as its field, where something has
// changed that takes effect only at a start.
Result<std::vector<std::string>> live_changes(const DaemonConfig& before,
                                              const DaemonConfig& after);

}  // namespace gridfold
