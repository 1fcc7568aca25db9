#include "apps/gridfold/config_origin.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/enum_names.h"

namespace gridfold {
namespace {

using Origin = ConfigEntry::Origin;

constexpr std::array<std::string_view, 4> kOrigins = {"default", "file", "environment", "flag"};

std::string toml_text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// As TOML writes it, whole.
std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

// The values at the leaves, with their paths; a list of plain values is one.
void add_leaves(const toml::node& node, const std::string& path, const std::string& file,
                std::vector<ConfigEntry>& entries) {
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      add_leaves(value, path.empty() ? name : path + "." + name, file, entries);
    }
    return;
  }
  const auto* list = node.as_array();
  if (list != nullptr && list->is_array_of_tables()) {
    for (std::size_t i = 0; i < list->size(); ++i)
      add_leaves(*list->get(i), path + "[" + std::to_string(i) + "]", file, entries);
    return;
  }
  entries.push_back({path, toml_text(node), Origin::kFile,
                     file + ":" + std::to_string(node.source().begin.line)});
}

// What stands for keys that nobody has given.
std::vector<ConfigEntry> defaults() {
  const DaemonConfig config;
  const auto text = [](std::string_view value) { return quoted(std::string(value)); };
  const auto time = [](Duration value) { return quoted(to_text(value)); };
  std::vector<ConfigEntry> entries;
  const auto add = [&](const char* key, std::string value) {
    entries.push_back({key, std::move(value), Origin::kDefault, {}});
  };
  add("state", text(default_state_directory()));
  add("policy", text(config.policy));
  add("reconcile_interval", time(config.reconcile_interval));
  add("usage_half_life", time(config.queues.usage_half_life));
  add("backfill", text(to_string(config.backfill.mode)));
  add("backfill_order", text(to_string(config.backfill.order)));
  add("run_times", text(config.learned_run_times ? "learned" : "limits"));
  add("consolidate", config.consolidate ? "true" : "false");
  add("manage_partitions", config.manage_partitions ? "true" : "false");
  add("gang_repair", time(config.gang_repair));
  add("fillers", text(to_string(config.fillers.admission)));
  add("fillers_guaranteed", time(config.fillers.guaranteed));
  for (std::size_t i = 0; i < config.queues.queues.size(); ++i)
    add(("queues[" + std::to_string(i) + "].name").c_str(), text(config.queues.queues[i].name));
  return entries;
}

// A flag's value may be its variable's: that one is told where both are the same.
void put_over(std::vector<ConfigEntry>& entries, const std::string& key, const std::string& value,
              const char* flag, const char* variable) {
  if (value.empty()) return;
  std::erase_if(entries, [&](const ConfigEntry& entry) { return entry.key == key; });
  const char* given = variable == nullptr ? nullptr : std::getenv(variable);
  const bool from_variable = given != nullptr && given == value;
  entries.push_back({key, quoted(value), from_variable ? Origin::kEnvironment : Origin::kFlag,
                     from_variable ? variable : flag});
}

// Whether the entry is of the key, or beneath it.
bool is_of(const ConfigEntry& entry, std::string_view key) {
  if (!entry.key.starts_with(key)) return false;
  const char next = entry.key.size() == key.size() ? '.' : entry.key[key.size()];
  return next == '.' || next == '[';
}

void sort_as_documented(std::vector<ConfigEntry>& entries) {
  static constexpr std::string_view kOrder[] = {"state",
                                                "listen",
                                                "policy",
                                                "node",
                                                "devices",
                                                "plugins",
                                                "manage_partitions",
                                                "policy_settings",
                                                "reconcile_interval",
                                                "queues",
                                                "usage_half_life",
                                                "work_units",
                                                "links",
                                                "backfill",
                                                "backfill_order",
                                                "default_run",
                                                "run_times",
                                                "consolidate",
                                                "gang_repair",
                                                "fillers",
                                                "fillers_guaranteed",
                                                "maintenance",
                                                "schedule"};
  const auto place = [](const ConfigEntry& entry) {
    return std::find_if(std::begin(kOrder), std::end(kOrder),
                        [&](std::string_view key) { return is_of(entry, key); }) -
           std::begin(kOrder);
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

}  // namespace

std::string_view to_string(ConfigEntry::Origin origin) { return name_of(kOrigins, origin); }

Result<std::vector<ConfigEntry>> config_entries(const Cli& cli, const DaemonFlags& flags) {
  if (const auto config = daemon_configuration(cli, flags); !config) return config.error();
  std::vector<ConfigEntry> entries;
  if (!flags.config.empty()) {
    const auto text = config_file_text(flags.config);
    if (!text) return text.error();
    try {
      add_leaves(toml::parse(*text), "", flags.config, entries);
    } catch (const toml::parse_error& trouble) {
      return invalid(flags.config + ": " + std::string(trouble.description()));
    }
  }
  for (ConfigEntry& entry : defaults()) {
    const std::string_view key = std::string_view(entry.key).substr(0, entry.key.find('['));
    const bool given = std::any_of(entries.begin(), entries.end(),
                                   [&](const ConfigEntry& other) { return is_of(other, key); });
    if (!given) entries.push_back(std::move(entry));
  }
  put_over(entries, "state", cli.state, "--state", "GRIDFOLD_STATE");
  put_over(entries, "listen", flags.listen, "--listen", "GRIDFOLD_LISTEN");
  put_over(entries, "policy", flags.policy, "--policy", "GRIDFOLD_POLICY");
  put_over(entries, "node", flags.node, "--node", "GRIDFOLD_NODE");
  put_over(entries, "devices", flags.devices, "--devices", "GRIDFOLD_DEVICES");
  put_over(entries, "plugins", flags.plugins, "--plugins", "GRIDFOLD_PLUGINS");
  for (const std::string& setting : flags.settings) {
    const auto equals = setting.find('=');
    put_over(entries, "policy_settings." + setting.substr(7, equals - 7),
             setting.substr(equals + 1), "--set", nullptr);
  }
  sort_as_documented(entries);
  return entries;
}

}  // namespace gridfold
