// What an object of hwloc's XML is as a device: split off hwloc_xml.cpp.
#pragma once

#include <optional>

#include "topology/machine_topology.h"
#include "topology/xml_file.h"

namespace gridfold {

// The numbers of `osdev_type` differ between the two.
enum class HwlocVersion : std::uint8_t { kTwo, kThree };

// The device that a PCIDev object is, with its name, model and so on but not its
// place; empty when it is none that we keep (a disk, a part of the chipset, a
// plain display).
Result<std::optional<MachineDevice>> hwloc_device(const XmlFile& file, pugi::xml_node object,
                                                  HwlocVersion version);

// The value of the object's <info> of this name, or "".
std::string_view hwloc_info(pugi::xml_node object, std::string_view name);

}  // namespace gridfold
