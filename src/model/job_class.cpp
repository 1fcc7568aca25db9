#include "model/job_class.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 4> kRules = {"training", "communication", "ports", "other"};

// Gangs that train meet on a port as well, so what they exchange tells more.
ClassRule rule_for(const JobSpec& spec) {
  if (spec.training) return ClassRule::kTraining;
  if (spec.communication || !spec.topology.empty()) return ClassRule::kCommunication;
  return spec.ports.empty() ? ClassRule::kOther : ClassRule::kPorts;
}

}  // namespace

std::string_view to_string(ClassRule rule) { return name_of(kRules, rule); }

ClassFeatures class_features(const JobSpec& spec) {
  ClassFeatures features;
  features.rule = rule_for(spec);
  features.ports = static_cast<std::int64_t>(spec.ports.size());
  for (const Role& role : spec.roles) {
    features.tasks += role.count;
    features.is_elastic |= role.min < role.count;
    for (const DeviceRequest& device : role.each.devices)
      features.devices += std::int64_t{role.count} * device.count;
  }
  return features;
}

WorkloadClass class_by(ClassRule rule) {
  return rule == ClassRule::kPorts ? WorkloadClass::kInfer : WorkloadClass::kTrain;
}

}  // namespace gridfold
