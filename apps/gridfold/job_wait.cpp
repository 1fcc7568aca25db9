// gridfold job wait.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/gridfold/job_output.h"

namespace gridfold {
namespace {

constexpr Duration kOneWait = Duration::seconds(60);

// The job once it has ended; as it is at `until` else.
Result<JobView> wait_until(Client& client, const std::string& reference, Instant until) {
  while (true) {
    const auto left = until - wall_clock_now();
    const auto step = std::clamp(left, Duration{}, kOneWait);
    auto job = client.wait(reference, step);
    if (!job || job->has_ended() || wall_clock_now() >= until) return job;
  }
}

int wait(const Cli& cli, const std::vector<std::string>& references, const std::string& timeout) {
  Instant until = Instant::never();
  if (!timeout.empty()) {
    const auto duration = parse_duration(timeout);
    if (!duration) return report(duration.error());
    until = wall_clock_now() + *duration;
  }
  return with_client(cli, [&](Client& client) {
    int code = kExitOk;
    std::vector<Item> items;
    for (const auto& reference : references) {
      const auto job = wait_until(client, reference, until);
      if (!job) return report(job.error());
      items.push_back({job->json, job->id});
      if (!cli.quiet)
        std::fprintf(stderr, "job %llu (%s): %s\n", static_cast<unsigned long long>(job->number),
                     job->name.c_str(), job->state.c_str());
      if (!job->has_ended())
        code = kExitTimedOut;
      else if (job->state != "succeeded" && code == kExitOk)
        code = kExitFailed;
    }
    if (cli.format() != OutputFormat::kTable) print_items(cli.format(), "jobs", items);
    return code;
  });
}

}  // namespace

void add_job_wait_command(Cli& cli, CLI::App& job) {
  auto* command = job.add_subcommand(
      "wait", "wait until jobs have ended; 0 when all succeeded, 1 when not, 6 when time is over");
  command->fallthrough();
  struct Options {
    std::vector<std::string> references;
    std::string timeout;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("jobs", options->references, "numbers, ids or names")->required();
  command->add_option("--timeout", options->timeout, "such as 90s or 2h; without it, for ever");
  command->callback([&cli, options] {
    cli.chosen = [&cli, options] { return wait(cli, options->references, options->timeout); };
  });
}

}  // namespace gridfold
