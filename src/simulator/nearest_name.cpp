#include "simulator/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gridfold {
namespace {

constexpr std::size_t kLongestName = 64;  // longer ones are no slip of the fingers

// Levenshtein's distance, row by row.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = kLongestName;
  if (name.size() > kLongestName) return best;
  for (const auto candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance * 3 <= std::max(name.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string nearest_hint(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest_name(name, candidates);
  return near.empty() ? std::string() : ", or did you mean '" + std::string(near) + "'";
}

}  // namespace gridfold
