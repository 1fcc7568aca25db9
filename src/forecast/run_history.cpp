#include "forecast/run_history.h"

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

// Lengths before texts: no two different jobs share a key.
std::string part(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

std::string commands_of(const JobSpec& spec) {
  std::string commands;
  for (const Role& role : spec.roles) {
    for (const std::string& word : role.command) commands += part(word);
    commands += ';';
  }
  return commands;
}

// By likeness, each with a letter of its own before it.
std::array<std::string, kLikenesses> keys_of(const JobSpec& spec) {
  const std::string user = part(spec.tenant);
  const std::string name = part(spec.name);
  const std::string size = size_of(spec);
  const std::string limit =
      spec.time_limit.is_unlimited() ? "none" : std::to_string(spec.time_limit.bound().ns);
  return {"a" + user + name + size + limit,
          "b" + user + name + size,
          "c" + user + name,
          "d" + user + limit,
          "e" + user + commands_of(spec),
          "f" + size + limit,
          "g" + limit};
}

}  // namespace

void LastRuns::add(Duration ran) {
  if (runs_.size() < kMost) {
    runs_.push_back(ran);
    return;
  }
  runs_[oldest_] = ran;
  oldest_ = (oldest_ + 1) % kMost;
}

Duration LastRuns::newest(std::size_t back) const {
  return runs_[(oldest_ + 2 * runs_.size() - 1 - back) % runs_.size()];
}

std::optional<Duration> LastRuns::quantile(std::int64_t per_cent, Duration than) const {
  std::vector<Duration> runs;
  runs.reserve(runs_.size());
  for (const Duration run : runs_) {
    if (run > than || than == Duration{}) runs.push_back(run);
  }
  if (runs.empty()) return std::nullopt;
  const auto at = runs.begin() + static_cast<std::ptrdiff_t>(runs.size()) * per_cent / 100;
  std::nth_element(runs.begin(), at, runs.end());
  return *at;
}

RunHistory::Kinds RunHistory::kinds_of(const JobSpec& spec) const {
  Kinds kinds{};
  const auto keys = keys_of(spec);
  for (std::size_t i = 0; i < kLikenesses; ++i) {
    const auto known = last_.find(keys[i]);
    if (known != last_.end()) kinds[i] = &known->second;
  }
  return kinds;
}

void RunHistory::observe(const JobSpec& spec, Duration ran) {
  if (last_.size() >= kMostKinds) last_.clear();
  for (const std::string& key : keys_of(spec)) last_[key].add(ran);
}

}  // namespace gridfold
