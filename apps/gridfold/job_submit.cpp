// gridfold job submit.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/job_source.h"
#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

struct SubmitOptions {
  std::shared_ptr<JobSource> source;
  std::string idempotency_key;
  bool hold = false;
  bool validate_only = false;
};

void print_submitted(const Cli& cli, const SubmittedView& submitted) {
  if (cli.format() == OutputFormat::kTable) {
    Table table({"JOB", "NAME", "ID"});
    for (const auto& job : submitted.jobs)
      table.add_row({std::to_string(job.number), job.name, job.id});
    std::fputs(table.text(!cli.no_headers).c_str(), stdout);
  } else {
    std::vector<Item> items;
    for (const auto& job : submitted.jobs) items.push_back({job.json, job.id});
    print_items(cli.format(), "jobs", items);
  }
  if (submitted.repeated && !cli.quiet)
    std::fputs("these were submitted before under the same key\n", stderr);
}

int submit(const Cli& cli, const SubmitOptions& options) {
  auto submission = read_source(*options.source, cli.trailing);
  if (!submission) return report(submission.error());
  submission->hold = options.hold;
  submission->idempotency_key = options.idempotency_key;
  return with_client(cli, [&](Client& client) {
    if (options.validate_only) {
      const auto canonical = client.validate(*submission);
      if (!canonical) return report(canonical.error());
      if (cli.format() != OutputFormat::kTable) print_item(cli.format(), {*canonical, "valid"});
      if (cli.format() == OutputFormat::kTable && !cli.quiet) std::fputs("valid\n", stderr);
      return kExitOk;
    }
    const auto submitted = client.submit(*submission);
    if (!submitted) return report(submitted.error());
    print_submitted(cli, *submitted);
    return kExitOk;
  });
}

}  // namespace

void add_job_submit_command(Cli& cli, CLI::App& job) {
  auto* command = job.add_subcommand("submit", "submit a batch of jobs; all of them or none");
  command->fallthrough();
  const auto options = std::make_shared<SubmitOptions>();
  options->source = add_job_source(*command);
  command->add_flag("--hold", options->hold, "submit held: nothing starts before job release");
  command->add_flag("--dry-run", options->validate_only, "check the jobs and submit nothing");
  command->add_option("--idempotency-key", options->idempotency_key,
                      "the same key again gives the same jobs, not new ones");
  command->callback(
      [&cli, options] { cli.chosen = [&cli, options] { return submit(cli, *options); }; });
}

}  // namespace gridfold
