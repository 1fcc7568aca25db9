#include "topology/machine_links.h"

#include <gtest/gtest.h>

#include "tests/support/topology_files.h"
#include "topology/site_fabric.h"
#include "topology/test_fabric.h"

namespace gridfold {
namespace {

LinkFacts facts() {
  LinkFacts facts;
  facts.network = LinkKind::kInfiniband;
  facts.card = gigabits(200);
  facts.pcie = gigabits(160);
  facts.nvlink = gigabits(2'400);
  return facts;
}

NodeSpec node_of(std::size_t gpus) {
  NodeSpec node;
  node.name = "n";
  node.devices.assign(gpus, DeviceSpec{"gpu", "G"});
  return node;
}

// Eight GPUs on one fabric, each pair next to two cards.
TEST(TellLinks, GivesEveryGpuItsPlaceAndACardOfItsOwn) {
  const auto machine = test_machine("nvidia-smi-dgx-a100.txt");
  NodeSpec node = node_of(machine.count(MachineDeviceKind::kGpu));
  const auto told = tell_links(machine, facts(), node);
  ASSERT_TRUE(told) << told.error().describe();
  EXPECT_EQ(node.links->cards.size(), machine.count(MachineDeviceKind::kNic));
  const auto wiring = wiring_of(node);
  ASSERT_TRUE(wiring) << wiring.error().describe();
  std::vector<int> used(node.links->cards.size(), 0);
  for (const DeviceSeat& seat : wiring->devices) {
    EXPECT_EQ(seat.island, 0);
    ++used[static_cast<std::size_t>(seat.card)];
  }
  for (const int devices : used) EXPECT_LE(devices, 1);
}

// Without NVLink there is no island, and nobody asks how fast one is.
TEST(TellLinks, KnowsMachinesWithoutNvlink) {
  const auto machine = test_machine("nvidia-smi-pcie-4gpu.txt");
  NodeSpec node = node_of(4);
  LinkFacts without = facts();
  without.nvlink = Unknown{};
  const auto told = tell_links(machine, without, node);
  ASSERT_TRUE(told) << told.error().describe();
  const auto wiring = wiring_of(node);
  ASSERT_TRUE(wiring) << wiring.error().describe();
  for (const DeviceSeat& seat : wiring->devices) EXPECT_EQ(seat.island, -1);
}

TEST(TellLinks, RefusesAnotherMachine) {
  const auto machine = test_machine("nvidia-smi-pcie-4gpu.txt");
  NodeSpec node = node_of(8);
  const auto told = tell_links(machine, facts(), node);
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().message.find("4 GPUs"), std::string::npos);
  EXPECT_FALSE(node.links.is_known());
}

}  // namespace
}  // namespace gridfold
