#include "apps/gridfold/sim_verify.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "apps/gridfold/cli.h"
#include "base/units.h"
#include "simulator/verify/verify.h"
#include "stores/memory/memory_store.h"

namespace gridfold {
namespace {

std::unique_ptr<Store> make_memory_store() {
  return std::make_unique<MemoryStore>(MemoryStoreOptions{.kept_changes = 0});
}

int fail(const char* command, const Error& error) {
  std::fprintf(stderr, "gridfold sim %s: %s\n", command, error.describe().c_str());
  return 2;
}

// "7" or "1..2000".
Result<std::pair<std::uint64_t, std::uint64_t>> parse_seeds(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_count(text.substr(0, dots));
  if (!first) return first.error().with_context("--seeds " + text);
  const auto last = dots == std::string::npos ? first : parse_count(text.substr(dots + 2));
  if (!last) return last.error().with_context("--seeds " + text);
  if (*last < *first) {
    Error error = invalid("--seeds " + text + ": the range is empty");
    error.hint = "write the lower seed first, such as 1..2000";
    return error;
  }
  return std::pair{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
}

void print_table(const verify::VerifyReport& report, double seconds) {
  std::int64_t faults = 0;
  for (const auto& [kind, count] : report.faults) faults += count;
  std::printf("%llu seeds, %llu jobs, %llu events, %lld faults in %.1f s (%.0f events/s)\n",
              static_cast<unsigned long long>(report.seeds),
              static_cast<unsigned long long>(report.jobs),
              static_cast<unsigned long long>(report.events), static_cast<long long>(faults),
              seconds, static_cast<double>(report.events) / seconds);
  for (const auto& [kind, count] : report.faults)
    std::printf("  %-18s %lld\n", kind.c_str(), static_cast<long long>(count));
  for (const verify::Failure& failure : report.failures)
    std::printf("%s\n", verify::failure_line(failure).c_str());
  std::printf("%llu passed, %zu failed\n",
              static_cast<unsigned long long>(report.seeds - report.failures.size()),
              report.failures.size());
}

void show_progress(std::uint64_t done, std::uint64_t total) {
  constexpr int kWidth = 40;
  const int filled = static_cast<int>(kWidth * done / total);
  std::fprintf(stderr, "\r[%-*s] %llu/%llu seeds%s", kWidth,
               std::string(static_cast<std::size_t>(filled), '#').c_str(),
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total),
               done == total ? "\n" : "");
}

}  // namespace

int sim_verify_main(int argc, char** argv) {
  std::string seeds = "1..100";
  std::string output = "table";
  std::string faults = "all";
  bool no_shrink = false;
  CLI::App app(
      "Draws random clusters, jobs and faults from seeds, runs the daemon's own loop on them, and "
      "checks after every event that nothing is lost, doubled or given out twice.",
      "gridfold sim verify");
  app.add_option("--seeds", seeds, "a seed, or a range A..B")->capture_default_str();
  app.add_option("--faults", faults, "all, or none: the cluster itself does not fail")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  app.add_flag("--no-shrink", no_shrink, "report failing seeds as they are");
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  const auto range = parse_seeds(seeds);
  if (!range) return fail("verify", range.error());
  verify::VerifyOptions options;
  options.first_seed = range->first;
  options.last_seed = range->second;
  options.make_store = make_memory_store;
  options.calm = faults == "none" ? verify::Calm::kYes : verify::Calm::kNo;
  options.shrink = no_shrink ? verify::Shrink::kNo : verify::Shrink::kYes;
  if (isatty(STDERR_FILENO) != 0) {
    options.on_seed = [&](std::uint64_t seed, const verify::RunResult&) {
      const std::uint64_t done = seed - range->first + 1;
      const std::uint64_t total = range->second - range->first + 1;
      if (done % 10 == 0 || done == total) show_progress(done, total);
    };
  }
  const auto begin = std::chrono::steady_clock::now();
  const verify::VerifyReport report = verify::verify_seeds(options);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  if (output == "json") {
    std::fputs(verify::to_json(report, wall.count()).c_str(), stdout);
  } else {
    print_table(report, wall.count());
  }
  return report.failures.empty() ? 0 : 1;
}

int sim_replay_main(int argc, char** argv) {
  verify::RunRequest request;
  std::string only;
  bool calm = false;
  CLI::App app("Runs one seed of sim verify again and shows the last events and who holds what.",
               "gridfold sim replay");
  app.add_option("--seed", request.seed, "the seed")->required();
  app.add_option("--until", request.until, "the last event");
  app.add_option("--only", only, "the actions that happen, such as 3-5,9 or none; default all");
  app.add_flag("--calm", calm, "the cluster itself does not fail");
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  if (!only.empty()) {
    auto indices = verify::parse_indices(only);
    if (!indices) return fail("replay", indices.error().with_context("--only " + only));
    request.only = std::move(*indices);
  }
  request.calm = calm ? verify::Calm::kYes : verify::Calm::kNo;
  request.trace = verify::Trace::kOn;
  request.make_store = make_memory_store;
  const verify::RunResult result = verify::run_seed(request);
  for (const std::string& line : result.trace) std::printf("%s\n", line.c_str());
  std::fputs(result.state.c_str(), stdout);
  if (result.violation) {
    std::printf("seed %llu: %s %s at event %llu\n", static_cast<unsigned long long>(request.seed),
                result.violation->invariant.c_str(), result.violation->text.c_str(),
                static_cast<unsigned long long>(result.events));
    return 1;
  }
  std::printf("seed %llu: nothing broke in %llu events\n",
              static_cast<unsigned long long>(request.seed),
              static_cast<unsigned long long>(result.events));
  return 0;
}

}  // namespace gridfold
