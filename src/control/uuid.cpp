#include "control/uuid.h"

namespace gridfold {

std::string make_uuid7(Instant now, std::uint64_t random_high, std::uint64_t random_low) {
  const auto ms = static_cast<std::uint64_t>(now.ns / 1'000'000);
  const std::uint64_t high = ms << 16 | 0x7000 | (random_high & 0x0FFF);
  const std::uint64_t low = (random_low & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000;
  static constexpr char kHex[] = "0123456789abcdef";
  char text[36];
  // `digits` hexadecimal digits of the word, from the one at `shift` down.
  const auto write = [&text](int at, std::uint64_t word, int shift, int digits) {
    for (int i = 0; i < digits; ++i) text[at + i] = kHex[word >> (shift - 4 * i) & 15];
  };
  write(0, high, 60, 8);
  write(9, high, 28, 4);
  write(14, high, 12, 4);
  write(19, low, 60, 4);
  write(24, low, 44, 12);
  text[8] = text[13] = text[18] = text[23] = '-';
  return std::string(text, sizeof text);
}

}  // namespace gridfold
