// Reads hwloc's XML, versions 2 and 3 (`lstopo machine.xml`).
//
// Taken: NUMA nodes, the PCIe tree, GPUs and other accelerators, network cards,
// NVSwitches, and the NVLink, XGMI or Xe Link bandwidths between them. The rest
// (caches, disks, chipset functions, distances between processors, …) is passed
// over.
#pragma once

#include "topology/machine_topology.h"

namespace gridfold {

class XmlFile;

// The root element must be <topology>. Errors: kInvalid, kLimit; they name the
// file and where in it.
Result<MachineTopology> read_hwloc_xml(const XmlFile& file);

}  // namespace gridfold
