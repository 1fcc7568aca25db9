// The end of a hint: the known word that was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/nearest.h"

namespace gridfold {

// ", or did you mean 'x'"; empty when nothing is near.
inline std::string nearest_hint(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string() : ", or did you mean '" + std::string(near) + "'";
}

}  // namespace gridfold
