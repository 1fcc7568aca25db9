// Reads the matrix that `nvidia-smi topo -m` prints, of old and new drivers, with
// tabs or with spaces, as printed or as pasted (a prompt before it, the escapes of
// a terminal, the legend after it).
//
// It says the paths themselves. NVLinks hide the PCIe path beneath them, and a
// driver that prints no "NUMA Affinity" leaves the NUMA nodes unknown.
#pragma once

#include <string_view>

#include "topology/machine_topology.h"

namespace gridfold {

// Whether some line is the head of such a matrix.
bool is_nvidia_topo_text(std::string_view text);

// Errors: kInvalid, kLimit; they name the file and where in it.
Result<MachineTopology> read_nvidia_topo_text(std::string_view name, std::string_view text);

}  // namespace gridfold
