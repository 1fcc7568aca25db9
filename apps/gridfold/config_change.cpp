// What a configuration must be beside well written, and what of it may change
// while the daemon runs.
#include <map>

#include "api/access.h"
#include "apps/gridfold/config.h"
#include "apps/gridfold/scheduled.h"
#include "devices/device_facts.h"
#include "devices/emulated.h"
#include "policies/registry.h"
#include "simulator/text_file.h"
#include "topology/machine_topology_file.h"

namespace gridfold {
namespace {

// Of what was asked under this key, unless it says better itself.
Error of_field(Error error, std::string field) {
  if (error.field.empty()) error.field = std::move(field);
  return error;
}

Error needs_restart(std::string key) {
  Error error = conflict("it has changed, and that takes effect only when the daemon starts");
  error.field = std::move(key);
  error.hint =
      "restart the daemon (running tasks go on meanwhile), or put the value back; "
      "nothing of the file was taken over";
  return error;
}

// The first key that differs and is only read at a start.
std::optional<std::string> fixed_key(const DaemonConfig& a, const DaemonConfig& b) {
  if (a.state != b.state) return "state";
  if (a.listen != b.listen) return "listen";
  if (a.policy != b.policy) return "policy";
  if (a.policy_settings != b.policy_settings) return "policy_settings";
  if (a.node_name != b.node_name) return "node";
  if (a.devices != b.devices) return "devices";
  if (a.plugins != b.plugins) return "plugins";
  if (a.manage_partitions != b.manage_partitions) return "manage_partitions";
  if (a.links != b.links) return "links";
  if (a.backfill.mode != b.backfill.mode) return "backfill";
  if (a.backfill.order != b.backfill.order) return "backfill_order";
  if (a.backfill != b.backfill) return "default_run";
  if (a.learned_run_times != b.learned_run_times) return "run_times";
  if (a.consolidate != b.consolidate) return "consolidate";
  if (a.gang_repair != b.gang_repair) return "gang_repair";
  if (a.schedule != b.schedule) return "schedule";
  if (a.fillers.admission != b.fillers.admission) return "fillers";
  if (a.fillers != b.fillers) return "fillers_guaranteed";
  return std::nullopt;
}

}  // namespace

Result<void> check_config(const DaemonConfig& config) {
  if (!config.listen.empty())
    if (const auto address = parse_listen_address(config.listen); !address)
      return of_field(address.error(), "listen");
  if (const auto policy = make_policy(config.policy, {.settings = config.policy_settings}); !policy)
    return of_field(policy.error(), "policy");
  if (!config.devices.empty())
    if (const auto devices = parse_emulated_devices(config.devices, built_in_facts()); !devices)
      return of_field(devices.error(), "devices");
  if (const auto scheduled = read_scheduled_jobs(config.schedule); !scheduled)
    return of_field(scheduled.error(), "schedule");
  if (config.links) {
    const auto bytes = read_text_file(config.links->machine);
    if (!bytes) return of_field(bytes.error(), "links.machine");
    if (const auto read = read_machine_topology(config.links->machine, *bytes); !read)
      return of_field(read.error(), "links.machine");
  }
  return {};
}

Result<std::vector<std::string>> live_changes(const DaemonConfig& before,
                                              const DaemonConfig& after) {
  if (auto fixed = fixed_key(before, after)) return needs_restart(std::move(*fixed));
  std::vector<std::string> changes;
  std::map<std::string, const QueueSpec*> known;
  for (const QueueSpec& queue : before.queues.queues) known[queue.name] = &queue;
  for (const QueueSpec& queue : after.queues.queues) {
    const auto it = known.find(queue.name);
    if (it == known.end() || *it->second != queue) changes.push_back("queues." + queue.name);
    if (it != known.end()) known.erase(it);
  }
  for (const auto& [name, removed] : known) changes.push_back("queues." + name);
  if (before.queues.usage_half_life != after.queues.usage_half_life)
    changes.emplace_back("usage_half_life");
  if (before.queues.work_units != after.queues.work_units) changes.emplace_back("work_units");
  if (before.reconcile_interval != after.reconcile_interval)
    changes.emplace_back("reconcile_interval");
  if (before.maintenance != after.maintenance) changes.emplace_back("maintenance");
  return changes;
}

}  // namespace gridfold
