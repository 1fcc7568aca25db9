// All device plug-ins of this machine behind one face. One that does not load,
// does not answer or answers nonsense is named with its trouble; the others go
// on.
//
//   PluginHost host({{.path = "/usr/lib/gridfold/devices/nvml.so"}});
//   PluginHost::Inventory found = host.discover();
//   auto env = host.environment(devices_of_the_task);
//
// Thread-safe. No call waits longer than the deadlines of the plug-ins it asks.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/device_report.h"
#include "devices/plugin.h"

namespace gridfold {

// The plug-ins (*.so) of a folder, by name. A folder that is not there has none.
std::vector<PluginOptions> plugins_in(const std::string& folder);

class PluginHost {
 public:
  // Loads and opens all. What fails is told by discover().
  explicit PluginHost(const std::vector<PluginOptions>& plugins);

  enum class TroubleKind : std::uint8_t {
    kAbsent,        // its hardware or driver is not on this machine: nothing is wrong
    kFailed,        // does not load, or reports an error, or breaks the interface
    kNotAnswering,  // a call has missed its deadline
  };
  struct Trouble {
    std::string plugin;  // its name, or its path when it did not open
    TroubleKind kind = TroubleKind::kFailed;
    Error error;
  };
  // Devices in a fixed order: those known before keep their place, new ones
  // follow. A device that is gone, or whose plug-in is in trouble, stays with
  // `fault` set.
  struct Inventory {
    std::vector<DeviceReport> devices;
    std::vector<Trouble> troubles;
  };
  Inventory discover();

  // Of one device that discover() has told. kNotFound for others.
  Result<HealthReport> health(const std::string& uid);
  Result<DeviceTelemetry> telemetry(const std::string& uid);
  Result<Known<std::vector<DeviceLink>>> links(const std::string& uid);
  Result<Known<Partitions>> partitions(const std::string& uid);
  // Who holds the device now; it is clean when this is known and empty.
  Result<Known<std::vector<DeviceProcess>>> processes(const std::string& uid);

  // Splitting a device that discover() has told as partitioned; see plugin.h.
  Result<Partition> make_partition(const std::string& uid, const std::string& profile,
                                   std::int32_t start);
  Result<void> remove_partition(const std::string& uid, const std::string& partition);

  // What a process needs to get exactly these devices and none else of any
  // plug-in. Devices that exist in our books alone add nothing.
  Result<std::map<std::string, std::string>> environment(std::span<const DeviceSpec> devices);

 private:
  struct Loaded {
    std::unique_ptr<DevicePlugin> plugin;
    // What hides all its devices, asked once, so that a plug-in which hangs
    // does not keep jobs without devices from starting.
    std::map<std::string, std::string> hidden;
  };
  Result<DevicePlugin*> owner_of(const std::string& uid);
  void merge(std::vector<DeviceReport> found, const std::string& plugin, Inventory& inventory);
  Result<void> open(Loaded& loaded);

  // Constant after construction.
  std::vector<Loaded> plugins_;
  std::vector<Trouble> load_troubles_;

  std::mutex mutex_;
  std::vector<DeviceReport> known_;            // guarded by mutex_; order of first appearance
  std::map<std::string, std::size_t> by_uid_;  // guarded by mutex_; into known_
};

}  // namespace gridfold
