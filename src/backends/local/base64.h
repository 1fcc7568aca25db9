// Base64 (RFC 4648, with padding): how bytes that are no text travel in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridfold::local {

std::string base64_encode(std::string_view bytes);
// Empty when the text is not base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace gridfold::local
