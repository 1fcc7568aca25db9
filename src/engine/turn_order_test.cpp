// The order of groups while kinds of them are shut and opened, against the order
// of the open ones alone.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "engine/state.h"

namespace gridfold {
namespace {

struct Waiting {
  QueueId place;
  TurnOrder::Kind kind = TurnOrder::kAlone;
  PendingKey first;
  PendingGroup* group = nullptr;
};

class TurnOrderTest : public ::testing::TestWithParam<bool> {
 protected:
  TurnOrderTest() {
    for (const char* name : {"a", "a/b", "a/c", "d", "d/e", "d/e/f"}) {
      QueueSpec spec;
      spec.name = name;
      spec.priority = random_.below(3) == 0 ? 1 : 0;
      if (GetParam()) spec.weight = 1 + static_cast<std::int32_t>(random_.below(3));
      queues_.configure(spec);
      places_.push_back(*queues_.find(name));
    }
  }

  PendingKey draw_key(QueueId place, bool filler) {
    PendingKey key;
    key.queue_priority = queues_.spec(place).priority;
    key.filler = filler;
    key.priority = static_cast<std::int32_t>(random_.below(3));
    key.job = JobId(++last_job_);
    return key;
  }

  // As next(), by an order that has never seen a shut kind.
  std::pair<PendingKey, PendingGroup*> naive_next(const std::vector<Waiting>& waiting,
                                                  const TurnOrder& order) {
    TurnOrder fresh(queues_);
    for (std::size_t k = 2; k < kKinds; ++k) fresh.add_kind(k % 4 == 3);
    for (const Waiting& one : waiting) {
      if (order.is_open(one.kind)) fresh.add(one.place, one.kind, one.first, one.group);
    }
    return fresh.empty() ? std::pair<PendingKey, PendingGroup*>{} : fresh.next();
  }

  static constexpr std::size_t kKinds = 12;
  RandomStream random_{11, "test.turn_order"};
  Cluster cluster_;
  QueueTree queues_{cluster_};
  std::vector<QueueId> places_;
  std::uint64_t last_job_ = 0;
};

TEST_P(TurnOrderTest, PassesOverShutKindsOnly) {
  TurnOrder order(queues_);
  for (std::size_t k = 2; k < kKinds; ++k) order.add_kind(k % 4 == 3);
  std::vector<PendingGroup> groups(40);
  std::vector<PendingGroup*> idle;
  for (PendingGroup& group : groups) idle.push_back(&group);
  std::vector<Waiting> waiting;
  for (int step = 0; step < 20'000; ++step) {
    const auto kind = static_cast<TurnOrder::Kind>(random_.below(kKinds));
    const bool filler = kind == TurnOrder::kAloneFiller || (kind >= 2 && kind % 4 == 3);
    switch (random_.below(5)) {
      case 0:
        if (!idle.empty()) {
          const QueueId place = places_[random_.below(places_.size())];
          waiting.push_back({place, kind, draw_key(place, filler), idle.back()});
          idle.pop_back();
          order.add(place, kind, waiting.back().first, waiting.back().group);
        }
        break;
      case 1:
        if (!waiting.empty()) {
          std::swap(waiting[random_.below(waiting.size())], waiting.back());
          const Waiting& one = waiting.back();
          order.remove(one.place, one.kind, one.first);
          idle.push_back(one.group);
          waiting.pop_back();
        }
        break;
      case 2:
        if (!waiting.empty()) {
          Waiting& one = waiting[random_.below(waiting.size())];
          const PendingKey to = draw_key(one.place, one.first.filler);
          order.change_first(one.place, one.kind, one.first, to);
          one.first = to;
        }
        break;
      case 3:
        if (kind >= 2 && order.has_groups(kind)) order.shut(kind);
        break;
      default: order.open(kind);
    }
    const auto expected = naive_next(waiting, order);
    ASSERT_EQ(order.empty(), expected.second == nullptr) << step;
    if (!order.empty()) {
      ASSERT_EQ(order.next(), expected) << step;
    }
    for (const Waiting& one : waiting)
      ASSERT_TRUE(order.has(one.place, one.kind, one.first, one.group)) << step;
  }
}

TEST_P(TurnOrderTest, AKindWithoutGroupsIsOpen) {
  TurnOrder order(queues_);
  const TurnOrder::Kind kind = order.add_kind(false);
  PendingGroup group;
  const PendingKey key = draw_key(places_[0], false);
  order.add(places_[0], kind, key, &group);
  order.shut(kind);
  EXPECT_TRUE(order.empty());
  order.remove(places_[0], kind, key);
  EXPECT_TRUE(order.is_open(kind));
  order.add(places_[0], kind, key, &group);
  EXPECT_EQ(order.next().second, &group);
}

INSTANTIATE_TEST_SUITE_P(Turns, TurnOrderTest, ::testing::Bool(), [](const auto& turns) {
  return turns.param ? "ByShare" : "BySubmission";
});

}  // namespace
}  // namespace gridfold
