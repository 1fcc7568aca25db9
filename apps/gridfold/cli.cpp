#include "apps/gridfold/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/units.h"

namespace gridfold {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> read_token_file(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (std::getline(file, token)) return token;
  Error error{ErrorKind::kUnauthorised, "the token file " + path + " cannot be read"};
  error.hint =
      "name it with --token-file or GRIDFOLD_TOKEN_FILE; the daemon keeps it in its state "
      "directory";
  return error;
}

void add_shared_options(Cli& cli) {
  auto& root = cli.root;
  root.add_option("--state", cli.state, "state directory of the daemon")
      ->envname("GRIDFOLD_STATE")
      ->type_name("DIR");
  root.add_option("--address", cli.address, "reach the daemon over loopback TCP")
      ->envname("GRIDFOLD_ADDRESS")
      ->type_name("HOST:PORT");
  root.add_option("--token-file", cli.token_file, "token for --address")
      ->envname("GRIDFOLD_TOKEN_FILE")
      ->type_name("FILE");
  root.add_option("--tenant", cli.tenant, "whose jobs")->envname("GRIDFOLD_TENANT");
  root.add_option("-o,--output", cli.output, "table, json, jsonl, yaml or name")
      ->check(CLI::IsMember({"table", "json", "jsonl", "yaml", "name"}))
      ->type_name("FORMAT");
  root.add_option("--lang", cli.lang, "language of texts: en or zh-CN")
      ->check(CLI::IsMember({"en", "zh-CN"}))
      ->type_name("LANG");
  root.add_flag("--no-headers", cli.no_headers, "tables without their first line");
  root.add_flag("-q,--quiet", cli.quiet, "no talk on stderr but errors");
}

std::string path_of(const CLI::App& command) {
  std::string path = command.get_name();
  for (const auto* up = command.get_parent(); up; up = up->get_parent())
    path = up->get_name() + " " + path;
  return path;
}

// A word where a command should stand, or "".
std::string stray_word(const CLI::App& root) {
  for (const auto& word : root.remaining(true))
    if (!word.starts_with('-')) return word;
  return {};
}

// CLI11's own errors, in our shape.
int report_usage(const CLI::App& root, const CLI::ParseError& trouble) {
  if (trouble.get_exit_code() == 0) return root.exit(trouble);  // --help
  const CLI::App* where = &root;
  while (!where->get_subcommands().empty()) where = where->get_subcommands().front();
  std::string what = trouble.what();
  std::string next = path_of(*where) + " --help";
  const auto stray = stray_word(root);
  if (!stray.empty() && !where->get_subcommands({}).empty()) {
    what = path_of(*where) + " has no command " + quote(stray);
    std::vector<std::string_view> known;
    for (const auto* sub : where->get_subcommands({})) known.push_back(sub->get_name());
    if (const auto meant = nearest(stray, known); !meant.empty())
      next = "did you mean " + path_of(*where) + " " + std::string(meant) + "?";
  }
  std::fprintf(stderr, "error: %s\nnext:  %s\n", what.c_str(), next.c_str());
  return kExitUsage;
}

}  // namespace

OutputFormat Cli::format() const {
  if (output == "json") return OutputFormat::kJson;
  if (output == "jsonl") return OutputFormat::kJsonLines;
  if (output == "yaml") return OutputFormat::kYaml;
  if (output == "name") return OutputFormat::kName;
  return OutputFormat::kTable;
}

Language Cli::language() const { return choose_language(lang); }

std::string default_state_directory() {
  const auto xdg = environment("XDG_STATE_HOME");
  if (xdg.starts_with('/')) return xdg + "/gridfold";
  const auto home = environment("HOME");
  return (home.empty() ? std::string("/tmp") : home) + "/.local/state/gridfold";
}

std::string socket_path(const std::string& state) { return state + "/gridfold.sock"; }
std::string token_path(const std::string& state) { return state + "/token"; }

Result<ClientOptions> client_options(const Cli& cli) {
  ClientOptions options;
  options.tenant = cli.tenant;
  const auto state = cli.state.empty() ? default_state_directory() : cli.state;
  if (cli.address.empty()) {
    options.unix_socket = socket_path(state);
    return options;
  }
  const auto colon = cli.address.rfind(':');
  const auto port = colon == std::string::npos
                        ? Result<std::int64_t>(invalid("no port"))
                        : parse_count(std::string_view(cli.address).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) {
    Error error = invalid("the address \"" + cli.address + "\" is not HOST:PORT");
    error.hint = "write --address 127.0.0.1:8080";
    return error;
  }
  options.host = cli.address.substr(0, colon);
  if (options.host == "localhost") options.host = "127.0.0.1";
  if (options.host.starts_with('[') && options.host.ends_with(']'))
    options.host = options.host.substr(1, options.host.size() - 2);
  options.port = static_cast<std::uint16_t>(*port);
  auto token = read_token_file(cli.token_file.empty() ? token_path(state) : cli.token_file);
  if (!token) return token.error();
  options.token = std::move(*token);
  return options;
}

std::optional<int> parse_flags(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kExitOk : kExitUsage;
  }
  return std::nullopt;
}

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
    case ErrorKind::kLimit: return 2;
    case ErrorKind::kNotFound: return 3;
    case ErrorKind::kUnauthorised: return 4;
    case ErrorKind::kConflict: return 5;
    case ErrorKind::kUnavailable: return 6;
    case ErrorKind::kInfeasible: return 7;
    case ErrorKind::kCorrupt:
    case ErrorKind::kInternal: break;
  }
  return kExitFailed;
}

int report(const Error& error) {
  Error what = error;
  what.hint.clear();
  std::fprintf(stderr, "error: %s\n", what.describe().c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "next:  %s\n", error.hint.c_str());
  return exit_code_of(error.kind);
}

void remark(const Cli& cli, const std::string& sentence) {
  if (cli.quiet) return;
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", sentence.c_str());
}

int with_client(const Cli& cli, const std::function<int(Client&)>& work) {
  auto options = client_options(cli);
  if (!options) return report(options.error());
  Client client(std::move(*options));
  return work(client);
}

void add_commands(Cli& cli) {
  add_shared_options(cli);
  add_run_command(cli);
  add_ps_command(cli);
  add_logs_command(cli);
  add_top_command(cli);
  auto* job = cli.root.add_subcommand("job", "submit, watch and change jobs");
  job->require_subcommand(1);
  add_job_submit_command(cli, *job);
  add_job_list_commands(cli, *job);
  add_job_logs_command(cli, *job);
  add_job_wait_command(cli, *job);
  add_job_explain_command(cli, *job);
  add_job_action_commands(cli, *job);
  add_job_set_command(cli, *job);
  add_node_commands(cli);
  add_config_commands(cli);
  add_queue_commands(cli);
  add_doctor_command(cli);
  add_report_commands(cli);
  add_what_if_command(cli);
  add_topology_commands(cli);
  add_daemon_commands(cli);
  add_sim_commands(cli);
  add_bench_commands(cli);
  add_version_command(cli);
  add_completion_command(cli);
}

int run_command_line(std::vector<std::string> words) {
  CLI::App root("Gridfold schedules and runs work on the devices you have.", "gridfold");
  root.fallthrough();
  root.require_subcommand(1);
  Cli cli{root};
  // What follows "--" belongs to the job: it is never taken for an option or
  // a command of ours.
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    cli.trailing.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  add_commands(cli);
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    root.parse(std::move(words));
  } catch (const CLI::ParseError& trouble) {
    return report_usage(root, trouble);
  }
  return cli.chosen ? cli.chosen() : kExitUsage;
}

}  // namespace gridfold
