// gridfold job list, job get, ps.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/job_output.h"

namespace gridfold {
namespace {

constexpr std::size_t kPage = 500;

struct ListOptions {
  std::string state, queue, name;
  bool all = false;
  std::size_t limit = 200;
};

struct Listing {
  std::vector<JobView> jobs;
  bool more = false;
};

Result<Listing> fetch(Client& client, const ListOptions& options) {
  Listing listing;
  JobQuery query{options.state, options.queue, options.name};
  if (query.state.empty() && !options.all) query.state = "live";
  while (true) {
    query.page_size = std::min(kPage, options.limit - listing.jobs.size());
    auto page = client.list_jobs(query);
    if (!page) return page.error();
    for (auto& job : page->jobs) listing.jobs.push_back(std::move(job));
    query.page_token = page->next_page_token;
    listing.more = !query.page_token.empty();
    if (!listing.more || listing.jobs.size() >= options.limit) return listing;
  }
}

void print_jobs(const Cli& cli, const Listing& listing) {
  if (cli.format() != OutputFormat::kTable) {
    std::vector<Item> items;
    for (const auto& job : listing.jobs) items.push_back({job.json, job.id});
    return print_items(cli.format(), "jobs", items);
  }
  const auto table = job_table(listing.jobs, wall_clock_now(), cli.language());
  std::fputs(table.text(!cli.no_headers).c_str(), stdout);
  if (const auto note = emulated_note(listing.jobs); !note.empty()) remark(cli, note);
}

int list(const Cli& cli, const ListOptions& options) {
  return with_client(cli, [&](Client& client) {
    const auto listing = fetch(client, options);
    if (!listing) return report(listing.error());
    print_jobs(cli, *listing);
    if (listing->more)
      remark(cli, "the newest " + std::to_string(listing->jobs.size()) +
                      " are shown; --limit shows more");
    if (listing->jobs.empty() && cli.format() == OutputFormat::kTable)
      remark(cli, options.all || !options.state.empty() ? "no jobs" : "no live jobs");
    return kExitOk;
  });
}

int get(const Cli& cli, const std::string& reference) {
  return with_client(cli, [&](Client& client) {
    const auto job = client.job(reference);
    if (!job) return report(job.error());
    if (cli.format() == OutputFormat::kTable)
      std::fputs(describe_job(*job, wall_clock_now(), cli.language()).c_str(), stdout);
    else
      print_item(cli.format(), {job->json, job->id});
    return kExitOk;
  });
}

void add_list(Cli& cli, CLI::App& parent, const char* name, const char* description) {
  auto* command = parent.add_subcommand(name, description);
  command->fallthrough();
  const auto options = std::make_shared<ListOptions>();
  command->add_option("--state", options->state,
                      "pending, starting, running, stopping, succeeded, failed, cancelled; live, "
                      "ended; several with commas");
  command->add_option("--queue", options->queue, "of this queue only");
  command->add_option("--name", options->name, "of this name only");
  command->add_flag("-a,--all", options->all, "ended jobs too");
  command->add_option("--limit", options->limit, "at most so many, the newest first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback(
      [&cli, options] { cli.chosen = [&cli, options] { return list(cli, *options); }; });
}

}  // namespace

void add_job_list_commands(Cli& cli, CLI::App& job) {
  add_list(cli, job, "list", "list jobs, the newest first");
  auto* command = job.add_subcommand("get", "show one job");
  command->fallthrough();
  const auto reference = std::make_shared<std::string>();
  command->add_option("job", *reference, "number, id or name")->required();
  command->callback(
      [&cli, reference] { cli.chosen = [&cli, reference] { return get(cli, *reference); }; });
}

void add_ps_command(Cli& cli) { add_list(cli, cli.root, "ps", "list jobs (job list)"); }

}  // namespace gridfold
