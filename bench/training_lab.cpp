// Tries policies of rounds on training worlds, without engine and control loop:
//
//   training_lab DATA POLICY LOAD [WORKLOAD…] [key=value…]
//   training_lab DATA POLICY gavel [WORKLOAD…] [key=value…]
//
// DATA is the folder data/pollux, LOAD one of 0.5, 1.0, 1.5, 2.0; or data/gavel
// with names of its physical_cluster traces, where POLICY may be `bound`. A line a workload, then
// their mean; with published JCTs beside ours.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "simulator/csv_table.h"
#include "simulator/text_file.h"
#include "simulator/training/gavel_world.h"
#include "simulator/training/pollux_world.h"
#include "simulator/training/round_driver.h"

using namespace gridfold;

namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "training_lab: %s\n", message.c_str());
  std::exit(2);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().describe());
  return std::move(*result);
}

using Published = std::map<std::string, double>;  // "workload-1/cifar10-0" -> seconds

Published read_published(const std::string& data, const std::string& policy,
                         const std::string& load) {
  const std::string path = data + "/results_jobload_jct.csv.gz";
  const std::string text = must(read_text_file(path));
  CsvTable table(text, path);
  Published published;
  while (table.next()) {
    if (table.field(0) != policy || table.field(1) != load) continue;
    published[std::string(table.field(2)) + "/" + std::string(table.field(3))] =
        std::atof(std::string(table.field(4)).c_str());
  }
  return published;
}

std::unique_ptr<RoundPolicy> make(const std::string& name, const TrainingWorkload& workload,
                                  const std::map<std::string, std::string>& settings) {
  PolicyOptions options;
  options.settings = settings;
  options.truth = workload.truth;
  options.round = workload.round;
  Policies policies = must(make_policy(name, options));
  if (policies.rounds == nullptr) fail("policy " + name + " does not decide in rounds");
  return std::move(policies.rounds);
}

// Reads a workload by its name.
using ReadWorkload = std::function<TrainingWorkload(const std::string& name)>;

ReadWorkload pollux_reader(const std::string& data, const std::string& load, BatchChoice batch) {
  const auto programs =
      std::make_shared<PolluxPrograms>(must(read_pollux_programs(data + "/traces")));
  const std::string folder = data + "/workloads" + (load == "1.0" ? "" : "-" + load) + "/";
  return [=](const std::string& name) {
    const std::string path = folder + name + ".csv";
    return must(read_pollux_workload(must(read_text_file(path)), path, *programs, {batch, {}}));
  };
}

ReadWorkload gavel_reader(const std::string& data, const std::string& rates_of) {
  const std::string table = data + "/" + rates_of + "_throughputs.flat.csv.gz";
  const auto rates =
      std::make_shared<GavelRates>(must(read_gavel_rates(must(read_text_file(table)), table)));
  return [=](const std::string& name) {
    const std::string path = data + "/physical_cluster/" + name + ".trace.csv";
    return must(read_gavel_workload(must(read_text_file(path)), path, *rates, {}));
  };
}

std::int64_t devices_of(const TrainingWorkload& workload) {
  std::int64_t devices = 0;
  for (const NodeSpec& node : workload.cluster.nodes)
    devices += static_cast<std::int64_t>(node.devices.size());
  return devices;
}

struct Summary {
  std::vector<double> jcts;
  double mean_sum = 0, published_sum = 0, makespan = 0, held = 0, span = 0, policy = 0;
  double worst_ratio = 0;
  int workloads = 0, equal = 0, near = 0;
  long starts = 0;
};

