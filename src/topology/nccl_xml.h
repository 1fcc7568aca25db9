// Reads NCCL's topology XML: what NCCL_TOPO_DUMP_FILE writes, and the static
// files of clouds for NCCL_TOPO_FILE (RCCL's are alike).
//
// The static ones often tell little: no class of a device, no GPU, no NVLink.
// Such things stay unknown. NCCL knows no host bridges: devices of one <cpu> that
// share no switch are joined by a host bridge, as NCCL counts it.
#pragma once

#include "topology/machine_topology.h"

namespace gridfold {

class XmlFile;

// The root element must be <system>. Errors: kInvalid, kLimit; they name the
// file and where in it.
Result<MachineTopology> read_nccl_xml(const XmlFile& file);

}  // namespace gridfold
