#include "simulator/run_inputs.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/quote.h"
#include "simulator/cluster_file.h"
#include "simulator/cluster_text.h"
#include "simulator/gavel_trace.h"
#include "simulator/nearest_hint.h"
#include "simulator/openb_trace.h"
#include "simulator/philly_trace.h"
#include "simulator/swf_trace.h"
#include "simulator/text_file.h"
#include "simulator/workload_file.h"

namespace gridfold {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPodListPrefix = "openb_pod_list_";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// "a/b.csv.gz" -> ".csv"
std::string kind_of(const fs::path& path) {
  return path.extension() == ".gz" ? path.stem().extension().string() : path.extension().string();
}

// The list's name: the file's, without directory and endings.
std::string name_of(const fs::path& path) {
  fs::path name = path.filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

// The file of this stem in the directory, packed or not; empty: there is none.
fs::path list_in(const fs::path& directory, const std::string& stem) {
  for (const char* ending : {".csv", ".csv.gz"}) {
    fs::path path = directory / (stem + ending);
    if (is_there(path)) return path;
  }
  return {};
}

// Whether the CSV's header names a column like this.
bool has_column(std::string_view text, std::string_view name) {
  return text.substr(0, text.find('\n')).find(name) != std::string_view::npos;
}

Result<ClusterSpec> read_cluster_file(const fs::path& path) {
  const std::string kind = kind_of(path);
  const auto text = read_text_file(path.string());
  if (!text) return text.error();
  auto cluster = kind == ".yaml" || kind == ".yml"       ? parse_cluster_file(*text, path.string())
                 : has_column(*text, "gpu_capacity_num") ? read_spot_nodes(*text, path.string())
                                                         : read_openb_nodes(*text, path.string());
  if (!cluster) return cluster.error();
  cluster->name = name_of(path);
  if (!cluster->nodes.empty()) return cluster;
  Error error = invalid(path.string() + ": there is no node in it");
  error.hint = "give a list with at least one node";
  return error;
}

Result<ClusterSpec> read_cluster(const std::string& text, RunMode mode) {
  if (is_folder(text)) {
    const std::string stem =
        mode == RunMode::kSaturation ? "openb_node_list_gpu_node" : "openb_node_list_all_node";
    const fs::path path = list_in(text, stem);
    if (!path.empty()) return read_cluster_file(path);
    Error error = not_found(text + ": there is no " + stem + ".csv or .csv.gz in it");
    error.field = "cluster";
    error.hint = "name the node list itself";
    return error;
  }
  if (is_there(text)) return read_cluster_file(text);
  if (is_cluster_text(text)) return parse_cluster_text(text);
  Error error = not_found("there is no file or directory " + quote(text));
  error.field = "cluster";
  error.hint = "give a node list, a directory with openb lists, or nodes=64,gpus=8";
  return error;
}

std::vector<std::string> lists_of(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = name_of(entry.path());
    if (name.starts_with(kPodListPrefix))
      names.push_back(name.substr(std::string(kPodListPrefix).size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error no_workload(const std::string& text, const fs::path& directory) {
  Error error = not_found("there is no workload " + quote(text));
  error.field = "workload";
  const auto names = lists_of(directory);
  if (names.empty()) {
    error.hint = "give the path of a trace or of a workload file";
    return error;
  }
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  const std::vector<std::string_view> views(names.begin(), names.end());
  error.hint = "give a path or one of " + all + nearest_hint(text, views);
  return error;
}

Result<fs::path> find_workload(const std::string& text, const std::string& cluster) {
  const fs::path directory =
      is_folder(cluster) ? fs::path(cluster) : fs::path(cluster).parent_path();
  if (text.find('/') == std::string::npos && !directory.empty()) {
    for (const auto& stem : {text, kPodListPrefix + text}) {
      fs::path path = list_in(directory, stem);
      if (!path.empty()) return path;
    }
    if (is_there(directory / text) && !is_folder(directory / text)) return directory / text;
  }
  if (is_there(text) && !is_folder(text)) return fs::path(text);
  return no_workload(text, directory);
}

Result<Workload> read_workload(const fs::path& path, const ClusterCapacity& capacity) {
  const auto text = read_text_file(path.string());
  if (!text) return text.error();
  const std::string file = path.string();
  const std::string kind = kind_of(path);
  if (kind == ".swf") return read_swf(*text, file, capacity.largest_cpu_node);
  if (kind == ".yaml" || kind == ".yml") return parse_workload_file(*text, file);
  if (kind == ".csv") {
    if (has_column(*text, "scale_factor"))
      return read_gavel(*text, file, capacity.largest_gpu_node);
    if (has_column(*text, "num_gpus") || has_column(*text, "timestamp"))
      return read_philly(*text, file, capacity.largest_gpu_node);
    return read_openb_pods(*text, file);
  }
  Error error = invalid(file + ": no reader for files that end in " + quote(kind));
  error.field = "workload";
  error.hint = "give a .csv (openb, Philly, Gavel), .swf or .yaml file, packed by gzip or not";
  return error;
}

}  // namespace

Result<Workload> read_run_workload(const std::string& cluster_text,
                                   const std::string& workload_text,
                                   const ClusterCapacity& capacity) {
  const auto path = find_workload(workload_text, cluster_text);
  if (!path) return path.error();
  auto workload = read_workload(*path, capacity);
  if (workload) workload->name = name_of(*path);
  return workload;
}

Result<RunInputs> read_run_inputs(const std::string& cluster_text, const std::string& workload_text,
                                  RunMode mode) {
  auto cluster = read_cluster(cluster_text, mode);
  if (!cluster) return cluster.error();
  auto workload = read_run_workload(cluster_text, workload_text, capacity_of(*cluster));
  if (!workload) return workload.error();
  return RunInputs{std::move(*cluster), std::move(*workload)};
}

}  // namespace gridfold
