// Base64 (RFC 4648, standard alphabet, with padding), for bytes inside JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridfold {

std::string to_base64(std::string_view bytes);

// Strict: padding is required, and spaces, line ends and stray bits are not
// base64. Empty when `text` is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace gridfold
