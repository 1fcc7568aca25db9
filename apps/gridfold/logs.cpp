// gridfold job logs, gridfold logs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "apps/gridfold/follow.h"
#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

struct LogsOptions {
  std::string job;
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;
  std::uint64_t offset = 0;
  bool follow = false;
  bool error_stream = false;
};

Reading write_out(std::string_view bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() &&
                       std::fflush(stdout) == 0;
  return written ? Reading::kGoOn : Reading::kStop;  // the reader has gone
}

Result<void> follow(Client& client, const Cli& cli, const LogsOptions& options,
                    const std::string& stream) {
  const auto job = client.job(options.job);
  if (!job) return job.error();
  if (options.task >= job->tasks.size())
    return not_found("job " + job->name + " has no task " + std::to_string(options.task));
  FollowRequest request{job->id, options.task, options.attempt};
  request.stream = stream;
  if (options.attempt > 0)
    request.attempts = Attempts::kOne;
  else
    request.first_attempt = std::max(job->tasks[options.task].attempt, 1u);
  return follow_output(client, request, write_out, [&](std::string_view sentence) {
    if (!cli.quiet)
      std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
  });
}

int logs(const Cli& cli, const LogsOptions& options) {
  const std::string stream = options.error_stream ? "stderr" : "stdout";
  return with_client(cli, [&](Client& client) {
    const auto done =
        options.follow ? follow(client, cli, options, stream)
                       : client.logs(options.job,
                                     {options.task, options.attempt, stream, options.offset, false},
                                     write_out);
    return done ? kExitOk : report(done.error());
  });
}

void add(Cli& cli, CLI::App& parent) {
  auto* command = parent.add_subcommand("logs", "show the output of a job's task");
  command->fallthrough();
  const auto options = std::make_shared<LogsOptions>();
  command->add_option("job", options->job, "number, id or name")->required();
  command->add_option("--task", options->task, "which of its tasks, from 0");
  command->add_option("--attempt", options->attempt,
                      "which run of the task; the latest by default");
  auto* offset = command->add_option("--offset", options->offset, "begin at this byte");
  command->add_flag("-f,--follow", options->follow, "go on until the job has ended")
      ->excludes(offset);
  command->add_flag("--stderr", options->error_stream, "standard error instead of standard output");
  command->callback(
      [&cli, options] { cli.chosen = [&cli, options] { return logs(cli, *options); }; });
}

}  // namespace

void add_job_logs_command(Cli& cli, CLI::App& job) { add(cli, job); }
void add_logs_command(Cli& cli) { add(cli, cli.root); }

}  // namespace gridfold
