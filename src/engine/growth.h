// Room in a vector by eighths, not by doubling: the tables of the books hold
// what they need and little more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gridfold {

// Makes room for so many more elements.
template <class T>
void reserve_more(std::vector<T>& values, std::size_t more) {
  const std::size_t needed = values.size() + more;
  if (needed > values.capacity()) values.reserve(std::max(needed, values.size() / 8 * 9));
}

}  // namespace gridfold
