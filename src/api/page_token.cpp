#include "api/page_token.h"

#include <charconv>
#include <cstdint>

namespace gridfold {
namespace {

// "p1" is the form's version; then the job's number, then a check over number
// and filter, both in hex.
constexpr std::string_view kPrefix = "p1";
constexpr std::size_t kHexDigits = 16;

std::uint64_t check_of(std::uint64_t number, std::string_view filter) {
  // FNV-1a: guards against mix-ups, not against forgery. A forged token
  // shows nothing that the list without one would not.
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3ull; };
  for (int shift = 0; shift < 64; shift += 8) mix(static_cast<unsigned char>(number >> shift));
  for (const char c : filter) mix(static_cast<unsigned char>(c));
  return hash;
}

void append_hex(std::uint64_t value, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 15];
}

bool read_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string make_page_token(JobId last, std::string_view filter) {
  std::string token(kPrefix);
  append_hex(last.value, token);
  append_hex(check_of(last.value, filter), token);
  return token;
}

Result<JobId> parse_page_token(std::string_view token, std::string_view filter) {
  std::uint64_t number = 0, check = 0;
  const bool readable = token.size() == kPrefix.size() + 2 * kHexDigits &&
                        token.starts_with(kPrefix) &&
                        read_hex(token.substr(kPrefix.size(), kHexDigits), number) &&
                        read_hex(token.substr(kPrefix.size() + kHexDigits), check);
  if (!readable || check != check_of(number, filter)) {
    Error error = invalid("the page token is not of this list");
    error.field = "page_token";
    error.hint = "pass next_page_token of the page before, with the same filter";
    return error;
  }
  return JobId(number);
}

}  // namespace gridfold
