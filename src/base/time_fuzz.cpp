// Durations and RFC 3339 times from any bytes: no crash, and what is accepted
// prints to a text that reads back to the same value.
#include <cstdint>
#include <cstdlib>

#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gridfold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto duration = parse_duration(text)) {
    const auto again = parse_duration(to_text(*duration));
    if (!again || *again != *duration) std::abort();
  }
  if (const auto instant = parse_rfc3339(text)) {
    const auto again = parse_rfc3339(to_rfc3339(*instant));
    if (!again || *again != *instant) std::abort();
  }
  return 0;
}
