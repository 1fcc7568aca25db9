// One device plug-in (include/gridfold/device_plugin.h), loaded and kept at
// arm's length: every call runs on the plug-in's own thread with a deadline, and
// whatever it answers is checked and copied before anybody sees it. A plug-in
// that hangs does not hang us; one that crashes takes the process with it.
//
// Thread-safe: calls from several threads queue up, each within its deadline.
// Errors: kUnavailable when it does not answer or its hardware is absent,
// kInvalid, kNotFound, kInternal as it says, kCorrupt when its answer breaks the
// interface.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "devices/call_thread.h"
#include "devices/device_report.h"

namespace gridfold {

struct PluginOptions {
  std::string path;    // of the shared object
  std::string config;  // handed to the plug-in's open
  Duration call_deadline = Duration::seconds(5);
};

class DevicePlugin {
 public:
  explicit DevicePlugin(PluginOptions options);
  ~DevicePlugin();
  DevicePlugin(const DevicePlugin&) = delete;
  DevicePlugin& operator=(const DevicePlugin&) = delete;

  // Loads and opens it: once, first, before any other thread calls. kUnavailable
  // when its driver or hardware is not there; nothing else may be called then.
  Result<void> open();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  // False while a call is out that has missed its deadline.
  bool answering() const { return thread_.answering(); }

  // In the plug-in's order; uids are unique.
  Result<std::vector<DeviceReport>> devices();
  Result<HealthReport> health(const std::string& uid);
  Result<DeviceTelemetry> telemetry(const std::string& uid);
  // Unknown: neither the plug-in nor the device can tell.
  Result<Known<std::vector<DeviceLink>>> links(const std::string& uid);
  Result<Known<Partitions>> partitions(const std::string& uid);
  Result<Known<std::vector<DeviceProcess>>> processes(const std::string& uid);
  // Of a device that is told as partitioned. kUnavailable when the plug-in or the
  // device cannot be split from here.
  Result<Partition> make_partition(const std::string& uid, const std::string& profile,
                                   std::int32_t start);
  Result<void> remove_partition(const std::string& uid, const std::string& partition);
  // The variables that give a process exactly these devices or partitions; of
  // none, those that hide them all.
  Result<std::map<std::string, std::string>> environment(const std::vector<std::string>& uids);

 private:
  struct Loaded;
  template <class T, class Call>
  Result<Known<T>> ask(const char* what, Call call);

  // Constant after open().
  PluginOptions options_;
  std::string name_;
  std::string version_;
  std::shared_ptr<Loaded> loaded_;  // with calls that have not returned
  CallThread thread_;
};

}  // namespace gridfold
