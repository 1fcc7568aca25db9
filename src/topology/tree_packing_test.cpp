// TreePacking against exhaustive search on 1,000 small random trees: no subset of
// domains smaller than the one chosen holds the units, no division puts fewer
// into the fullest, and of equals the one with the least room left over is taken.
#include "topology/tree_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/random.h"

namespace gridfold {
namespace {

constexpr std::uint64_t kTrees = 1000;

// By order of id, all scores equal.
class PlainOrder final : public DomainOrder {
 public:
  std::int64_t score(DomainId) override { return 0; }
  std::uint64_t rank(DomainId domain) override { return domain.value; }
};

struct Sample {
  DomainTree tree;
  std::vector<std::int64_t> room;  // by domain
  std::int64_t total() const { return room[0]; }
};

// Up to ten nodes in zones, spines and racks, some of which a node may lack.
Sample draw(RandomStream& random) {
  std::vector<NodeSpec> nodes(static_cast<std::size_t>(random.between(1, 10)));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = "n" + std::to_string(i);
    for (const char* level : {"zone", "spine", "rack"}) {
      if (random.chance(1, 10)) continue;
      nodes[i].domains.emplace_back(level, std::to_string(random.below(3)));
    }
  }
  Sample sample{*DomainTree::build(nodes), {}};
  sample.room.assign(sample.tree.size(), 0);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const std::int64_t room = random.between(0, 3);
    for (DomainId at = sample.tree.domain_of(NodeId(n)); !at.is_none(); at = sample.tree.parent(at))
      sample.room[at.value] += room;
  }
  return sample;
}

// The parts one level down into which the units of a domain are divided, as
// rooms; own nodes are one part together. Empty: not divided.
std::vector<std::pair<DomainId, std::int64_t>> parts_of(const Sample& sample, DomainId domain) {
  std::vector<std::pair<DomainId, std::int64_t>> parts;
  std::int64_t own = 0;
  bool inner = false;
  for (std::uint32_t d = 0; d < sample.tree.size(); ++d) {
    if (DomainId(d) == DomainTree::root() || sample.tree.parent(DomainId(d)) != domain) continue;
    if (sample.tree.is_node(DomainId(d))) {
      own += sample.room[d];
    } else {
      inner = true;
      parts.emplace_back(DomainId(d), sample.room[d]);
    }
  }
  if (!inner) return {};
  parts.emplace_back(domain, own);  // the domain itself stands for its own nodes
  return parts;
}

// By all subsets.
std::int64_t fewest_parts(const std::vector<std::pair<DomainId, std::int64_t>>& parts,
                          std::int64_t units) {
  std::int64_t fewest = INT64_MAX;
  for (std::uint32_t set = 1; set < (1u << parts.size()); ++set) {
    std::int64_t room = 0;
    std::int64_t size = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      room += parts[i].second;
      ++size;
    }
    if (room >= units) fewest = std::min(fewest, size);
  }
  return fewest;
}

// The part of `above` in which the share lies.
DomainId part_of(const Sample& sample, DomainId above, const TreePacking::Share& share) {
  if (share.domain == above) return above;
  DomainId at = share.domain;
  while (sample.tree.parent(at) != above) at = sample.tree.parent(at);
  return at;
}

// Minimal at this domain and at each that it uses.
void expect_minimal(const Sample& sample, DomainId domain, std::int64_t units,
                    const std::vector<TreePacking::Share>& shares) {
  const auto parts = parts_of(sample, domain);
  if (parts.empty()) {
    ASSERT_EQ(shares.size(), 1u);
    ASSERT_EQ(shares[0].units, units);
    ASSERT_LE(units, sample.room[domain.value]);
    return;
  }
  std::map<DomainId, std::vector<TreePacking::Share>> by_part;
  std::map<DomainId, std::int64_t> used;
  for (const auto& share : shares) {
    const DomainId part = part_of(sample, domain, share);
    by_part[part].push_back(share);
    used[part] += share.units;
  }
  std::int64_t sum = 0;
  for (const auto& [part, room] : parts) {
    if (used.count(part) == 0) continue;
    ASSERT_LE(used[part], room);
    sum += used[part];
  }
  ASSERT_EQ(sum, units);
  ASSERT_EQ(static_cast<std::int64_t>(used.size()), fewest_parts(parts, units));
  if (used.size() == 1) {
    std::int64_t tightest = INT64_MAX;
    for (const auto& [part, room] : parts) {
      if (room >= units) tightest = std::min(tightest, room);
    }
    for (const auto& [part, room] : parts) {
      if (used.count(part) != 0) {
        ASSERT_EQ(room, tightest);
      }
    }
  }
  for (const auto& [part, beneath] : by_part) {
    if (part != domain) expect_minimal(sample, part, used[part], beneath);
  }
}

