// The reader of device facts on any bytes: no crash, and every name it accepts
// is found again.
#include <cstdint>
#include <cstdlib>

#include "devices/device_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = gridfold::DeviceFactsTable::parse(text);
  if (!table) return 0;
  for (const auto& row : table->rows()) {
    if (table->find(row.model) != &row) std::abort();
    for (const auto& alias : row.aliases) {
      if (table->find(alias) != &row) std::abort();
    }
  }
  return 0;
}
