#include "base/id_map.h"

#include <gtest/gtest.h>

#include <map>

#include "base/ids.h"
#include "base/random.h"

namespace gridfold {
namespace {

// Ids that grow, with jumps, and leave in any order.
TEST(IdMap, IsAMap) {
  RandomStream random(1, "id_map");
  IdMap<JobId, int> map;
  std::map<std::uint64_t, int> model;
  std::uint64_t next = 1;
  for (int i = 0; i < 20'000; ++i) {
    if (random.chance(11, 20)) {
      next += random.chance(1, 500) ? random.below(std::uint64_t{1} << 40) : 1;
      map[JobId(next)] = i;
      model[next] = i;
    } else if (!model.empty()) {
      auto at = model.lower_bound(random.below(next + 1));
      if (at == model.end()) at = model.begin();
      EXPECT_TRUE(map.erase(JobId(at->first)));
      EXPECT_FALSE(map.erase(JobId(at->first)));
      EXPECT_EQ(map.find(JobId(at->first)), nullptr);
      model.erase(at);
    }
    ASSERT_EQ(map.size(), model.size());
  }
  auto expected = model.begin();
  map.for_each([&](JobId id, int value) {
    ASSERT_NE(expected, model.end());
    EXPECT_EQ(id.value, expected->first);
    EXPECT_EQ(value, expected->second);
    EXPECT_EQ(*map.find(id), value);
    ++expected;
  });
  EXPECT_EQ(expected, model.end());
}

TEST(IdMap, ValuesStayWhereTheyAre) {
  IdMap<JobId, int> map;
  int* first = &(map[JobId(5)] = 7);
  for (std::uint64_t id = 6; id < 10'000; ++id) map[JobId(id)] = 0;
  EXPECT_EQ(map.find(JobId(5)), first);
  EXPECT_EQ(*first, 7);
  EXPECT_EQ(map.find(JobId(10'000)), nullptr);
}

}  // namespace
}  // namespace gridfold
