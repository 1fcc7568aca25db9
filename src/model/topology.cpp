#include "model/topology.h"

#include <algorithm>

namespace gridfold {

bool is_level_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 63 && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace gridfold