TEST(TreePacking, UsesTheFewestDomainsAtEveryLevel) {
  for (std::uint64_t seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "tree");
    const Sample sample = draw(random);
    if (sample.total() == 0) continue;
    PlainOrder order;
    TreePacking packing(sample.tree, order);
    packing.count(sample.room, "");
    for (std::int64_t units = 1; units <= sample.total(); ++units) {
      std::vector<TreePacking::Share> shares;
      packing.pack(DomainTree::root(), units, shares);
      expect_minimal(sample, DomainTree::root(), units, shares);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TreePacking, ChoosesTheBestHomeOfTheRing) {
  for (std::uint64_t seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "tree");
    const Sample sample = draw(random);
    PlainOrder order;
    TreePacking packing(sample.tree, order);
    packing.count(sample.room, "");
    for (const char* level : {"zone", "spine", "rack"}) {
      for (std::int64_t units = 1; units <= sample.total(); ++units) {
        std::pair best{INT64_MAX, INT64_MAX};
        for (const DomainId domain : sample.tree.domains_at(level)) {
          const std::int64_t room = sample.room[domain.value];
          if (room < units) continue;
          const auto parts = parts_of(sample, domain);
          best = std::min(best,
                          std::pair(parts.empty() ? 1 : fewest_parts(parts, units), room - units));
        }
        const auto homes =
            packing.homes(sample.tree.domains_at(level), "", units, TreePacking::Look::kBeneathToo);
        ASSERT_EQ(homes.empty(), best.first == INT64_MAX);
        for (const auto& home : homes) {
          ASSERT_EQ(std::pair(home.measure, home.left), best);
        }
      }
    }
  }
}

// By trying every division.
std::int64_t least_fullest(const std::vector<std::int64_t>& rooms, std::int64_t units) {
  std::int64_t best = INT64_MAX;
  const std::function<void(std::size_t, std::int64_t, std::int64_t)> divide =
      [&](std::size_t at, std::int64_t left, std::int64_t fullest) {
        if (fullest >= best) return;
        if (at == rooms.size()) {
          if (left == 0) best = fullest;
          return;
        }
        for (std::int64_t here = 0; here <= std::min(rooms[at], left); ++here)
          divide(at + 1, left - here, std::max(fullest, here));
      };
  divide(0, units, 0);
  return best;
}

TEST(TreePacking, SpreadsWithTheLeastInTheFullest) {
  for (std::uint64_t seed = 0; seed < kTrees; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "tree");
    const Sample sample = draw(random);
    PlainOrder order;
    TreePacking packing(sample.tree, order);
    packing.count(sample.room, "");
    std::vector<std::int64_t> rooms;
    for (const DomainId domain : sample.tree.domains_at("rack"))
      rooms.push_back(sample.room[domain.value]);
    const std::int64_t all = std::accumulate(rooms.begin(), rooms.end(), std::int64_t{0});
    ASSERT_EQ(packing.least_in_fullest(DomainTree::root(), "rack", all + 1), 0);
    for (std::int64_t units = 1; units <= all; ++units) {
      std::vector<TreePacking::Share> shares;
      packing.spread(DomainTree::root(), "rack", units, shares);
      std::int64_t sum = 0;
      std::int64_t fullest = 0;
      for (const auto& share : shares) {
        ASSERT_LE(share.units, sample.room[share.domain.value]);
        sum += share.units;
        fullest = std::max(fullest, share.units);
      }
      ASSERT_EQ(sum, units);
      ASSERT_EQ(fullest, least_fullest(rooms, units));
    }
  }
}

// Of equal room, the order decides.
TEST(TreePacking, TakesTheHigherScoreThenTheLowerRank) {
  class ByScore final : public DomainOrder {
   public:
    std::int64_t score(DomainId domain) override { return domain.value == 3 ? 1 : 0; }
    std::uint64_t rank(DomainId domain) override { return domain.value; }
  };
  std::vector<NodeSpec> nodes(3);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = "n" + std::to_string(i);
    nodes[i].domains = {{"rack", std::to_string(i)}};
  }
  const DomainTree tree = *DomainTree::build(nodes);
  const std::vector<std::int64_t> room = {6, 2, 2, 2, 2, 2, 2};
  ByScore by_score;
  TreePacking packing(tree, by_score);
  packing.count(room, "");
  const auto homes = packing.homes(tree.domains_at("rack"), "", 2, TreePacking::Look::kOnlyHere);
  ASSERT_EQ(homes.size(), 3u);
  EXPECT_EQ(homes[0].domain, DomainId(3));
  EXPECT_EQ(homes[1].domain, DomainId(1));
  EXPECT_EQ(homes[2].domain, DomainId(5));
}

}  // namespace
}  // namespace gridfold
