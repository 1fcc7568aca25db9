// Every parser of quantities on any bytes: no crash, and what is accepted
// prints to a text that reads back to the same value.
#include <cstdint>
#include <cstdlib>

#include "base/units.h"

namespace {

using namespace gridfold;

template <class Value>
void check(Result<Value> (*parse)(std::string_view), std::string_view text) {
  const auto value = parse(text);
  if (!value) return;
  if (*value < Value(0)) std::abort();
  const auto again = parse(to_text(*value));
  if (!again || *again != *value) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check<MilliCores>(parse_cores, text);
  check<Bytes>(parse_bytes, text);
  check<BitsPerSecond>(parse_bits_per_second, text);
  check<MilliWatts>(parse_watts, text);
  check<DeviceShare>(parse_share, text);
  const auto count = parse_count(text);
  if (count && *parse_count(std::to_string(*count)) != *count) std::abort();
  return 0;
}
