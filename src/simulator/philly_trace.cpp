#include "simulator/philly_trace.h"

#include <algorithm>
#include <limits>

#include "base/quote.h"

namespace gridfold {
namespace {

constexpr Duration kMaxDuration = Duration::seconds(1'000'000'000);  // keeps sums in range
constexpr Instant kLatest{4'102'444'800'000'000'000};                // 2100-01-01
constexpr std::int64_t kMaxGpus = 4096;  // a gang's tasks are held in memory one by one

// "2017-10-09 07:01:55" is RFC 3339 but for the T and the zone.
Result<Instant> read_timestamp(const CsvTable& table, std::size_t column) {
  std::string text(table.field(column));
  const bool shaped = text.size() == 19 && text[10] == ' ';
  if (shaped) {
    text[10] = 'T';
    text += 'Z';
    const auto instant = parse_rfc3339(text);
    if (instant && *instant >= Instant{} && *instant < kLatest) return *instant;
  }
  return table.error(column, quote(table.field(column)) + " is not a time",
                     "write it as 2017-10-09 07:01:55, between 1970 and 2100");
}

struct Columns {
  std::size_t timestamp, duration, gpus;
};
Result<Columns> find_columns(const CsvTable& table) {
  Columns columns{};
  if (auto found = table.columns({{"timestamp", &columns.timestamp},
                                  {"duration", &columns.duration},
                                  {"num_gpus", &columns.gpus}});
      !found)
    return found.error();
  return columns;
}

}  // namespace

GangSplit split_gang(std::int64_t total, std::int64_t most) {
  std::int64_t tasks = (total + most - 1) / most;
  while (total % tasks != 0) ++tasks;
  return {static_cast<std::int32_t>(tasks), total / tasks};
}

Result<Duration> read_trace_seconds(const CsvTable& table, std::size_t column) {
  auto duration = parse_duration(std::string(table.field(column)) + "s");
  if (duration && *duration > kMaxDuration) {
    return table.error(column, quote(table.field(column)) + " is too long",
                       "at most " + to_text(kMaxDuration));
  }
  if (duration) return duration;
  return table.error(column, quote(table.field(column)) + " is not a duration in seconds",
                     "give seconds, such as 66.0");
}

JobSpec gpu_gang(std::int64_t gpus, std::int32_t gpus_per_node) {
  const GangSplit split = split_gang(gpus, std::max(gpus_per_node, 1));
  Role role;
  role.count = role.min = gpus_per_node > 0 ? split.tasks : 1;
  DeviceRequest request;
  request.device_class = "gpu";
  request.count = static_cast<std::int32_t>(gpus_per_node > 0 ? split.each : gpus);
  role.each.devices.push_back(std::move(request));
  JobSpec spec;
  spec.roles.push_back(std::move(role));
  return spec;
}

Result<std::int64_t> read_gang_gpus(const CsvTable& table, std::size_t column) {
  const auto gpus = table.count(column);
  if (!gpus || (*gpus >= 1 && *gpus <= kMaxGpus)) return gpus;
  return table.error(column, quote(table.field(column)) + " GPUs",
                     "a job asks for 1 to " + std::to_string(kMaxGpus));
}

Result<Workload> read_philly(std::string_view text, const std::string& file,
                             std::int32_t gpus_per_node) {
  CsvTable table(text, file);
  const auto columns = find_columns(table);
  if (!columns) return columns.error();
  Workload workload;
  workload.name = file;
  ShapeTable<std::int64_t> shapes(workload);
  std::vector<Instant> arrivals;
  const std::optional<std::size_t> cluster = table.find_column("cluster");
  while (table.next()) {
    const auto at = read_timestamp(table, columns->timestamp);
    if (!at) return at.error();
    const auto duration = read_trace_seconds(table, columns->duration);
    if (!duration) return duration.error();
    const auto gpus = read_gang_gpus(table, columns->gpus);
    if (!gpus) return gpus.error();
    arrivals.push_back(*at);
    workload.jobs.push_back(
        {"philly-" + std::to_string(workload.jobs.size()),
         shapes.find_or_add(*gpus, [&] { return gpu_gang(*gpus, gpus_per_node); }),
         Unknown{},
         *duration,
         cluster ? std::string(table.field(*cluster)) : std::string(),
         {}});
  }
  if (table.failure()) return *table.failure();
  if (arrivals.empty()) return workload;
  const Instant origin = *std::min_element(arrivals.begin(), arrivals.end());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    workload.jobs[i].arrives = arrivals[i] - origin;
  }
  return workload;
}

}  // namespace gridfold
