#include "simulator/trace_fuzz.h"
#include "simulator/workload_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = gridfold::parse_workload_file(gridfold::fuzz_text(data, size), "fuzz");
  if (read) gridfold::check_workload(*read);
  return 0;
}
