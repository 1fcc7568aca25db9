#include "devices/plugin_host.h"

#include <algorithm>
#include <filesystem>

namespace gridfold {
namespace {

PluginHost::TroubleKind kind_of(const DevicePlugin& plugin, const Error& error) {
  if (!plugin.answering()) return PluginHost::TroubleKind::kNotAnswering;
  return error.kind == ErrorKind::kUnavailable ? PluginHost::TroubleKind::kAbsent
                                               : PluginHost::TroubleKind::kFailed;
}

}  // namespace

std::vector<PluginOptions> plugins_in(const std::string& folder) {
  std::vector<PluginOptions> out;
  std::error_code ignored;  // a folder that cannot be read has no plug-ins for us
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".so") out.push_back({.path = entry.path().string()});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return out;
}

PluginHost::PluginHost(const std::vector<PluginOptions>& plugins) {
  for (const auto& options : plugins) {
    Loaded loaded{std::make_unique<DevicePlugin>(options), {}};
    const auto ready = open(loaded);
    if (ready) {
      plugins_.push_back(std::move(loaded));
    } else {
      load_troubles_.push_back(
          {options.path, kind_of(*loaded.plugin, ready.error()), ready.error()});
    }
  }
}

Result<void> PluginHost::open(Loaded& loaded) {
  if (auto opened = loaded.plugin->open(); !opened) return opened;
  for (const auto& other : plugins_) {
    if (other.plugin->name() == loaded.plugin->name()) {
      return conflict("a device plug-in \"" + other.plugin->name() + "\" is loaded already");
    }
  }
  // Without it we could not keep jobs away from its devices.
  auto hidden = loaded.plugin->environment({});
  if (!hidden) return hidden.error();
  loaded.hidden = std::move(*hidden);
  return {};
}

PluginHost::Inventory PluginHost::discover() {
  Inventory inventory;
  inventory.troubles = load_troubles_;
  for (const auto& loaded : plugins_) {
    auto found = loaded.plugin->devices();
    const std::string& name = loaded.plugin->name();
    const std::lock_guard lock(mutex_);
    if (found) {
      merge(std::move(*found), name, inventory);
      continue;
    }
    inventory.troubles.push_back({name, kind_of(*loaded.plugin, found.error()), found.error()});
    for (auto& device : known_) {
      if (device.plugin != name) continue;
      device.health = DeviceHealth::kUnknown;
      device.reason = device.spec.fault = found.error().message;
    }
  }
  const std::lock_guard lock(mutex_);
  inventory.devices = known_;
  return inventory;
}

void PluginHost::merge(std::vector<DeviceReport> found, const std::string& plugin,
                       Inventory& inventory) {
  for (auto& device : known_) {
    if (device.plugin != plugin) continue;
    device.health = DeviceHealth::kFailed;
    device.reason = device.spec.fault = "is no longer reported by plug-in \"" + plugin + "\"";
  }
  for (auto& device : found) {
    const auto [at, is_new] = by_uid_.try_emplace(device.spec.uid, known_.size());
    if (is_new) {
      known_.push_back(std::move(device));
    } else if (known_[at->second].plugin == plugin) {
      known_[at->second] = std::move(device);
    } else {
      inventory.troubles.push_back(
          {plugin, TroubleKind::kFailed,
           conflict("device \"" + device.spec.uid + "\" is told by plug-in \"" + plugin +
                    "\" and by plug-in \"" + known_[at->second].plugin +
                    "\"; the latter's is kept")});
    }
  }
}

Result<DevicePlugin*> PluginHost::owner_of(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return not_found("no device plug-in knows a device \"" + uid + "\"");
  const auto& name = known_[found->second].plugin;
  for (const auto& loaded : plugins_) {
    if (loaded.plugin->name() == name) return loaded.plugin.get();
  }
  return not_found("no device plug-in \"" + name + "\"");
}

Result<HealthReport> PluginHost::health(const std::string& uid) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->health(uid) : owner.error();
}

Result<DeviceTelemetry> PluginHost::telemetry(const std::string& uid) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->telemetry(uid) : owner.error();
}

Result<Known<std::vector<DeviceLink>>> PluginHost::links(const std::string& uid) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->links(uid) : owner.error();
}

Result<Known<Partitions>> PluginHost::partitions(const std::string& uid) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->partitions(uid) : owner.error();
}

Result<Known<std::vector<DeviceProcess>>> PluginHost::processes(const std::string& uid) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->processes(uid) : owner.error();
}

Result<Partition> PluginHost::make_partition(const std::string& uid, const std::string& profile,
                                             std::int32_t start) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->make_partition(uid, profile, start) : owner.error();
}

Result<void> PluginHost::remove_partition(const std::string& uid, const std::string& partition) {
  const auto owner = owner_of(uid);
  return owner ? (*owner)->remove_partition(uid, partition) : owner.error();
}

Result<std::map<std::string, std::string>> PluginHost::environment(
    std::span<const DeviceSpec> devices) {
  std::map<const DevicePlugin*, std::vector<std::string>> chosen;
  for (const auto& device : devices) {
    const auto owner = owner_of(device.uid);
    if (owner) {
      chosen[*owner].push_back(device.uid);
    } else if (device.origin == DeviceOrigin::kReal) {
      return owner.error();
    }
  }
  std::map<std::string, std::string> out;
  for (const auto& loaded : plugins_) {
    const auto uids = chosen.find(loaded.plugin.get());
    if (uids == chosen.end()) {
      out.insert(loaded.hidden.begin(), loaded.hidden.end());
      continue;
    }
    auto variables = loaded.plugin->environment(uids->second);
    if (!variables) return variables.error();
    for (auto& [name, value] : *variables) out[name] = std::move(value);
  }
  return out;
}

}  // namespace gridfold
