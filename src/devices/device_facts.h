// What is known of a device model, from a data file: a new chip is a row there
// (data/devices.json, which is built into the library) or in a file of the
// user's own. Sheets say what a device should have; what a real device reports
// goes before it. What no row says is unknown.
//
//   const DeviceFacts* facts = built_in_facts().find("NVIDIA H100 80GB HBM3");
//
// Immutable once read: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "devices/device_report.h"

namespace gridfold {

struct DeviceFacts {
  std::string model;         // "H100-SXM5-80GB": the name jobs and reports use
  std::string device_class;  // "gpu"
  std::string vendor;
  Known<Bytes> memory;
  Known<std::int64_t> memory_bytes_per_second;
  // Dense operations a second by data type ("bf16"), in units of 10^9.
  std::map<std::string, std::int64_t> gigaflops;
  Known<MilliWatts> power_max;
  std::vector<PartitionProfile> partitions;
  std::vector<std::string> aliases;  // names under which drivers print it
  std::string source;                // where the values are from
};

class DeviceFactsTable {
 public:
  // Reads {"devices": [row, …]}. Errors name the row and the field: kInvalid
  // for anything unknown, missing, of a wrong type or told twice, kLimit above
  // 1 MiB.
  static Result<DeviceFactsTable> parse(std::string_view json);
  static Result<DeviceFactsTable> read_file(const std::string& path);

  // Rows of `later` take the place of rows with the same model, and its names
  // go before ours.
  void add(DeviceFactsTable later);

  // By model or alias; nullptr when there is none.
  const DeviceFacts* find(std::string_view name) const;
  // The model that was probably meant, or empty.
  std::string_view nearest(std::string_view name) const;
  const std::vector<DeviceFacts>& rows() const { return rows_; }

 private:
  std::vector<DeviceFacts> rows_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  // models and aliases
  Result<void> insert(DeviceFacts row);
};

// The text of data/devices.json at build time, and the same read.
std::string_view built_in_device_facts();
const DeviceFactsTable& built_in_facts();

}  // namespace gridfold
