// The name somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gridfold {

// The candidate with the smallest edit distance, if that is at most a third of
// the longer of the two; else empty.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// ", or did you mean 'x'" for error hints; empty when nothing is near.
std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace gridfold
