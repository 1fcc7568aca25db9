#include "simulator/cluster_text.h"
#include "simulator/trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = gridfold::parse_cluster_text(gridfold::fuzz_text(data, size));
  if (read) gridfold::check_cluster(*read);
  return 0;
}
