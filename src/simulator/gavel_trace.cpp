#include "simulator/gavel_trace.h"

#include "simulator/csv_table.h"
#include "simulator/philly_trace.h"

namespace gridfold {
namespace {

struct Columns {
  std::size_t program, arrival, gpus;
};
Result<Columns> find_columns(const CsvTable& table) {
  Columns columns{};
  if (auto found = table.columns({{"job_type", &columns.program},
                                  {"arrival_time_s", &columns.arrival},
                                  {"scale_factor", &columns.gpus}});
      !found)
    return found.error();
  return columns;
}

}  // namespace

Result<Workload> read_gavel(std::string_view text, const std::string& file,
                            std::int32_t gpus_per_node) {
  CsvTable table(text, file);
  const auto columns = find_columns(table);
  if (!columns) return columns.error();
  Workload workload;
  workload.name = file;
  ShapeTable<std::int64_t> shapes(workload);
  while (table.next()) {
    const auto arrival = read_trace_seconds(table, columns->arrival);
    if (!arrival) return arrival.error();
    const auto gpus = read_gang_gpus(table, columns->gpus);
    if (!gpus) return gpus.error();
    workload.jobs.push_back(
        {"gavel-" + std::to_string(workload.jobs.size()),
         shapes.find_or_add(*gpus, [&] { return gpu_gang(*gpus, gpus_per_node); }),
         *arrival,
         Unknown{},
         {},
         std::string(table.field(columns->program))});
  }
  if (table.failure()) return *table.failure();
  return workload;
}

}  // namespace gridfold
