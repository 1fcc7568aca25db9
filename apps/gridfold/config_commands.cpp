// gridfold config check, reload.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/config.h"

namespace gridfold {
namespace {

int check(const std::string& path) {
  DaemonConfig config;
  auto done = read_config_file(path, config);
  if (done) done = check_config(config);
  if (!done) return report(done.error());
  const std::size_t queues = config.queues.queues.size();
  std::printf("%s is right: %zu %s\n", path.c_str(), queues, queues == 1 ? "queue" : "queues");
  return kExitOk;
}

int reload(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto changes = client.reload_configuration();
    if (!changes) return report(changes.error());
    for (const std::string& name : *changes) std::printf("%s\n", name.c_str());
    if (changes->empty()) remark(cli, "nothing has changed");
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
  check_command->callback([&cli, path] { cli.chosen = [path] { return check(*path); }; });
  auto* reload_command =
      config->add_subcommand("reload", "let the daemon read its file again; names what changed");
  reload_command->fallthrough();
  reload_command->callback([&cli] { cli.chosen = [&cli] { return reload(cli); }; });
}

}  // namespace gridfold
