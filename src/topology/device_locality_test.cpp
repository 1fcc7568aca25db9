// Paths and places that follow from small machines made up for the test.
#include "topology/device_locality.h"

#include <gtest/gtest.h>

#include "tests/support/topology_files.h"
#include "topology/device_paths.h"

namespace gridfold {
namespace {

std::string pci(const std::string& address, const std::string& device_class,
                const std::string& inside = "") {
  return "<pci busid=\"0000:" + address + ":00.0\" class=\"" + device_class + "\">" + inside +
         "</pci>";
}
std::string gpu(const std::string& address, const std::string& links = "") {
  return pci(address, "0x030200", "<gpu>" + links + "</gpu>");
}
std::string nvlink(const std::string& address, int count,
                   const std::string& device_class = "0x030200") {
  return "<nvlink target=\"0000:" + address + ":00.0\" count=\"" + std::to_string(count) +
         "\" tclass=\"" + device_class + "\"/>";
}
MachineTopology machine(const std::string& first_cpu, const std::string& second_cpu = "") {
  return machine_in("made up", "<system version=\"1\"><cpu numaid=\"0\">" + first_cpu +
                                   "</cpu><cpu numaid=\"1\">" + second_cpu + "</cpu></system>");
}
std::string path(const MachineTopology& topology, std::size_t a, std::size_t b) {
  return to_text(DevicePaths(topology).between(a, b));
}
std::vector<std::int32_t> islands(const MachineTopology& topology) {
  std::vector<std::int32_t> all;
  for (const auto& gpu : gpu_localities(topology)) all.push_back(gpu.island);
  return all;
}
std::vector<std::int32_t> groups(const MachineTopology& topology) {
  std::vector<std::int32_t> all;
  for (const auto& gpu : gpu_localities(topology)) all.push_back(gpu.switch_group);
  return all;
}

using Numbers = std::vector<std::int32_t>;

TEST(DevicePaths, OneSwitchIsPixCascadedOnesArePxb) {
  const auto inner = pci("02", "0x060400", gpu("03") + gpu("04"));
  const auto topology = machine(pci("01", "0x060400", inner + gpu("05")) + gpu("06"), gpu("07"));
  EXPECT_EQ(path(topology, 0, 1), "PIX");
  EXPECT_EQ(path(topology, 0, 2), "PXB");
  EXPECT_EQ(path(topology, 0, 3), "PHB");
  EXPECT_EQ(path(topology, 0, 4), "SYS");
  EXPECT_EQ(path(topology, 2, 2), "X");
  EXPECT_EQ(groups(topology), (Numbers{0, 0, 1, 2, 3}));
}

TEST(DevicePaths, LinksGoBeforePcieAndAddUp) {
  const auto topology =
      machine(pci("01", "0x060400",
                  gpu("02", nvlink("03", 1) + nvlink("03", 2)) + gpu("03", nvlink("02", 3))),
              gpu("04"));
  EXPECT_EQ(path(topology, 0, 1), "NV3");
  EXPECT_EQ(path(topology, 1, 0), "NV3");
  EXPECT_EQ(topology.links.size(), 1u);
  EXPECT_EQ(path(topology, 0, 2), "SYS");
  EXPECT_EQ(islands(topology), (Numbers{0, 0, 1}));
}

TEST(DevicePaths, ALinkThatOnlyOneEndTellsOfIsALink) {
  EXPECT_EQ(path(machine(gpu("02", nvlink("03", 4)) + gpu("03")), 0, 1), "NV4");
}

TEST(DevicePaths, ThroughSwitchesTheEndWithFewerLinksBinds) {
  const auto topology =
      machine(gpu("02", nvlink("08", 6, "0x068000")) +
              gpu("03", nvlink("09", 2, "0x068000") + nvlink("0a", 2, "0x068000")));
  EXPECT_EQ(path(topology, 0, 1), "NV4");
  EXPECT_EQ(islands(topology), (Numbers{0, 0}));
}

TEST(DeviceLocality, AnIslandReachesThroughItsMembers) {
  const auto topology = machine(gpu("02", nvlink("03", 1)) + gpu("03", nvlink("04", 1)) +
                                gpu("04") + gpu("05", nvlink("06", 1)) + gpu("06"));
  EXPECT_EQ(path(topology, 0, 2), "PHB");
  EXPECT_EQ(islands(topology), (Numbers{0, 0, 0, 1, 1}));
}

TEST(DeviceLocality, ProcessorsDoNotJoinIslands) {
  const auto topology =
      machine(gpu("02", "<c2c bw=\"372\" count=\"1\"/>") + gpu("03", nvlink("0f", 2, "0x068001")));
  ASSERT_EQ(topology.links.size(), 2u);
  EXPECT_EQ(topology.links[0].b, MachineLink::kHost);
  EXPECT_EQ(topology.links[1].b, MachineLink::kHost);
  EXPECT_EQ(islands(topology), (Numbers{0, 1}));
}

TEST(DeviceLocality, LinksToNobodyKnowsWhereLeaveTheIslandUnknown) {
  const auto topology =
      machine(gpu("02", nvlink("02", 12)) + gpu("03", nvlink("77", 12)) + gpu("04"));
  EXPECT_EQ(topology.links.front().b, MachineLink::kUnknownPeer);
  EXPECT_EQ(islands(topology), (Numbers{-1, -1, 0}));
}

TEST(DeviceLocality, WithoutGpuElementsNothingIsKnownOfLinks) {
  EXPECT_EQ(islands(machine(pci("02", "0x030200") + pci("03", "0x030200"))), (Numbers{-1, -1}));
}

TEST(DeviceLocality, GpusAreInTheDriversOrderElseByAddress) {
  const auto numbered = machine(pci("02", "0x030200", "<gpu dev=\"1\"/>") +
                                pci("03", "0x030200", "<gpu dev=\"0\"/>"));
  EXPECT_EQ(numbered.devices[0].pci_address, "0000:03:00.0");
  const auto plain = machine(gpu("0b") + pci("01", "0x020000"), gpu("02"));
  EXPECT_EQ(plain.devices[0].pci_address, "0000:02:00.0");
  EXPECT_EQ(gpu_localities(plain)[0].numa, 1);
  EXPECT_EQ(plain.devices[2].kind, MachineDeviceKind::kNic);
}

TEST(DeviceLocality, OnlyTheNearestCardsCount) {
  const auto topology = machine(
      pci("01", "0x060400", gpu("02") + pci("03", "0x020000")) + pci("04", "0x020000"), gpu("05"));
  const auto gpus = gpu_localities(topology);
  EXPECT_EQ(gpus[0].nics, (std::vector<NearNic>{{2, PathKind::kPix}}));
  EXPECT_EQ(gpus[1].nics, (std::vector<NearNic>{{2, PathKind::kSys}, {3, PathKind::kSys}}));
}

// A GPU below a package that has the NUMA nodes 1 and 2 of these processors.
std::int32_t numa_below(const std::string& cpus_of_1, const std::string& cpus_of_2) {
  const auto node = [](const std::string& number, const std::string& cpus) {
    return "<object type=\"NUMANode\" os_index=\"" + number + "\" " +
           (cpus.empty() ? "" : "cpuset=\"" + cpus + "\"") + "/>";
  };
  const auto topology = machine_in(
      "made up", "<topology version=\"3.0\"><object type=\"Package\" nodeset=\"0x6\">" +
                     node("2", cpus_of_2) + node("1", cpus_of_1) +
                     "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"PCIDev\" "
                     "pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:1db8] [0000:0000] a1\"/>"
                     "</object></object></topology>");
  return gpu_localities(topology).at(0).numa;
}

TEST(DeviceLocality, MemoriesOfTheSameProcessorsAreOnePlace) {
  EXPECT_EQ(numa_below("0xf", "0xf"), 1);
  EXPECT_EQ(numa_below("0xf", "0xf0"), -1);
  EXPECT_EQ(numa_below("", ""), -1);
}

TEST(DeviceLocality, AToldPixBindsCloserThanAPxb) {
  const auto topology = machine_in("made up",
                                   " GPU0 GPU1 GPU2 GPU3\n"
                                   "GPU0 X PIX PXB PHB\n"
                                   "GPU1 PIX X PXB PHB\n"
                                   "GPU2 PXB PXB X SYS\n"
                                   "GPU3 PHB PHB SYS X\n");
  EXPECT_EQ(groups(topology), (Numbers{0, 0, 0, 1}));
  const auto pairs = machine_in("made up",
                                " GPU0 GPU1 GPU2 GPU3\n"
                                "GPU0 X PIX PXB PXB\n"
                                "GPU1 PIX X PXB PXB\n"
                                "GPU2 PXB PXB X PIX\n"
                                "GPU3 PXB PXB PIX X\n");
  EXPECT_EQ(groups(pairs), (Numbers{0, 0, 1, 1}));
}

}  // namespace
}  // namespace gridfold
