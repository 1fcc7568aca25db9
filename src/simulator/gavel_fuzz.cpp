#include "simulator/gavel_trace.h"
#include "simulator/trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = gridfold::read_gavel(gridfold::fuzz_text(data, size), "fuzz", 8);
  if (read) gridfold::check_workload(*read);
  return 0;
}
