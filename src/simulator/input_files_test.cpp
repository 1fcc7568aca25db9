#include <gtest/gtest.h>

#include "simulator/cluster_file.h"
#include "simulator/cluster_text.h"
#include "simulator/run_inputs.h"
#include "simulator/test_files.h"
#include "simulator/workload_file.h"

namespace gridfold {
namespace {

TEST(ClusterText, DescribesAlikeNodes) {
  const auto cluster = parse_cluster_text("nodes=64,gpus=8,cpu=32,memory=256Gi,model=A100");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  ASSERT_EQ(cluster->nodes.size(), 64u);
  EXPECT_EQ(cluster->nodes[63].name, "node-0063");
  EXPECT_EQ(cluster->nodes[0].cpu, MilliCores(32'000));
  EXPECT_EQ(cluster->nodes[0].memory, Bytes(std::int64_t{256} << 30));
  ASSERT_EQ(cluster->nodes[0].devices.size(), 8u);
  EXPECT_EQ(cluster->nodes[0].devices[0].model, "A100");
  EXPECT_EQ(cluster->nodes[0].devices[0].origin, DeviceOrigin::kEmulated);
}

TEST(ClusterText, MistakesAreNamed) {
  const auto error = [](const char* text) {
    const auto cluster = parse_cluster_text(text);
    return cluster ? std::string("accepted") : cluster.error().describe();
  };
  EXPECT_EQ(error("gpus=8"), "cluster.nodes: is missing (write nodes=64,gpus=8)");
  EXPECT_EQ(error("node=8"),
            "cluster.node: there is no such key (use nodes, gpus, cpu, memory, model, or did you "
            "mean 'nodes')");
  EXPECT_EQ(error("nodes=8,nodes=9"), "cluster.nodes: is given twice (leave one of them out)");
  EXPECT_EQ(error("nodes=0"),
            "cluster.nodes: \"0\" is not a number from 1 to 1000000 (write nodes=64)");
  EXPECT_EQ(error("nodes=1,gpus=65"),
            "cluster.gpus: \"65\" is not a number from 0 to 64 (write gpus=8)");
  EXPECT_NE(error("nodes=1,cpu=x"), "accepted");
}

TEST(ClusterFile, IsReadWithCountsDevicesAndDomains) {
  const auto cluster = parse_cluster_file(test_text("traces/cluster.yaml"), "cluster.yaml");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  ASSERT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(cluster->nodes[1].name, "a100-1");
  EXPECT_EQ(cluster->nodes[2].name, "login");
  ASSERT_EQ(cluster->nodes[0].devices.size(), 8u);
  EXPECT_EQ(cluster->nodes[0].devices[0].memory.value(), Bytes(std::int64_t{80} << 30));
  EXPECT_EQ(cluster->nodes[0].domains, (std::vector<DomainStep>{"zone-a", "rack-1"}));
}

TEST(ClusterFile, DevicesMayHaveAPlaceAndPartitions) {
  const auto cluster = parse_cluster_file(
      "nodes:\n  - name: a\n    cpu: 4\n    memory: 1Gi\n    devices:\n"
      "      - {class: npu, model: x}\n"
      "      - {class: gpu, model: H100-SXM5-80GB, count: 2, numa: [0, 1], switch: [2, 2],\n"
      "         island: [0, 0], partitioned: true}\n",
      "c.yaml");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  const auto& devices = cluster->nodes[0].devices;
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].numa, -1);
  EXPECT_EQ(devices[2].numa, 1);
  EXPECT_EQ(devices[2].pcie_switch, 2);
  EXPECT_EQ(devices[2].island, 0);
  ASSERT_FALSE(devices[1].partitions.empty());
  EXPECT_EQ(devices[1].partitions[3].name, "3g.40gb");
  EXPECT_EQ(devices[1].partitions[3].length, 4);
}

TEST(ClusterFile, NodesAndLevelsMayTellTheirLinks) {
  const auto cluster = parse_cluster_file(
      "nodes:\n  - name: a\n    count: 2\n    cpu: 4\n    memory: 1Gi\n"
      "    devices: [{class: gpu, model: x, count: 2, island: [0, 0], card: [1, 0]}]\n"
      "    links: {cards: [{kind: roce, bandwidth: 200Gbps, count: 2}], nvlink: 1600Gbps, "
      "pcie: 160Gbps}\n"
      "    domains: [{spine: s}, {rack: r}]\n"
      "fabric:\n  rack: {bandwidth: 800Gbps, latency: 600ns}\n"
      "  spine: {oversubscription: 2.5, rails: true, between_rails: 100Gbps}\n",
      "c.yaml");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  EXPECT_EQ(cluster->nodes[1].devices[0].card, 1);
  ASSERT_TRUE(cluster->nodes[1].links.is_known());
  EXPECT_EQ(cluster->nodes[1].links->cards[1],
            (NetworkCard{1, LinkKind::kRoce, BitsPerSecond(200'000'000'000)}));
  ASSERT_EQ(cluster->fabric.size(), 2u);
  EXPECT_EQ(cluster->fabric[0].latency.value(), Duration::nanoseconds(600));
  EXPECT_EQ(cluster->fabric[1].oversubscription.value(), 2'500);
  EXPECT_TRUE(cluster->fabric[1].rails);
}

TEST(ClusterFile, MistakesAreNamedWithTheirPlace) {
  const auto error = [](const std::string& text) {
    const auto cluster = parse_cluster_file(text, "c.yaml");
    return cluster ? std::string("accepted") : cluster.error().describe();
  };
  EXPECT_NE(error("nodes:\n  - {name: a, cpus: 4, memory: 1Gi}\n").find("line 2"),
            std::string::npos);
  EXPECT_NE(
      error("nodes:\n  - {name: a, cpu: 4, memory: 1Gi}\n  - {name: a, cpu: 4, memory: 1Gi}\n")
          .find("a second node is called a"),
      std::string::npos);
  for (const char* text :
       {"", "nodes: 3", "nods: []", "nodes: [{cpu: 4, memory: 1Gi}]", "nodes: [{name: a}]", "[",
        "a: b: c", "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, count: 2}]}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, model: x, count: 65}]}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, model: x, numa: 0}]}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, model: x, numa: [0, 0]}]}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, model: x, island: [-1]}]}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, links: {pcie: 160Gbps}}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, links: {cards: [{kind: wan, bandwidth: 1G}], "
        "pcie: 160Gbps}}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, links: {cards: [{kind: roce, bandwidth: 1G}]}}]",
        "nodes: [{name: a, cpu: 4, memory: 1Gi}]\nfabric: {rack: {bandwidth: 1G}}",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, domains: [{rack: r}]}]\nfabric: {rack: {bandwidth: "
        "1G, oversubscription: 2}}",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, domains: [{rack: r}]}]\nfabric: {rack: 3}",
        "nodes: [{name: a, cpu: 4, memory: 1Gi, devices: [{class: gpu, model: T4, partitioned: "
        "true}]}]"}) {
    EXPECT_NE(error(text), "accepted") << text;
  }
}

TEST(WorkloadFile, IsReadWithCounts) {
  const auto workload = parse_workload_file(test_text("traces/workload.yaml"), "w.yaml");
  ASSERT_TRUE(workload) << workload.error().describe();
  ASSERT_EQ(workload->jobs.size(), 4u);
  EXPECT_EQ(workload->jobs[2].name, "train-2");
  EXPECT_EQ(workload->jobs[2].arrives.value(), Duration::seconds(70));
  EXPECT_EQ(workload->jobs[2].duration.value(), Duration::minutes(20));
  EXPECT_EQ(device_thousandths(workload->shapes[0], "gpu"), 16'000);
  EXPECT_EQ(workload->jobs[3].name, "single");
  EXPECT_EQ(workload->jobs[3].arrives.value(), Duration{});
}

TEST(WorkloadFile, MistakesAreNamed) {
  const auto error = [](const std::string& text) {
    const auto workload = parse_workload_file(text, "w.yaml");
    return workload ? std::string("accepted") : workload.error().describe();
  };
  EXPECT_NE(error("jobs:\n  - {job: {name: a, run: x}}\n").find("'duration' is missing"),
            std::string::npos);
  EXPECT_NE(error("jobs:\n  - {duration: 5s}\n").find("'job' is missing"), std::string::npos);
  EXPECT_NE(error("jobs:\n  - {duration: 5s, job: {name: a, runs: x}}\n").find("runs"),
            std::string::npos);
  EXPECT_NE(error("jobs:\n  - {duration: 5s, count: 3, every: 300d, job: {name: a, run: x}}\n")
                .find("more than a year"),
            std::string::npos);
}

TEST(RunInputs, DirectoryNamesAreResolvedByMode) {
  const std::string openb = test_data("openb");
  const auto saturated = read_run_inputs(openb, "default", RunMode::kSaturation);
  ASSERT_TRUE(saturated) << saturated.error().describe();
  EXPECT_EQ(saturated->cluster.nodes.size(), 1213u);
  EXPECT_EQ(saturated->cluster.name, "openb_node_list_gpu_node");
  EXPECT_EQ(saturated->workload.name, "openb_pod_list_default");
  const auto timed = read_run_inputs(openb, "openb_pod_list_default", RunMode::kTimes);
  ASSERT_TRUE(timed) << timed.error().describe();
  EXPECT_EQ(timed->cluster.nodes.size(), 1523u);
  const auto by_path =
      read_run_inputs("nodes=2,gpus=8", test_data("traces/philly.csv"), RunMode::kTimes);
  ASSERT_TRUE(by_path) << by_path.error().describe();
  EXPECT_EQ(by_path->workload.jobs.size(), 3u);
  const auto files = read_run_inputs(test_data("traces/cluster.yaml"),
                                     test_data("traces/workload.yaml"), RunMode::kTimes);
  ASSERT_TRUE(files) << files.error().describe();
}

TEST(RunInputs, WhatIsNotThereIsSaidWithWhatIs) {
  const auto workload = read_run_inputs(test_data("openb"), "defualt", RunMode::kSaturation);
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(workload.error().describe(),
            "workload: there is no workload \"defualt\" (give a path or one of default, or did you "
            "mean 'default')");
  const auto cluster = read_run_inputs("nowhere", "default", RunMode::kSaturation);
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().field, "cluster");
  EXPECT_FALSE(read_run_inputs("nodes=1", test_data("README.md"), RunMode::kTimes));
}

}  // namespace
}  // namespace gridfold
