#include "model/job.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 3> kClasses = {"train", "infer", "filler"};
constexpr std::array<std::string_view, 5> kPlaces = {"any", "single_numa", "linked", "same_switch",
                                                     "spread"};
constexpr std::array<std::string_view, 3> kCauses = {"failure", "node_lost", "out_of_memory"};
constexpr std::array<std::string_view, 3> kConditions = {"ok", "any", "failed"};

}  // namespace

std::string_view to_string(WorkloadClass value) { return name_of(kClasses, value); }
std::optional<WorkloadClass> parse_workload_class(std::string_view text) {
  return value_of<WorkloadClass>(kClasses, text);
}

std::string_view to_string(DevicePlace value) { return name_of(kPlaces, value); }
std::optional<DevicePlace> parse_device_place(std::string_view text) {
  return value_of<DevicePlace>(kPlaces, text);
}

std::string_view to_string(RetryCause value) { return name_of(kCauses, value); }
std::optional<RetryCause> parse_retry_cause(std::string_view text) {
  return value_of<RetryCause>(kCauses, text);
}

std::string_view to_string(DependencyCondition value) { return name_of(kConditions, value); }
std::optional<DependencyCondition> parse_dependency_condition(std::string_view text) {
  return value_of<DependencyCondition>(kConditions, text);
}

}  // namespace gridfold
