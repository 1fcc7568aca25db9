// Well-formedness of UTF-8 (RFC 3629), checked where text enters.
#pragma once

#include <cstddef>
#include <string_view>

namespace gridfold {

// Offset of the first byte that is not part of a well-formed character, or
// npos. Overlong forms, surrogates and code points over U+10FFFF are not.
std::size_t first_invalid_utf8(std::string_view text);

inline bool is_valid_utf8(std::string_view text) {
  return first_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace gridfold
