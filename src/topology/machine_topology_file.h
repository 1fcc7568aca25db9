// One door for all files that describe a machine: hwloc XML 2 and 3, NCCL
// topology XML, and the text of `nvidia-smi topo -m`.
//
//   auto machine = read_machine_topology("dgx.xml", bytes);
//   if (!machine) return machine.error();
#pragma once

#include <string_view>

#include "topology/machine_topology.h"

namespace gridfold {

// Tells the kind by the content; `name` is for messages only. At most 8 MiB, and
// the bounds of XmlFile. Errors: kInvalid (some other file, by name where it is
// one that is known; a cut or damaged one), kLimit.
Result<MachineTopology> read_machine_topology(std::string_view name, std::string_view bytes);

}  // namespace gridfold
