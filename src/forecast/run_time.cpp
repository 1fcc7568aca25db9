#include "forecast/run_time.h"

#include <algorithm>

namespace gridfold {
namespace {

// What it asks for in all: tasks, cores, memory and devices.
std::string size_of(const JobSpec& spec) {
  std::string size;
  for (const Role& role : spec.roles) {
    size += std::to_string(role.count) + "*" + std::to_string(role.each.cpu.value);
    for (const DeviceRequest& device : role.each.devices) {
      size += "," + device.device_class + std::to_string(device.count) + "/" +
              std::to_string(device.share.value);
    }
    size += ';';
  }
  return size;
}

}  // namespace

std::array<std::string, RunTimeForecast::kLikenesses> RunTimeForecast::keys_of(
    const JobSpec& spec) {
  // Lengths before texts: no two different jobs share a key.
  const auto part = [](const std::string& text) {
    return std::to_string(text.size()) + ":" + text;
  };
  const std::string user = part(spec.tenant);
  const std::string name = part(spec.name);
  const std::string size = size_of(spec);
  const std::string limit =
      spec.time_limit.is_unlimited() ? "none" : std::to_string(spec.time_limit.bound().ns);
  return {"a" + user + name + size + limit, "b" + user + name + size, "c" + user + name,
          "d" + user + limit};
}

std::optional<Duration> RunTimeForecast::predict(const JobSpec& spec) const {
  for (const std::string& key : keys_of(spec)) {
    const auto known = last_.find(key);
    if (known == last_.end()) continue;
    const Duration mean = known->second.mean();
    return spec.time_limit.is_unlimited() ? mean : std::min(mean, spec.time_limit.bound());
  }
  return std::nullopt;
}

void RunTimeForecast::observe(const JobSpec& spec, Duration ran) {
  if (last_.size() >= kMostKinds) last_.clear();
  for (const std::string& key : keys_of(spec)) {
    const auto [entry, is_new] = last_.try_emplace(key);
    LastRuns& runs = entry->second;
    runs.before = is_new ? ran : runs.last;
    runs.last = ran;
  }
}

}  // namespace gridfold
