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

std::optional<Duration> RunTimeForecast::predict(const JobSpec& spec, Duration ran) const {
  for (const std::string& key : keys_of(spec)) {
    const auto known = last_.find(key);
    if (known == last_.end()) continue;
    std::vector<Duration> longer;
    for (const Duration run : known->second.runs) {
      if (run > ran || ran == Duration{}) longer.push_back(run);
    }
    if (longer.empty()) continue;
    const auto quartile = longer.begin() + static_cast<std::ptrdiff_t>(longer.size() * 3 / 4);
    std::nth_element(longer.begin(), quartile, longer.end());
    return spec.time_limit.is_unlimited() ? *quartile
                                          : std::min(*quartile, spec.time_limit.bound());
  }
  return std::nullopt;
}

void RunTimeForecast::observe(const JobSpec& spec, Duration ran) {
  if (last_.size() >= kMostKinds) last_.clear();
  for (const std::string& key : keys_of(spec)) {
    LastRuns& kind = last_[key];
    if (kind.runs.size() < kMostRuns) {
      kind.runs.push_back(ran);
      continue;
    }
    kind.runs[kind.oldest] = ran;
    kind.oldest = (kind.oldest + 1) % kMostRuns;
  }
}

}  // namespace gridfold
