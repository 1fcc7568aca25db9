// gridfold job cancel, hold, release, requeue.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/gridfold/job_output.h"

namespace gridfold {
namespace {

// Does all it can; the exit code is that of the first trouble.
int act(const Cli& cli, const std::string& verb, const std::vector<std::string>& references) {
  return with_client(cli, [&](Client& client) {
    int code = kExitOk;
    std::vector<Item> changed;
    for (const auto& reference : references) {
      const auto job = client.act(reference, verb);
      if (!job) {
        const int failed = report(job.error());
        if (code == kExitOk) code = failed;
        continue;
      }
      changed.push_back({job->json, job->id});
      if (cli.format() == OutputFormat::kTable && !cli.quiet)
        std::fprintf(stderr, "job %llu (%s): %s asked, now %s\n",
                     static_cast<unsigned long long>(job->number), job->name.c_str(), verb.c_str(),
                     job->state.c_str());
    }
    if (cli.format() != OutputFormat::kTable) print_items(cli.format(), "jobs", changed);
    return code;
  });
}

void add(Cli& cli, CLI::App& job, const char* verb, const char* description) {
  auto* command = job.add_subcommand(verb, description);
  command->fallthrough();
  const auto references = std::make_shared<std::vector<std::string>>();
  command->add_option("jobs", *references, "numbers, ids or names")->required();
  command->callback([&cli, verb = std::string(verb), references] {
    cli.chosen = [&cli, verb, references] { return act(cli, verb, *references); };
  });
}

}  // namespace

void add_job_action_commands(Cli& cli, CLI::App& job) {
  add(cli, job, "cancel", "stop jobs for good, with their grace");
  add(cli, job, "hold", "keep pending jobs from starting");
  add(cli, job, "release", "let held jobs start");
  add(cli, job, "requeue", "stop running jobs and put them back into the queue");
}

}  // namespace gridfold
