#include "control/uuid.h"

namespace gridfold {

std::string make_uuid7(Instant now, std::uint64_t random_high, std::uint64_t random_low) {
  const auto ms = static_cast<std::uint64_t>(now.ns / 1'000'000);
  const std::uint64_t high = ms << 16 | 0x7000 | (random_high & 0x0FFF);
  const std::uint64_t low = (random_low & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000;
  static constexpr char kHex[] = "0123456789abcdef";
  char text[36];
  char* at = text;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) *at++ = '-';
    const std::uint64_t word = i < 16 ? high : low;
    *at++ = kHex[word >> (60 - 4 * (i % 16)) & 15];
  }
  return std::string(text, sizeof text);
}

}  // namespace gridfold
