// What all commands share: the options that every one of them takes, how a
// command declares itself, and how its outcome becomes an exit code.
//
//   void add_queue_commands(Cli& cli) {
//     auto* list = …add_subcommand("list", "…");
//     list->callback([&cli] { cli.chosen = [&cli] { return list_queues(cli); }; });
//   }
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/gridfold/reason_text.h"
#include "base/result.h"
#include "client/client.h"

namespace CLI {
class App;
}

namespace gridfold {

enum class OutputFormat : std::uint8_t { kTable, kJson, kJsonLines, kYaml, kName };

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimedOut = 6;

// stdout carries data, stderr all talk.
struct Cli {
  CLI::App& root;
  // After "--": the words of a command to run.
  std::vector<std::string> trailing;

  std::string state;    // directory of the daemon's socket
  std::string address;  // HOST:PORT instead of the socket
  std::string token_file;
  std::string tenant = "default";
  std::string output = "table";
  std::string lang;
  bool no_headers = false;
  bool quiet = false;

  std::function<int()> chosen;  // the command that was named

  OutputFormat format() const;
  Language language() const;
};

// The directory of this user's daemon: $XDG_STATE_HOME/gridfold, else
// ~/.local/state/gridfold.
std::string default_state_directory();
std::string socket_path(const std::string& state);
std::string token_path(const std::string& state);

// How to reach the daemon that the options name.
Result<ClientOptions> client_options(const Cli& cli);

// For a command with a parser of its own: reads the flags. The exit code when
// that ends the command: it asked for help, or made a mistake that was told.
std::optional<int> parse_flags(CLI::App& app, int argc, char** argv);

int exit_code_of(ErrorKind kind);
// Writes "error: …" and the next step to stderr; gives the exit code.
int report(const Error& error);
// Talk that belongs below what was printed before it: stdout, which may be
// buffered, is written out first. Nothing under --quiet.
void remark(const Cli& cli, const std::string& sentence);
// Connects and runs; the usual shape of a command.
int with_client(const Cli& cli, const std::function<int(Client&)>& work);

// Each declares its commands.
void add_daemon_commands(Cli& cli);  // up, serve
void add_config_commands(Cli& cli);
void add_job_submit_command(Cli& cli, CLI::App& job);
void add_job_list_commands(Cli& cli, CLI::App& job);    // list, get
void add_job_action_commands(Cli& cli, CLI::App& job);  // cancel, hold, release, requeue
void add_job_set_command(Cli& cli, CLI::App& job);
void add_job_wait_command(Cli& cli, CLI::App& job);
void add_job_explain_command(Cli& cli, CLI::App& job);
void add_job_logs_command(Cli& cli, CLI::App& job);
void add_ps_command(Cli& cli);
void add_logs_command(Cli& cli);
void add_run_command(Cli& cli);
void add_node_commands(Cli& cli);
void add_queue_commands(Cli& cli);
void add_doctor_command(Cli& cli);
void add_report_commands(Cli& cli);
void add_top_command(Cli& cli);
void add_what_if_command(Cli& cli);
void add_topology_commands(Cli& cli);
void add_sim_commands(Cli& cli);  // run, whose flags are its own
void add_bench_commands(Cli& cli);
void add_version_command(Cli& cli);
void add_completion_command(Cli& cli);

// All of the above.
void add_commands(Cli& cli);

// Parses and runs a command line; the program without its process.
int run_command_line(std::vector<std::string> words);

}  // namespace gridfold
