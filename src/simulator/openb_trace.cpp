#include "simulator/openb_trace.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/quote.h"
#include "simulator/csv_table.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
// Keeps every sum over a trace within 63 bits.
constexpr std::int64_t kMaxMillicores = 1'000'000'000;
constexpr std::int64_t kMaxMebibytes = std::int64_t{1} << 32;
constexpr std::int64_t kMaxSeconds = 1'000'000'000;

Result<std::int64_t> bounded(const CsvTable& table, std::size_t column, std::int64_t most) {
  Result<std::int64_t> value = table.count(column);
  if (value && *value > most) {
    return table.error(column, quote(table.field(column)) + " is too large",
                       "at most " + std::to_string(most));
  }
  return value;
}

// How a kind of node list names its columns and counts CPU. No column of
// memory: kUnknownMemory.
struct NodeList {
  const char *name, *cpu, *memory, *gpu, *model;
  std::int64_t millicores_each;
};
constexpr NodeList kOpenb = {"sn", "cpu_milli", "memory_mib", "gpu", "model", 1};
constexpr NodeList kSpot = {"node_name", "cpu_num", nullptr, "gpu_capacity_num", "gpu_model", 1000};
constexpr Bytes kUnknownMemory{std::int64_t{1} << 40};

struct NodeColumns {
  std::size_t name, cpu, gpu, model;
  std::optional<std::size_t> memory;
  std::int64_t millicores_each;
};
Result<NodeColumns> node_columns(const CsvTable& table, const NodeList& list) {
  NodeColumns columns{};
  columns.millicores_each = list.millicores_each;
  if (auto found = table.columns({{list.name, &columns.name},
                                  {list.cpu, &columns.cpu},
                                  {list.gpu, &columns.gpu},
                                  {list.model, &columns.model}});
      !found)
    return found.error();
  if (list.memory == nullptr) return columns;
  const auto memory = table.column(list.memory);
  if (!memory) return memory.error();
  columns.memory = *memory;
  return columns;
}

Result<Bytes> read_memory(const CsvTable& table, const NodeColumns& columns) {
  if (!columns.memory) return kUnknownMemory;
  const auto mebibytes = bounded(table, *columns.memory, kMaxMebibytes);
  if (!mebibytes) return mebibytes.error();
  return Bytes(*mebibytes * kMebibyte);
}

Result<NodeSpec> read_node(const CsvTable& table, const NodeColumns& columns) {
  const auto cpu = bounded(table, columns.cpu, kMaxMillicores / columns.millicores_each);
  if (!cpu) return cpu.error();
  const auto memory = read_memory(table, columns);
  if (!memory) return memory.error();
  const auto gpus = bounded(table, columns.gpu, kMaxDevicesPerNode);
  if (!gpus) return gpus.error();
  if (table.field(columns.name).empty()) {
    return table.error(columns.name, "is empty", "every node needs a name");
  }
  if (*gpus > 0 && table.field(columns.model).empty()) {
    return table.error(columns.model, "is empty on a node with GPUs", "name the GPUs' model");
  }
  NodeSpec node;
  node.name = std::string(table.field(columns.name));
  node.cpu = MilliCores(*cpu * columns.millicores_each);
  node.memory = *memory;
  DeviceSpec gpu;
  gpu.device_class = "gpu";
  gpu.model = std::string(table.field(columns.model));
  gpu.origin = DeviceOrigin::kEmulated;
  node.devices.assign(static_cast<std::size_t>(*gpus), gpu);
  return node;
}

Result<ClusterSpec> read_nodes(std::string_view text, const std::string& file,
                               const NodeList& list) {
  CsvTable table(text, file);
  const auto columns = node_columns(table, list);
  if (!columns) return columns.error();
  ClusterSpec cluster;
  cluster.name = file;
  while (table.next()) {
    auto node = read_node(table, *columns);
    if (!node) return node.error();
    cluster.nodes.push_back(std::move(*node));
  }
  if (table.failure()) return *table.failure();
  return cluster;
}

// gpu_spec and the times are there or not, list by list.
struct PodColumns {
  std::size_t name, cpu, memory, gpus, gpu_milli;
  std::optional<std::size_t> models, qos, created, deleted, scheduled;
};
Result<PodColumns> pod_columns(const CsvTable& table) {
  PodColumns columns{};
  if (auto found = table.columns({{"name", &columns.name},
                                  {"cpu_milli", &columns.cpu},
                                  {"memory_mib", &columns.memory},
                                  {"num_gpu", &columns.gpus},
                                  {"gpu_milli", &columns.gpu_milli}});
      !found)
    return found.error();
  columns.models = table.find_column("gpu_spec");
  columns.qos = table.find_column("qos");
  columns.created = table.find_column("creation_time");
  columns.deleted = table.find_column("deletion_time");
  columns.scheduled = table.find_column("scheduled_time");
  if (!columns.created && !columns.deleted && !columns.scheduled) return columns;
  for (const char* name : {"creation_time", "deletion_time", "scheduled_time"}) {
    const auto found = table.column(name);  // all of the times, or none
    if (!found) return found.error();
  }
  return columns;
}

