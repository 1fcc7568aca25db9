#include "topology/nccl_xml.h"

#include "topology/topology_fuzz.h"
#include "topology/xml_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = gridfold::XmlFile::parse("fuzz", gridfold::fuzz_text(data, size));
  if (!file) return 0;
  const auto machine = gridfold::read_nccl_xml(*file);
  if (machine) gridfold::check_machine(*machine);
  return 0;
}
