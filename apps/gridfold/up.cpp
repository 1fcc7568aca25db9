// gridfold up (one user, no configuration file) and gridfold serve (a site's
// daemon): the same daemon, in the foreground until SIGINT or SIGTERM. At SIGHUP
// one with a file reads it again; one without ends, for its terminal is gone.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/daemon.h"
#include "apps/gridfold/daemon_flags.h"

namespace gridfold {
namespace {

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

void tell(const Cli& cli, const std::string& sentence) {
  if (!cli.quiet) std::fprintf(stderr, "%s\n", sentence.c_str());
}

void tell_started(const Cli& cli, const Daemon& daemon, const DaemonConfig& config) {
  tell(cli, "gridfold " GRIDFOLD_VERSION " is up");
  tell(cli, "  node    " + daemon.node_summary());
  tell(cli, "  state   " + config.state);
  if (daemon.port() != 0)
    tell(cli, "  listens http://127.0.0.1:" + std::to_string(daemon.port()) + " (token in " +
                  token_path(config.state) + ")");
  for (const auto& note : daemon.notes()) tell(cli, "  note    " + note);
  if (const auto tasks = daemon.running_tasks(); tasks > 0)
    tell(cli, "  found   " + std::to_string(tasks) + " tasks of before");
  const bool elsewhere = config.state != default_state_directory();
  tell(cli, "try: gridfold" + (elsewhere ? " --state " + config.state : std::string()) +
                " run -- echo hello");
}

void tell_reloaded(const Cli& cli, const Result<std::vector<std::string>>& changes) {
  if (!changes) {
    report(changes.error().with_context("the configuration stays as it was"));
    return;
  }
  std::string names;
  for (const std::string& name : *changes) names += (names.empty() ? "" : ", ") + name;
  tell(cli, names.empty() ? "configuration read again: nothing has changed"
                          : "configuration read again: changed " + names);
}

// Cancels all jobs and waits for their ends. A further signal ends the waiting.
void stop_tasks(const Cli& cli, Daemon& daemon, const sigset_t& signals) {
  daemon.cancel_all();
  tell(cli, "cancelling all jobs; again to leave them running");
  const timespec step{0, 50'000'000};
  while (daemon.live_jobs() > 0)
    if (sigtimedwait(&signals, nullptr, &step) > 0) return;
}

int run_daemon(const Cli& cli, const DaemonFlags& flags) {
  const auto config = daemon_configuration(cli, flags);
  if (!config) return report(config.error());
  // Before any thread is made, so that all of them inherit it.
  const auto signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::function<Result<DaemonConfig>()> read_again;
  if (!flags.config.empty())
    read_again = [&cli, flags] { return daemon_configuration(cli, flags); };
  auto daemon = Daemon::start(*config, read_again);
  if (!daemon) return report(daemon.error());
  tell_started(cli, **daemon, *config);
  for (int signal = SIGHUP; sigwait(&signals, &signal), signal == SIGHUP && read_again;) {
    tell_reloaded(cli, (*daemon)->reload());
    for (const auto& note : (*daemon)->queue_notes()) tell(cli, "note: " + note);
  }
  if (flags.stop_tasks) stop_tasks(cli, **daemon, signals);
  const auto tasks = (*daemon)->running_tasks();
  daemon->reset();
  tell(cli, tasks == 0 ? "ended; nothing is left running"
                       : "ended; " + std::to_string(tasks) +
                             " running tasks go on, and the next gridfold up on this state finds "
                             "them again");
  return kExitOk;
}

// Flags of a daemon that runs: those of its configuration, and how it ends.
std::shared_ptr<DaemonFlags> add_flags(CLI::App& command) {
  auto flags = add_daemon_flags(command);
  command.add_flag("--stop-tasks", flags->stop_tasks,
                   "cancel all jobs at the end; otherwise running tasks go on");
  return flags;
}

}  // namespace

void add_daemon_commands(Cli& cli) {
  auto* up = cli.root.add_subcommand("up", "run Gridfold on this machine, in the foreground");
  up->fallthrough();
  const auto up_flags = add_flags(*up);
  up->callback(
      [&cli, up_flags] { cli.chosen = [&cli, up_flags] { return run_daemon(cli, *up_flags); }; });

  auto* serve = cli.root.add_subcommand("serve", "run the daemon of a site, by its configuration");
  serve->fallthrough();
  const auto serve_flags = add_flags(*serve);
  serve->add_option("--config", serve_flags->config, "TOML file; see docs/formats.md")
      ->envname("GRIDFOLD_CONFIG")
      ->required()
      ->type_name("FILE");
  serve->callback([&cli, serve_flags] {
    cli.chosen = [&cli, serve_flags] { return run_daemon(cli, *serve_flags); };
  });
}

}  // namespace gridfold