// "A|B": any of these.
std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    if (bar != 0) models.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 1);
  }
  return models;
}

struct PodNeed {
  std::int64_t cpu, memory, gpus, gpu_milli;
  std::string_view models;

  std::string key() const {
    return std::to_string(cpu) + ',' + std::to_string(memory) + ',' + std::to_string(gpus) + ',' +
           std::to_string(gpu_milli) + ',' + std::string(models);
  }
  JobSpec spec() const {
    Role role;
    role.each.cpu = MilliCores(cpu);
    role.each.memory = Bytes(memory * kMebibyte);
    if (gpus > 0) {
      DeviceRequest request;
      request.device_class = "gpu";
      request.count = static_cast<std::int32_t>(gpus);
      request.share = DeviceShare(gpu_milli);
      request.models = split_models(models);
      role.each.devices.push_back(std::move(request));
    }
    JobSpec job;
    job.roles.push_back(std::move(role));
    return job;
  }
};

Result<PodNeed> read_need(const CsvTable& table, const PodColumns& columns) {
  const auto cpu = bounded(table, columns.cpu, kMaxMillicores);
  if (!cpu) return cpu.error();
  const auto memory = bounded(table, columns.memory, kMaxMebibytes);
  if (!memory) return memory.error();
  const auto gpus = bounded(table, columns.gpus, kMaxDevicesPerNode);
  if (!gpus) return gpus.error();
  const auto milli = bounded(table, columns.gpu_milli, kWholeDevice.value);
  if (!milli) return milli.error();
  PodNeed need{*cpu, *memory, *gpus, *milli, {}};
  if (columns.models) need.models = table.field(*columns.models);
  if (need.gpus == 0) {
    need.gpu_milli = 0;
    need.models = {};
  } else if (need.gpu_milli == 0) {
    return table.error(columns.gpu_milli, "is 0 on a pod that asks for a GPU",
                       "give the share in thousandths, 1 to 1000");
  } else if (need.gpus > 1 && need.gpu_milli != kWholeDevice.value) {
    return table.error(columns.gpu_milli, "is a share on a pod that asks for several GPUs",
                       "several GPUs are whole: give 1000");
  }
  return need;
}

// Seconds; a pod never scheduled would have run from its creation.
struct PodTimes {
  std::int64_t created = 0;
  std::int64_t ran = 0;
};
Result<PodTimes> read_times(const CsvTable& table, const PodColumns& columns) {
  const auto created = bounded(table, *columns.created, kMaxSeconds);
  if (!created) return created.error();
  const auto deleted = bounded(table, *columns.deleted, kMaxSeconds);
  if (!deleted) return deleted.error();
  std::int64_t from = *created;
  if (!table.field(*columns.scheduled).empty()) {
    const auto scheduled = bounded(table, *columns.scheduled, kMaxSeconds);
    if (!scheduled) return scheduled.error();
    from = *scheduled;
  }
  if (*deleted < from) {
    return table.error(*columns.deleted, "lies before the pod's start at " + std::to_string(from),
                       "correct the times of this pod");
  }
  return PodTimes{*created, *deleted - from};
}

// Arrivals count from the first creation.
void shift_to_origin(Workload& workload) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& job : workload.jobs) {
    if (job.arrives.is_known()) first = std::min(first, job.arrives.value().ns);
  }
  for (auto& job : workload.jobs) {
    if (job.arrives.is_known()) job.arrives = Duration{job.arrives.value().ns - first};
  }
}

}  // namespace

Result<ClusterSpec> read_openb_nodes(std::string_view text, const std::string& file) {
  return read_nodes(text, file, kOpenb);
}

Result<ClusterSpec> read_spot_nodes(std::string_view text, const std::string& file) {
  return read_nodes(text, file, kSpot);
}

Result<Workload> read_openb_pods(std::string_view text, const std::string& file) {
  CsvTable table(text, file);
  const auto columns = pod_columns(table);
  if (!columns) return columns.error();
  Workload workload;
  workload.name = file;
  ShapeTable<std::string> shapes(workload);
  while (table.next()) {
    const auto need = read_need(table, *columns);
    if (!need) return need.error();
    TraceJob job;
    job.name = std::string(table.field(columns->name));
    job.shape = shapes.find_or_add(need->key(), [&] { return need->spec(); });
    job.best_effort = columns->qos && table.field(*columns->qos) == "BE";
    if (columns->created) {
      const auto times = read_times(table, *columns);
      if (!times) return times.error();
      job.arrives = Duration::seconds(times->created);
      job.duration = Duration::seconds(times->ran);
    }
    workload.jobs.push_back(std::move(job));
  }
  if (table.failure()) return *table.failure();
  shift_to_origin(workload);
  return workload;
}

}  // namespace gridfold
