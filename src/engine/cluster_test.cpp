// The books against plain ones: random takings and returns, what is kept of
// them, and how much it costs to keep.
#include "engine/cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace gridfold {
namespace {

NodeRecord node_record(std::uint32_t number, std::size_t devices) {
  NodeRecord record;
  record.spec.name = "n" + std::to_string(number);
  record.spec.cpu = MilliCores(128'000);
  record.spec.memory = Bytes(std::int64_t{1} << 40);
  for (std::size_t i = 0; i < devices; ++i)
    record.spec.devices.push_back({"gpu", "G", Bytes(std::int64_t{80} << 30)});
  record.up = true;
  return record;
}

TaskRequest task_request(std::int64_t cores, std::int32_t share) {
  TaskRequest request;
  request.cpu = MilliCores(cores * 1000);
  request.devices.push_back({"gpu", 1, DeviceShare(share)});
  return request;
}

TEST(HoldingLists, KeepsEachListSortedWhateverComesAndGoes) {
  HoldingLists lists;
  std::vector<HoldingLists::List> nodes(7);
  std::vector<std::set<TaskId>> plain(nodes.size());
  RandomStream random(1, "lists");
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t n = random.below(nodes.size());
    const TaskId task{JobId(random.below(60)), static_cast<std::uint32_t>(random.below(3))};
    if (plain[n].insert(task).second) {
      lists.insert(nodes[n], {task.job, 1, task.index, 5, false});
    } else {
      plain[n].erase(task);
      ASSERT_TRUE(lists.remove(nodes[n], task));
      ASSERT_FALSE(lists.remove(nodes[n], task));
    }
    ASSERT_EQ(nodes[n].size, plain[n].size());
    auto at = plain[n].begin();
    for (const Holding& holding : lists.holdings(nodes[n])) ASSERT_EQ(holding.task(), *at++);
  }
  // Seven lists of at most 180: what is spare is used again.
  EXPECT_LT(lists.bytes(), 7 * 2 * 256 * sizeof(Holding) + 4096);
}

TEST(RoomStates, TheSameStateIsTheSameRecordAndTheTableStaysSmall) {
  RoomStates states;
  states.expect_nodes(4);
  const std::vector<DeviceKind> kinds(2);
  NodeLayout layout{{}, {nullptr, nullptr}};
  const ShapeIndex shape = states.shape_with(kinds, layout);
  EXPECT_EQ(states.shape_with(kinds, layout), shape);
  layout.groups.numa = {0b11};
  EXPECT_NE(states.shape_with(kinds, layout), shape);
  std::vector<DeviceState> devices(2);
  RandomStream random(1, "states");
  std::vector<StateIndex> in(4, RoomStates::kNone);
  for (int i = 0; i < 50'000; ++i) {
    devices[0].free_share = static_cast<std::int32_t>(random.below(1000));
    devices[1].free_share = static_cast<std::int32_t>(random.below(10));
    const RoomState state{shape, 1, 2, 3, devices};
    const StateIndex first = states.enter(state);
    const StateIndex again = states.enter(state);
    ASSERT_EQ(first, again);
    ASSERT_EQ(states.room(first, NodeId::none(), 0).devices[0].free_share, devices[0].free_share);
    states.leave(again);
    StateIndex& node = in[random.below(in.size())];
    if (node != RoomStates::kNone) states.leave(node);
    node = first;
  }
  EXPECT_LE(states.size(), 1028u);
  // A copy of a state that lies in the table itself.
  const std::uint64_t serial = states.serial(in[0]);
  EXPECT_EQ(states.serial(states.enter(states.state(in[0]))), serial);
}

TEST(Cluster, EqualRoomsShareAStateAndComeBackToIt) {
  Cluster cluster;
  const NodeId a = cluster.put(node_record(1, 8));
  const NodeId b = cluster.put(node_record(2, 8));
  const Request& request = cluster.compile(task_request(4, 1000));
  const std::uint64_t idle = cluster.state_serial(a);
  EXPECT_EQ(cluster.state_serial(b), idle);
  cluster.take({a, 0b1}, {JobId(1), 0}, request);
  EXPECT_NE(cluster.state_serial(a), idle);
  cluster.take({b, 0b1}, {JobId(2), 0}, request);
  EXPECT_EQ(cluster.state_serial(a), cluster.state_serial(b));
  cluster.give_back(a, {JobId(1), 0});
  EXPECT_EQ(cluster.state_serial(a), idle);
}

TEST(Cluster, EachChangeNamesItsNodeUntilTheNextOne) {
  Cluster cluster;
  const NodeId a = cluster.put(node_record(1, 8));
  const NodeId b = cluster.put(node_record(2, 8));
  const std::uint64_t before = cluster.last_change();
  cluster.touch(a);
  cluster.touch(b);
  cluster.touch(a);
  ASSERT_EQ(cluster.last_change(), before + 3);
  EXPECT_TRUE(cluster.changed(before + 1).is_none());
  EXPECT_EQ(cluster.changed(before + 2), b);
  EXPECT_EQ(cluster.changed(before + 3), a);
  const std::uint64_t members = cluster.membership();
  cluster.remove_last();
  EXPECT_TRUE(cluster.changed(before + 2).is_none());
  EXPECT_NE(cluster.membership(), members);
  for (int i = 0; i < 5000; ++i) cluster.touch(a);
  EXPECT_GT(cluster.forgotten_changes(), before + 3);
  EXPECT_EQ(cluster.changed(cluster.last_change()), a);
}

// The worst the books get: no two nodes alike, a task on every device.
TEST(Cluster, AtMost512BytesANodeOfEightDevices) {
  constexpr std::uint32_t kNodes = 20'000;
  Cluster cluster;
  for (std::uint32_t n = 0; n < kNodes; ++n) cluster.put(node_record(n, 8));
  RandomStream random(1, "bytes");
  std::uint64_t job = 0;
  for (int device = 0; device < 8; ++device) {
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      const auto share = static_cast<std::int32_t>(1 + random.below(999));
      const Request& request =
          cluster.compile(task_request(static_cast<std::int64_t>(1 + random.below(8)), share));
      cluster.take({NodeId(n), std::uint64_t{1} << device}, {JobId(++job), 0}, request);
    }
  }
  EXPECT_LE(cluster.book_bytes() / kNodes, 512u);
  RecordProperty("bytes_per_node", static_cast<int>(cluster.book_bytes() / kNodes));
  const std::size_t full = cluster.book_bytes();
  for (std::uint64_t id = 1; id <= job; ++id)
    cluster.give_back(NodeId(static_cast<std::uint32_t>((id - 1) % kNodes)), {JobId(id), 0});
  EXPECT_EQ(cluster.room(NodeId(0)).cpu, 128'000);
  EXPECT_EQ(cluster.state_serial(NodeId(0)), cluster.state_serial(NodeId(kNodes - 1)));
  EXPECT_LE(cluster.book_bytes(), full + full / 8);
}

}  // namespace
}  // namespace gridfold
