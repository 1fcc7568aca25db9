// The bandwidth matrices between devices in hwloc's XML: split off hwloc_xml.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "topology/machine_topology.h"
#include "topology/xml_file.h"

namespace gridfold {

// hwloc's number of an object (gp_index) -> index of the device it belongs to, or
// MachineLink::kHost for one of the processors' side.
using HwlocObjects = std::map<std::int64_t, std::int32_t>;

struct HwlocLinks {
  std::vector<MachineLink> links;
  bool told = false;  // the file has such a matrix
};

Result<HwlocLinks> hwloc_links(const XmlFile& file, const HwlocObjects& objects);

}  // namespace gridfold
