#include "simulator/event_queue.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gridfold {
namespace {

TEST(EventQueue, GivesOutByTimeAndEqualTimesInOrderOfEntry) {
  EventQueue<int> queue;
  EXPECT_TRUE(queue.next().is_never());
  queue.push(Instant{20}, 1);
  queue.push(Instant{10}, 2);
  queue.push(Instant{20}, 3);
  queue.push(Instant{10}, 4);
  EXPECT_EQ(queue.next(), Instant{10});
  std::vector<int> order;
  while (!queue.empty()) order.push_back(queue.pop());
  EXPECT_EQ(order, (std::vector<int>{2, 4, 1, 3}));
}

TEST(EventQueue, StaysOrderedWhenUsedAsASimulationDoes) {
  EventQueue<std::int64_t> queue;
  RandomStream random(7, "queue");
  Instant now{};
  for (int i = 0; i < 1000; ++i) queue.push(Instant{random.between(0, 1000)}, 0);
  for (int i = 0; i < 330'000; ++i) {
    ASSERT_GE(queue.next(), now);
    now = queue.next();
    queue.pop();
    queue.push(now + Duration{random.between(0, 1000)}, i);
  }
  EXPECT_EQ(queue.size(), 1000u);
}

}  // namespace
}  // namespace gridfold
