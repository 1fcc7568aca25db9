#include "engine/tie_rank.h"

namespace gridfold {

std::uint64_t tie_rank(const Cluster& cluster, TieBreak tie_break, std::uint64_t salt,
                       NodeId node) {
  if (tie_break == TieBreak::kLowestName) return cluster.name_rank(node);
  // One step of splitmix64 on the node's number.
  std::uint64_t z = salt + (node.value + std::uint64_t{1}) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

DecidedBy tie_rule(TieBreak tie_break) {
  switch (tie_break) {
    case TieBreak::kLowestName: return DecidedBy::kName;
    case TieBreak::kRandom: return DecidedBy::kDraw;
    case TieBreak::kSeededOrder: break;
  }
  return DecidedBy::kSeededOrder;
}

}  // namespace gridfold
