// The known word nearest to a mistyped one: "did you mean …?".
#pragma once

#include <span>
#include <string_view>

namespace gridfold {

// The known word with the fewest edits (insert, delete, replace, swap of
// neighbours) from `word`, or "" when none is near enough to be meant: at most
// one edit for every three letters, and one at least. Of equals, the first.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace gridfold
