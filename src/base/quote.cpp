#include "base/quote.h"

namespace gridfold {
namespace {

constexpr std::size_t kLongest = 60;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  bool cut = false;
  if (text.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && continues_character(text[end])) --end;
    text = text.substr(0, end);
    cut = true;
  }
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += cut ? "…\"" : "\"";
  return out;
}

}  // namespace gridfold
