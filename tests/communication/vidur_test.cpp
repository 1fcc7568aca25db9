// The all-reduce model, with the curves of data/link_curves.csv, on the sizes
// of the measured tables that the curves were not fitted to.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/communication/measured_table.h"
#include "topology/communication.h"
#include "topology/test_fabric.h"

namespace gridfold {
namespace {

struct DeviceGroup {
  std::string machine;
  std::int32_t ranks = 0;
  std::int32_t ranks_per_node = 0;
  bool operator<(const DeviceGroup& other) const {
    return std::tie(machine, ranks, ranks_per_node) <
           std::tie(other.machine, other.ranks, other.ranks_per_node);
  }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Two nodes of the machine; every link as fast as the one that was measured.
Machine machine_named(const std::string& name, const LinkCurves& curves) {
  const auto speed = [&](LinkKind kind) {
    return curves[static_cast<std::size_t>(kind)].bandwidth();
  };
  const bool pairwise = name.find("pairwise") != std::string::npos;
  NodeWiring layout;
  for (std::int32_t i = 0; i < (pairwise ? 4 : 8); ++i) {
    layout.devices.push_back({.island = pairwise ? i / 2 : 0,
                              .pcie_switch = i / 2,
                              .socket = pairwise ? i / 2 : i / 4,
                              .card = i % 4});
  }
  for (std::int32_t i = 0; i < 4; ++i) {
    layout.cards.push_back({i, LinkKind::kEthernet, speed(LinkKind::kEthernet)});
  }
  layout.nvlink = speed(LinkKind::kNvlink);
  layout.pcie = speed(LinkKind::kPcie);
  layout.numa = speed(LinkKind::kNuma);
  layout.socket = speed(LinkKind::kSocket);
  layout.host_network = speed(LinkKind::kEthernet);
  FabricSpec spec;
  spec.layouts = {layout};
  spec.layout_of_node.assign(2, 0);
  spec.curves = curves;
  return machine_of(nodes_in_racks(1, 2), std::move(spec));
}

// Median of the measured medians, by size, in order of size.
std::map<DeviceGroup, std::map<std::int64_t, double>> measured(const std::string& machine) {
  std::map<DeviceGroup, std::map<std::int64_t, std::vector<double>>> all;
  for (Row& row :
       read_rows(shared_data("vidur/profiling/network/" + machine + "/all_reduce.csv.gz"))) {
    const DeviceGroup group{machine, std::stoi(row["num_workers"]),
                            std::stoi(row["devices_per_node"])};
    all[group][std::stoll(row["size"])].push_back(std::stod(row["all_reduce.median_ms"]) * 1e6);
  }
  std::map<DeviceGroup, std::map<std::int64_t, double>> medians;
  for (const auto& [group, sizes] : all) {
    for (const auto& [size, times] : sizes) medians[group][size] = median_of(times);
  }
  return medians;
}

// Relative errors on two of three sizes: those that were not fitted.
std::vector<double> errors(const Machine& machine, const DeviceGroup& group,
                           const std::map<std::int64_t, double>& times) {
  std::vector<Place> places;
  for (std::int32_t i = 0; i < group.ranks; ++i) {
    places.push_back(
        {NodeId(static_cast<std::uint32_t>(i / group.ranks_per_node)), i % group.ranks_per_node});
  }
  JobTraffic job;
  job.data = group.ranks;
  ExpectedTime expected(*machine.traffic);
  std::vector<double> out;
  int index = 0;
  for (const auto& [size, time] : times) {
    if (index++ % 3 == 0) continue;
    const Exchange exchange{Collective::kAllReduce, RankAxis::kAll, Bytes(size)};
    const Duration predicted = *expected.exchange(job, exchange, places, Algorithm::kRing);
    out.push_back(std::abs(static_cast<double>(predicted.ns) / time - 1));
  }
  return out;
}

TEST(Vidur, AllReduceIsWithinTenPercentInTheMedianOverDeviceGroups) {
  if (shared_data("vidur").empty()) {
    GTEST_SKIP() << "the shared data are not here (GRIDFOLD_SHARED_DATA)";
  }
  const std::string table = text_of(GRIDFOLD_SOURCE_DIR "/data/link_curves.csv");
  std::vector<double> over_groups;
  for (const char* name :
       {"a100_pairwise_nvlink", "h100_pairwise_nvlink", "a100_dgx", "h100_dgx"}) {
    const auto curves = read_link_curves(table, name);
    ASSERT_TRUE(curves) << curves.error().describe();
    const Machine machine = machine_named(name, *curves);
    for (const auto& [group, times] : measured(name)) {
      const auto found = errors(machine, group, times);
      ASSERT_GT(found.size(), 600u);
      double sum = 0;
      for (const double error : found) sum += error;
      over_groups.push_back(median_of(found));
      std::printf("%-22s %2d ranks, %d a node: median %4.1f %%, mean %5.1f %% of %zu sizes\n", name,
                  group.ranks, group.ranks_per_node, 100 * over_groups.back(),
                  100 * sum / static_cast<double>(found.size()), found.size());
    }
  }
  ASSERT_EQ(over_groups.size(), 14u);
  std::printf("median over the device groups: %.1f %%\n", 100 * median_of(over_groups));
  EXPECT_LE(median_of(over_groups), 0.10);
}

}  // namespace
}  // namespace gridfold
