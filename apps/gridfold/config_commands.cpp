// gridfold config check, show, reload.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/config_origin.h"
#include "apps/gridfold/output.h"
#include "apps/gridfold/unknown_device_text.h"
#include "base/json_writer.h"
#include "devices/device_facts.h"
#include "devices/emulated.h"

namespace gridfold {
namespace {

// Beside a daemon only the models are known that the file emulates or that are
// made: what is neither is likely a slip.
std::vector<UnknownDevice> unlikely_devices(const DaemonConfig& config) {
  std::set<std::string> models;
  for (const DeviceFacts& facts : built_in_facts().rows())
    models.insert(facts.device_class + ":" + facts.model);
  NodeSpec node;
  if (config.devices.empty()) return unknown_devices(config.queues.queues, models);
  if (auto emulated = parse_emulated_devices(config.devices, built_in_facts()); emulated)
    node.devices = std::move(*emulated);
  add_models_of(node, models);
  return unknown_devices(config.queues.queues, models);
}

int check(const Cli& cli, const std::string& path) {
  DaemonConfig config;
  auto done = read_config_file(path, config);
  if (done) done = check_config(config);
  if (!done) return report(done.error());
  const std::size_t queues = config.queues.queues.size();
  std::printf("%s is right: %zu %s\n", path.c_str(), queues, queues == 1 ? "queue" : "queues");
  for (const UnknownDevice& unknown : unlikely_devices(config))
    remark(cli, unknown_device_text(unknown, cli.language()));
  return kExitOk;
}

// What a daemon with these flags and this file would go by.
int show(const Cli& cli, const DaemonFlags& flags, bool origin) {
  const auto entries = config_entries(cli, flags);
  if (!entries) return report(entries.error());
  Table table(origin ? std::vector<std::string>{"KEY", "VALUE", "ORIGIN"}
                     : std::vector<std::string>{"KEY", "VALUE"});
  std::vector<Item> items;
  for (const ConfigEntry& entry : *entries) {
    std::vector<std::string> row{entry.key, entry.value};
    if (origin)
      row.push_back(entry.where.empty() ? std::string(to_string(entry.origin)) : entry.where);
    table.add_row(std::move(row));
    Item& item = items.emplace_back();
    item.name = entry.key;
    JsonWriter json(item.json);
    json.begin_object().key("key").string(entry.key).key("value").string(entry.value);
    json.key("origin").string(to_string(entry.origin));
    if (!entry.where.empty()) json.key("where").string(entry.where);
    json.end_object();
  }
  if (cli.format() == OutputFormat::kTable)
    std::fputs(table.text(!cli.no_headers).c_str(), stdout);
  else
    print_items(cli.format(), "settings", items);
  return kExitOk;
}

int reload(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto reloaded = client.reload_configuration();
    if (!reloaded) return report(reloaded.error());
    for (const std::string& name : reloaded->changed) std::printf("%s\n", name.c_str());
    if (reloaded->changed.empty()) remark(cli, "nothing has changed");
    for (const UnknownDevice& unknown : reloaded->unknown_devices)
      remark(cli, unknown_device_text(unknown, cli.language()));
    return kExitOk;
  });
}

}  // namespace

void add_config_commands(Cli& cli) {
  auto* config = cli.root.add_subcommand("config", "check a daemon's configuration, or change it");
  config->require_subcommand(1);
  config->fallthrough();
  auto* check_command = config->add_subcommand("check", "whether a daemon would take this file");
  check_command->fallthrough();
  auto path = std::make_shared<std::string>();
  check_command->add_option("FILE", *path, "TOML file; see docs/formats.md")->required();
  check_command->callback(
      [&cli, path] { cli.chosen = [&cli, path] { return check(cli, *path); }; });
  auto* show_command = config->add_subcommand(
      "show", "what a daemon with this file, these flags and variables would go by");
  show_command->fallthrough();
  const auto flags = add_daemon_flags(*show_command);
  const auto origin = std::make_shared<bool>(false);
  show_command->add_option("--config", flags->config, "TOML file; see docs/formats.md")
      ->envname("GRIDFOLD_CONFIG")
      ->type_name("FILE");
  show_command->add_flag("--origin", *origin, "also where each value is from");
  show_command->callback([&cli, flags, origin] {
    cli.chosen = [&cli, flags, origin] { return show(cli, *flags, *origin); };
  });
  auto* reload_command =
      config->add_subcommand("reload", "let the daemon read its file again; names what changed");
  reload_command->fallthrough();
  reload_command->callback([&cli] { cli.chosen = [&cli] { return reload(cli); }; });
}

}  // namespace gridfold
