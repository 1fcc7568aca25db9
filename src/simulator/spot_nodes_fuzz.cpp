#include "simulator/openb_trace.h"
#include "simulator/trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = gridfold::read_spot_nodes(gridfold::fuzz_text(data, size), "fuzz");
  if (read) gridfold::check_cluster(*read);
  return 0;
}
