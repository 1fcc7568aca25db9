#include "simulator/training_worlds.h"

#include <array>

#include "base/quote.h"
#include "policies/settings.h"
#include "simulator/nearest_hint.h"
#include "simulator/run_inputs.h"
#include "simulator/steady_world.h"
#include "simulator/text_file.h"
#include "simulator/training/elasticflow_world.h"
#include "simulator/training/gavel_world.h"
#include "simulator/training/pollux_world.h"

namespace gridfold {
namespace {

using Made = Result<TrainingWorkload>;

Error missing(std::string_view field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::string(field);
  error.hint = std::move(hint);
  return error;
}

Made read_steady(const WorldInputs& inputs) {
  SettingsReader settings("world=steady", inputs.settings);
  SteadyWorldOptions options;
  options.restart = settings.duration("restart", options.restart);
  if (auto error = settings.finish()) return *error;
  if (inputs.cluster.empty())
    return missing("cluster", "this world has no cluster of its own", "give --cluster");
  if (!inputs.tables.empty())
    return missing("tables", "this world has no tables", "leave tables out");
  auto read = read_run_inputs(inputs.cluster, inputs.workload, RunMode::kTimes);
  if (!read) return read.error();
  return make_steady_world(read->workload, std::move(read->cluster), options);
}

Made read_pollux(const WorldInputs& inputs) {
  static constexpr std::array<std::string_view, 2> kBatches = {"adaptive", "fixed"};
  SettingsReader settings("world=pollux", inputs.settings);
  PolluxWorldOptions options;
  options.batch =
      settings.choice("batch", kBatches) == 0 ? BatchChoice::kAdaptive : BatchChoice::kFixed;
  options.process.restart = settings.duration("restart", options.process.restart);
  if (auto error = settings.finish()) return *error;
  if (!inputs.cluster.empty())
    return missing("cluster", "this world has a cluster of its own", "leave --cluster out");
  if (inputs.tables.empty())
    return missing("tables", "this world needs its measurements",
                   "give --set tables=FOLDER, the folder traces of the artefact");
  const auto programs = read_pollux_programs(inputs.tables);
  if (!programs) return programs.error();
  const auto text = read_text_file(inputs.workload);
  if (!text) return text.error();
  return read_pollux_workload(*text, inputs.workload, *programs, options);
}

Made read_elasticflow(const WorldInputs& inputs) {
  static constexpr std::array<std::string_view, 2> kClusters = {"t4", "a100"};
  SettingsReader settings("world=elasticflow", inputs.settings);
  const auto cluster = settings.choice("cluster", kClusters) == 0 ? ElasticFlowCluster::kT4
                                                                  : ElasticFlowCluster::kA100;
  const Duration restart = settings.duration("restart", Duration::seconds(30));
  if (auto error = settings.finish()) return *error;
  if (!inputs.cluster.empty())
    return missing("cluster", "this world has clusters of its own",
                   "leave --cluster out; --set world.cluster=a100 is the large one");
  if (inputs.tables.empty())
    return missing("tables", "this world needs its measurements",
                   "give --set tables=FOLDER, the one that has throughputs_T4");
  const auto tables = read_rate_tables(inputs.tables, cluster);
  if (!tables) return tables.error();
  const auto text = read_text_file(inputs.workload);
  if (!text) return text.error();
  return read_elasticflow_workload(*text, inputs.workload, *tables, cluster, restart);
}

Made read_gavel(const WorldInputs& inputs) {
  static constexpr std::array<std::string_view, 2> kRates = {"physical", "simulation"};
  static constexpr std::array<const char*, 2> kFiles = {"physical_cluster_throughputs.flat.csv.gz",
                                                        "simulation_throughputs.flat.csv.gz"};
  static constexpr std::array<std::string_view, 2> kBounds = {"none", "relaxed"};
  SettingsReader settings("world=gavel", inputs.settings);
  GavelWorldOptions options;
  const std::string file = inputs.tables + "/" + kFiles[settings.choice("rates", kRates)];
  for (auto& [model, count] : options.devices)
    count = static_cast<std::int32_t>(settings.number(model, count, 0, 10'000));
  options.node_devices =
      static_cast<std::int32_t>(settings.number("node_devices", options.node_devices, 1, 64));
  options.restart = settings.duration("restart", options.restart);
  const bool with_bounds = settings.choice("bounds", kBounds) == 1;
  const Duration interval = settings.duration("bounds_interval", Duration::seconds(360));
  if (auto error = settings.finish()) return *error;
  if (!inputs.cluster.empty())
    return missing("cluster", "this world has a cluster of its own",
                   "leave --cluster out, or set world.v100, world.p100 and world.k80");
  if (inputs.tables.empty())
    return missing("tables", "this world needs its measurements",
                   "give --set tables=FOLDER with " + std::string(kFiles[0]));
  const auto measured = read_text_file(file);
  if (!measured) return measured.error();
  const auto rates = read_gavel_rates(*measured, file);
  if (!rates) return rates.error();
  const auto text = read_text_file(inputs.workload);
  if (!text) return text.error();
  auto workload = read_gavel_workload(*text, inputs.workload, *rates, options);
  if (!workload || !with_bounds) return workload;
  const auto bounds = gavel_bounds(*workload, options, interval);
  if (!bounds) return bounds.error();
  workload->bounds = *bounds;
  return workload;
}

struct Entry {
  std::string_view name;
  Made (*read)(const WorldInputs&);
};

// One line a world.
constexpr std::array kWorlds = {
    Entry{"elasticflow", read_elasticflow},
    Entry{"gavel", read_gavel},
    Entry{"pollux", read_pollux},
    Entry{"steady", read_steady},
};

}  // namespace

std::vector<std::string_view> training_world_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kWorlds) names.push_back(entry.name);
  return names;
}

Made read_training_world(std::string_view name, const WorldInputs& inputs) {
  for (const Entry& entry : kWorlds) {
    if (entry.name == name) return entry.read(inputs);
  }
  Error error = invalid("there is no training world " + quote(name));
  error.field = "world";
  const auto names = training_world_names();
  error.hint = "use one of";
  for (const std::string_view known : names) error.hint += " " + std::string(known);
  error.hint += nearest_hint(name, names);
  return error;
}

}  // namespace gridfold
