// What is written reads back the same.
#include "control/records.h"

#include <gtest/gtest.h>

namespace gridfold::records {
namespace {

NodeRecord split_node() {
  NodeRecord node;
  node.id = NodeId(0);
  node.spec.name = "n";
  DeviceSpec device;
  device.device_class = "gpu";
  device.model = "A";
  device.numa = 1;
  device.pcie_switch = 2;
  device.island = 0;
  device.partitions = {{"1g.10gb", 1, 1, Bytes(std::int64_t{9728} << 20), {0, 1, 2}},
                       {"3g.40gb", 3, 4, Unknown{}, {0, 4}}};
  node.spec.devices = {device, DeviceSpec{"npu", "N"}};
  return node;
}

TEST(Records, ANodeReadsBackWithPlacesAndPartitions) {
  const NodeRecord node = split_node();
  const auto back = decode_node("n", encode_node(node));
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->spec, node.spec);
}

TEST(Records, ANodeReadsBackWithItsLinks) {
  NodeRecord node = split_node();
  node.spec.devices[0].card = 1;
  NodeLinks links;
  links.cards = {{0, LinkKind::kRoce, BitsPerSecond(100)},
                 {3, LinkKind::kEthernet, BitsPerSecond(9)}};
  links.pcie = BitsPerSecond(5);
  links.host_network = BitsPerSecond(6);
  node.spec.links = SharedLinks(std::move(links));
  const auto back = decode_node("n", encode_node(node));
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->spec, node.spec);
  EXPECT_FALSE(back->spec.links->numa.is_known());
}

TEST(Records, WhatAJobWasExpectedToExchangeReadsBack) {
  JobRecord job;
  job.id = JobId(7);
  const auto again = [&] {
    return decode_job(JobId(7), encode_job(job, {}), [](std::string_view) { return NodeId(0); })
        ->communication;
  };
  EXPECT_FALSE(again());
  job.communication = ExpectedCommunication{{Duration{5}, Duration{9}}, LinkKind::kSpine, {}};
  EXPECT_EQ(again(), job.communication);
  job.communication->otherwise = StepEstimate{Duration{6}, Duration{10}};
  EXPECT_EQ(again(), job.communication);
}

TEST(Records, APartitionOutsideItsDeviceIsDamage) {
  NodeRecord node = split_node();
  for (const std::int32_t start : {-1, 32, 2147483647}) {
    node.spec.devices[0].partitions[0].starts = {start};
    EXPECT_FALSE(decode_node("n", encode_node(node))) << start;
  }
}

TEST(Records, AnAllocationReadsBackWithItsStart) {
  const std::vector<NodeRecord> nodes = {split_node()};
  JobRecord job;
  job.id = JobId(7);
  job.tasks.resize(2);
  job.tasks[0].allocation = {NodeId(0), 1, 4};
  job.tasks[1].allocation = {NodeId(0), 2};
  job.tasks[1].claim = {NodeId(0), 1, 0};
  const auto back =
      decode_job(JobId(7), encode_job(job, nodes), [](std::string_view) { return NodeId(0); });
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->tasks, job.tasks);
}

TEST(Records, AReservationReadsBack) {
  std::vector<NodeRecord> nodes = {split_node(), split_node()};
  nodes[1].spec.name = "m";
  const auto find = [](std::string_view name) {
    return name == "m" ? NodeId(1) : name == "n" ? NodeId(0) : NodeId::none();
  };
  JobRecord job;
  job.id = JobId(7);
  job.expected_run = Duration::minutes(20);
  job.reservation = Reservation{Instant{1'700'000'000'000'000'000},
                                Duration::hours(1),
                                {{NodeId(0), 0, 2}, {NodeId(1), 1, 1}}};
  const std::string text = encode_job(job, nodes);
  const auto back = decode_job(JobId(7), text, find);
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->reservation, job.reservation);
  EXPECT_EQ(back->expected_run, job.expected_run);
  EXPECT_FALSE(decode_job(JobId(7), text, [](std::string_view) { return NodeId::none(); }));
}

TEST(Records, WhyATaskLiesThereReadsBack) {
  std::vector<NodeRecord> nodes = {split_node(), split_node()};
  nodes[1].id = NodeId(1);
  nodes[1].spec.name = "m";
  const auto find = [](std::string_view name) { return NodeId(name == "m"); };
  JobRecord job;
  job.id = JobId(7);
  job.tasks.resize(3);
  job.tasks[0].why = {DecidedBy::kScore, NodeId(1), 12, 880, -7};
  job.tasks[1].why = {DecidedBy::kOnlyOne, NodeId::none(), 1, -3, 0};
  job.why_domain =
      std::make_shared<const WhyDomain>(WhyDomain{"z/r1", "z/r2", DecidedBy::kLeastLeft, 3, 0, 5});
  const auto back = decode_job(JobId(7), encode_job(job, nodes), find);
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->tasks, job.tasks);
  ASSERT_NE(back->why_domain, nullptr);
  EXPECT_EQ(*back->why_domain, *job.why_domain);

  // A record of a version that did not keep it.
  job.tasks[0].why = {};
  job.why_domain = nullptr;
  const std::string old = encode_job(job, nodes);
  EXPECT_EQ(old.find("why_domain"), std::string::npos);
  const auto read = decode_job(JobId(7), old, find);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->tasks[0].why.by, DecidedBy::kUnknown);
  EXPECT_EQ(read->why_domain, nullptr);
}

TEST(Records, WhatAJobLostAndSavedReadsBack) {
  JobRecord job;
  job.id = JobId(7);
  job.evictions = 2;
  job.evicted_at = Instant{} + Duration::seconds(5);
  job.evicted_work = Duration::seconds(3);
  job.saved_at = Instant{} + Duration::seconds(4);
  job.save_time = Duration::milliseconds(250);
  const auto back =
      decode_job(JobId(7), encode_job(job, {}), [](std::string_view) { return NodeId::none(); });
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(back->evictions, job.evictions);
  EXPECT_EQ(back->evicted_at, job.evicted_at);
  EXPECT_EQ(back->evicted_work, job.evicted_work);
  EXPECT_EQ(back->saved_at, job.saved_at);
  EXPECT_EQ(back->save_time, job.save_time);
}

}  // namespace
}  // namespace gridfold::records
