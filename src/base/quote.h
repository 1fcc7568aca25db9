// Text from outside, made fit for a message: in quotes, cut short, with
// control bytes escaped.
#pragma once

#include <string>
#include <string_view>

namespace gridfold {

// quote("256m") is "\"256m\"". Bytes below 0x20, 0x7f, '"' and '\' are
// escaped; more than 60 bytes are cut at a character's start and end in "…".
std::string quote(std::string_view text);

}  // namespace gridfold
