#include "apps/gridfold/daemon_flags.h"

#include <CLI/CLI.hpp>

namespace gridfold {
namespace {

// "policy.KEY=VALUE", as of `sim run`.
Result<void> put_setting(std::map<std::string, std::string>& settings, const std::string& text) {
  constexpr std::string_view kPrefix = "policy.";
  const std::size_t equals = text.find('=');
  if (!text.starts_with(kPrefix) || equals == std::string::npos) {
    Error error = invalid("--set " + text + " is not a setting of the policy");
    error.field = "set";
    error.hint = "write --set policy.KEY=VALUE";
    return error;
  }
  settings[text.substr(kPrefix.size(), equals - kPrefix.size())] = text.substr(equals + 1);
  return {};
}

void put_over(std::string& value, const std::string& flag) {
  if (!flag.empty()) value = flag;
}

}  // namespace

Result<DaemonConfig> daemon_configuration(const Cli& cli, const DaemonFlags& flags) {
  DaemonConfig config;
  config.state = default_state_directory();
  if (!flags.config.empty())
    if (auto read = read_config_file(flags.config, config); !read) return read.error();
  put_over(config.state, cli.state);
  put_over(config.listen, flags.listen);
  put_over(config.policy, flags.policy);
  put_over(config.node_name, flags.node);
  put_over(config.devices, flags.devices);
  put_over(config.plugins, flags.plugins);
  for (const std::string& setting : flags.settings)
    if (auto put = put_setting(config.policy_settings, setting); !put) return put.error();
  return config;
}

std::shared_ptr<DaemonFlags> add_daemon_flags(CLI::App& command) {
  auto flags = std::make_shared<DaemonFlags>();
  command.add_option("--listen", flags->listen, "also serve loopback TCP, with a token")
      ->envname("GRIDFOLD_LISTEN")
      ->type_name("HOST:PORT");
  command.add_option("--policy", flags->policy, "how nodes are chosen: best_fit, fgd, …")
      ->envname("GRIDFOLD_POLICY");
  command
      .add_option("--set", flags->settings,
                  "a setting of the policy, such as policy.round=10s; may be repeated")
      ->allow_extra_args(false)
      ->type_name("policy.KEY=VALUE");
  command.add_option("--node", flags->node, "name of this machine's node")
      ->envname("GRIDFOLD_NODE");
  command
      .add_option("--devices", flags->devices,
                  "emulated devices, such as gpu:H100-SXM5-80GB=8; marked so everywhere")
      ->envname("GRIDFOLD_DEVICES");
  command.add_option("--plugins", flags->plugins, "directory of device plug-ins")
      ->envname("GRIDFOLD_PLUGINS")
      ->type_name("DIR");
  return flags;
}

}  // namespace gridfold