void add(const DrivenRun& run, const TrainingWorkload& workload, const std::string& name,
         const Published& published, Summary& all) {
  double sum = 0, published_sum = 0, worst = 0;
  const auto all_devices = static_cast<double>(devices_of(workload));
  int equal = 0;
  long starts = 0;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const DrivenJob& job = run.jobs[i];
    const double jct = (job.finished - job.submitted).in_seconds();
    sum += jct;
    starts += job.starts;
    all.jcts.push_back(jct);
    const auto alone =
        workload.arrivals[i].seconds_on_share(all_devices / std::max(1.0, job.active_jobs));
    if (alone.is_known()) worst = std::max(worst, jct / alone.value());
    const auto found = published.find(name + "/" + job.name);
    if (found == published.end()) continue;
    published_sum += found->second;
    equal += jct - found->second < 1 && found->second - jct < 1 ? 1 : 0;
  }
  const auto n = static_cast<double>(run.jobs.size());
  std::printf(
      "%s jobs=%zu mean=%.1f published=%.1f equal=%d makespan=%.0f ratio=%.2f starts=%ld "
      "held=%.3f policy=%.2fs%s%s\n",
      name.c_str(), run.jobs.size(), sum / n, published_sum / n, equal, run.end.ns * 1e-9, worst,
      starts, run.held_device_seconds / (all_devices * run.end.ns * 1e-9), run.policy_seconds,
      run.fault.empty() ? "" : " FAULT ", run.fault.c_str());
  std::fflush(stdout);
  all.mean_sum += sum / n;
  all.published_sum += published_sum / n;
  all.makespan += run.end.ns * 1e-9;
  all.held += run.held_device_seconds;
  all.span += all_devices * run.end.ns * 1e-9;
  all.policy += run.policy_seconds;
  all.worst_ratio = std::max(all.worst_ratio, worst);
  all.equal += equal;
  all.starts += starts;
  ++all.workloads;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: training_lab DATA POLICY LOAD [WORKLOAD…] [key=value…]");
  const std::string data = argv[1], policy_name = argv[2], load = argv[3];
  std::vector<std::string> workloads;
  std::map<std::string, std::string> settings;
  for (int i = 4; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      workloads.push_back(argument);
    } else {
      settings[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  const bool is_gavel = load.starts_with("gavel");
  if (workloads.empty()) {
    workloads = is_gavel ? std::vector<std::string>{"max_min_fairness", "minimize_makespan"}
                         : std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7"};
  }
  const bool is_fixed = policy_name == "tiresias" || policy_name == "optimus";
  const ReadWorkload read =
      is_gavel ? gavel_reader(data, load == "gavel" ? "simulation" : "physical_cluster")
               : pollux_reader(data, load, is_fixed ? BatchChoice::kFixed : BatchChoice::kAdaptive);
  const Published published =
      is_gavel ? Published{}
               : read_published(data, policy_name == "gridfold" ? "pollux" : policy_name, load);
  Summary all;
  for (const std::string& given : workloads) {
    const std::string name = is_gavel ? given : "workload-" + given;
    const TrainingWorkload workload = read(name);
    if (policy_name == "bound") {
      const auto [makespan, mean] = must(gavel_bounds(workload, {}, workload.round));
      std::printf("%s mean >= %.1f makespan >= %.1f\n", name.c_str(), mean.value(),
                  makespan.value());
      continue;
    }
    const auto policy = make(policy_name, workload, settings);
    add(drive_rounds(workload, *policy), workload, name, published, all);
  }
  if (all.jcts.empty()) return 0;
  std::sort(all.jcts.begin(), all.jcts.end());
  const auto rank = static_cast<std::size_t>(0.99 * static_cast<double>(all.jcts.size() - 1));
  std::printf(
      "%s load=%s mean=%.1f published=%.1f p99=%.0f makespan=%.0f ratio=%.2f starts=%ld "
      "held=%.3f equal=%d/%zu policy=%.2fs\n",
      policy_name.c_str(), load.c_str(), all.mean_sum / all.workloads,
      all.published_sum / all.workloads, all.jcts[rank], all.makespan / all.workloads,
      all.worst_ratio, all.starts, all.held / all.span, all.equal, all.jcts.size(), all.policy);
}
