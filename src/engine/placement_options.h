// How the engine finds the best node: the same decisions at another cost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gridfold {

// Among nodes of the best score.
enum class TieBreak : std::uint8_t {
  kLowestName,   // the first in order of name
  kRandom,       // uniformly, from the engine's own seeded stream
  kSeededOrder,  // the first in an order of the nodes drawn once, from the seed
};

enum class PlacementIndex : std::uint8_t {
  kTree,  // rows of scores that follow the changes
  kScan,  // every node anew for every task: the oracle
};

struct PlacementOptions {
  TieBreak tie_break = TieBreak::kLowestName;
  std::uint64_t seed = 0;  // of TieBreak::kSeededOrder
  PlacementIndex index = PlacementIndex::kTree;
  // All rows of scores together; requests beyond it are answered by a scan.
  std::size_t max_row_bytes = std::size_t{256} << 20;
};

}  // namespace gridfold
