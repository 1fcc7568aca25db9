// The reader of --devices on any bytes: no crash, and what it accepts is marked,
// has memory, and fits a node.
#include <cstdint>
#include <cstdlib>

#include "devices/emulated.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gridfold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto devices = parse_emulated_devices(text, built_in_facts());
  if (!devices) return 0;
  if (devices->empty() || devices->size() > kMaxDevicesPerNode) std::abort();
  for (const auto& device : *devices) {
    if (device.origin != DeviceOrigin::kEmulated || !device.memory.is_known()) std::abort();
  }
  return 0;
}
