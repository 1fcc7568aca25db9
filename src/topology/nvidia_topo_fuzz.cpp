#include "topology/machine_topology_file.h"
#include "topology/nvidia_topo_text.h"
#include "topology/topology_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = gridfold::fuzz_text(data, size);
  if (const auto machine = gridfold::read_nvidia_topo_text("fuzz", text))
    gridfold::check_machine(*machine);
  // Whatever kind it is taken for.
  if (const auto machine = gridfold::read_machine_topology("fuzz", text))
    gridfold::check_machine(*machine);
  return 0;
}
