#include "topology/pci_address.h"

#include <algorithm>

#include "base/quote.h"

namespace gridfold {
namespace {

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

bool has_the_form(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos || colon < 4 || colon > 8 || !is_hex(text.substr(0, colon))) return false;
  const auto rest = text.substr(colon + 1);  // "3b:00.0"
  return rest.size() == 7 && is_hex(rest.substr(0, 2)) && rest[2] == ':' &&
         is_hex(rest.substr(3, 2)) && rest[3] <= '1' && rest[5] == '.' && rest[6] >= '0' &&
         rest[6] <= '7';
}

}  // namespace

Result<std::string> parse_pci_address(std::string_view text) {
  if (!has_the_form(text)) {
    Error error = invalid(quote(text) + " is not a PCI address");
    error.hint = "write DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, such as 0000:3b:00.0";
    return error;
  }
  while (text.find(':') > 4 && text.starts_with('0')) text.remove_prefix(1);
  std::string address(text);
  std::transform(address.begin(), address.end(), address.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return address;
}

std::string_view pci_slot(std::string_view address) {
  return address.substr(0, address.rfind('.'));
}

}  // namespace gridfold
