// Which devices reach each other by direct links: through links from one to the
// other, or through the switches of the vendor's fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/device_report.h"

namespace gridfold {

// What one device tells of its links.
struct LinkedDevice {
  std::string uid;
  std::string plugin;
  Known<std::vector<DeviceLink>> links;  // unknown: nobody can tell
};

// The island of each, numbered from 0 in order of its first device; -1 where
// its links are not known. A device without links is an island of its own. The
// switches of one plug-in's fabric are taken to be one fabric.
std::vector<std::int32_t> islands_of(const std::vector<LinkedDevice>& devices);

}  // namespace gridfold
