// Page tokens from any bytes: no crash, and what is accepted is exactly what
// was made.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/page_token.h"

using namespace gridfold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto id = parse_page_token(text, "filter"))
    if (make_page_token(*id, "filter") != text) std::abort();
  if (size < 8) return 0;
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | data[i];
  const auto filter = text.substr(8);
  const auto back = parse_page_token(make_page_token(JobId(number), filter), filter);
  if (!back || back->value != number) std::abort();
  return 0;
}
