#include "apps/gridfold/sim_bound.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/gridfold/cli.h"
#include "base/quote.h"
#include "simulator/bound_command.h"

namespace gridfold {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "gridfold sim bound: %s\n", error.describe().c_str());
  return exit_code_of(error.kind);
}

struct BoundFlags {
  std::vector<std::string> kinds;
  std::vector<std::string> arrived;
  std::string kept;
};

Result<void> read_kinds(const BoundFlags& flags, SimBoundOptions& options) {
  if (!flags.kept.empty()) {
    const auto kept = parse_kept(flags.kept);
    if (!kept) return kept.error().with_context("--kept");
    options.kept = *kept;
    options.kinds.push_back(BoundKind::kKept);
  }
  if (flags.kinds.empty()) return {};
  options.kinds.clear();
  for (const auto& text : flags.kinds) {
    const auto kind = parse_bound_kind(text);
    if (!kind) {
      Error error = invalid("--bounds: there is no bound " + quote(text));
      error.hint = "give lossless, arrived or kept";
      return error;
    }
    if (*kind == BoundKind::kKept && !options.kept) {
      Error error = invalid("--bounds kept: what was held earlier is not given");
      error.hint = "add --kept 0.947@0.95";
      return error;
    }
    options.kinds.push_back(*kind);
  }
  return {};
}

Result<void> read_flags(const BoundFlags& flags, SimBoundOptions& options) {
  if (const auto read = read_kinds(flags, options); !read) return read;
  if (flags.arrived.empty()) return {};
  options.arrived.clear();
  for (const auto& text : flags.arrived) {
    const auto share = parse_devices_share(text);
    if (!share) return share.error().with_context("--arrived");
    options.arrived.push_back(*share);
  }
  return {};
}

void print_table(const std::string& json) {
  const auto object = nlohmann::json::parse(json);
  std::printf("%-9s %8s %8s %14s %8s %8s\n", "BOUND", "ARRIVED", "AT MOST", "CONFIGURATION",
              "FLUID", "SECONDS");
  const auto per_cent = [](const nlohmann::json& ratio) { return 100 * ratio.get<double>(); };
  for (const auto& bound : object["bounds"]) {
    const std::string arrived =
        bound.contains("arrived_ratio") ? bound["arrived_ratio"].dump() : "-";
    std::printf("%-9s %8s %6.2f %% %12.2f %% %6.2f %% %8.2f\n",
                bound["kind"].get<std::string>().c_str(), arrived.c_str(),
                per_cent(bound["gpu_allocated_ratio"]), per_cent(bound["configuration_ratio"]),
                per_cent(bound["fluid_ratio"]), bound["wall_seconds"].get<double>());
  }
  const auto homeless = object["tasks_that_fit_no_node"].get<std::int64_t>();
  if (homeless > 0) {
    std::fprintf(stderr, "%lld tasks of the workload fit no node: nothing is lossless\n",
                 static_cast<long long>(homeless));
  }
}

}  // namespace

int sim_bound_main(int argc, char** argv) {
  SimBoundOptions options;
  BoundFlags flags;
  std::string output = "table";
  CLI::App app(
      "Upper bounds on the GPUs that any policy could have allocated, by linear programming: whole "
      "tasks on whole nodes (ratio), and pools of CPU and GPUs (fluid).",
      "gridfold sim bound");
  app.add_option("--cluster", options.cluster,
                 "nodes=N,gpus=M, a node list, a cluster file, or a directory of openb lists")
      ->required();
  app.add_option("--workload", options.workload,
                 "a trace (openb, Philly, SWF) or workload file, or a list's name in the directory")
      ->required();
  app.add_option("--bounds", flags.kinds,
                 "lossless: the most that can have arrived with nothing refused; arrived: the most "
                 "held when --arrived has come; kept: the same with --kept held earlier "
                 "(default lossless,arrived, and kept where --kept is given)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--arrived", flags.arrived, "shares of the GPUs asked for (default 1,1.3)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--kept", flags.kept,
                 "SHARE@ARRIVED: this share was allocated when that share had been asked for");
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  if (const auto read = read_flags(flags, options); !read) return fail(read.error());
  const auto json = run_bound(options);
  if (!json) return fail(json.error());
  if (output == "table") {
    print_table(*json);
  } else {
    std::fputs(json->c_str(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
