#include "apps/gridfold/sim_run.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/gridfold/cli.h"
#include "policies/registry.h"
#include "simulator/run_command.h"
#include "simulator/run_settings.h"
#include "stores/null/null_store.h"

namespace gridfold {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "gridfold sim run: %s\n", error.describe().c_str());
  return exit_code_of(error.kind);
}

std::string settings_text() {
  std::string text = "Settings (--set key=value):\n";
  for (const auto& setting : run_setting_help()) {
    text += "  " + std::string(setting.key) + "=" + std::string(setting.values) + "\n      " +
            std::string(setting.meaning) + "\n";
  }
  return text + "  policy.KEY=VALUE\n      a setting of the policy\n" +
         "  world.KEY=VALUE\n      a setting of the training world\n";
}

std::string policies_text() {
  std::string text;
  for (const auto name : policy_names()) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// "key=value" pairs; a key may be given once.
Result<std::map<std::string, std::string>> split_pairs(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> values;
  for (const auto& pair : pairs) {
    const std::size_t equals = pair.find('=');
    Error error = invalid("--set " + pair);
    if (equals == std::string::npos) {
      error.hint = "write --set key=value";
      return error.with_context("there is no '='");
    }
    if (!values.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      error.hint = "leave one of them out";
      return error.with_context("the key is given twice");
    }
  }
  return values;
}

// The figures line by line; arrays and runs are for -o json.
void print_table(const std::string& json) {
  const auto object = nlohmann::ordered_json::parse(json);
  const auto print = [](const std::string& name, const nlohmann::ordered_json& value) {
    std::printf("%-32s %s\n", name.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  };
  for (const auto& [name, value] : object.items()) {
    if (value.is_array()) continue;
    if (!value.is_object()) {
      print(name, value);
      continue;
    }
    for (const auto& [part, inner] : value.items()) print(name + "." + part, inner);
  }
}

}  // namespace

int sim_run_main(int argc, char** argv) {
  SimRunOptions options;
  std::vector<std::string> pairs;
  std::string output = "table";
  CLI::App app("Replays a workload on a simulated cluster, by the daemon's own engine and loop.",
               "gridfold sim run");
  app.add_option("--cluster", options.cluster,
                 "nodes=N,gpus=M, a node list, a cluster file, or a directory of openb lists; a "
                 "training world may have its own");
  app.add_option("--workload", options.workload,
                 "a trace (openb, Philly, SWF) or workload file, or a list's name in the directory")
      ->required();
  app.add_option("--policy", options.policy, "one of " + policies_text())->capture_default_str();
  app.add_option("--seed", options.seed, "a seed, or a range A..B")->capture_default_str();
  app.add_option("--set", pairs, "key=value, see below; may be repeated")->allow_extra_args(false);
  app.add_option("--html", options.html_path, "also write a report with plots to this file");
  app.add_option("--jobs", options.jobs_path,
                 "also write a line a job to this file (training worlds)");
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.footer(settings_text());
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  auto settings = split_pairs(pairs);
  if (!settings) return fail(settings.error());
  options.set = std::move(*settings);
  options.make_store = []() -> std::unique_ptr<Store> { return std::make_unique<NullStore>(); };
  const auto json = run_simulation(options);
  if (!json) return fail(json.error());
  if (output == "table") {
    print_table(*json);
  } else {
    std::fputs(json->c_str(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
