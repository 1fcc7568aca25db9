// What stands in real topology files, counted by hand from the files.
#include "topology/machine_topology.h"

#include <algorithm>
#include <set>

#include "tests/support/topology_files.h"
#include "topology/device_locality.h"
#include "topology/device_paths.h"

namespace gridfold {
namespace {

constexpr auto kGpu = MachineDeviceKind::kGpu;
constexpr auto kNic = MachineDeviceKind::kNic;

// One word for each GPU: "0/0/1" is NUMA node 0, switch group 0, island 1.
std::string places(const MachineTopology& machine) {
  const auto text = [](std::int32_t number) {
    return number < 0 ? std::string("?") : std::to_string(number);
  };
  std::string all;
  for (const auto& gpu : gpu_localities(machine))
    all += (all.empty() ? "" : " ") + text(gpu.numa) + "/" + text(gpu.switch_group) + "/" +
           text(gpu.island);
  return all;
}

// "0,1:PIX 0,1:PIX": for each GPU its nearest cards, counted from the first one.
std::string near_nics(const MachineTopology& machine) {
  std::int32_t first = 0;
  while (static_cast<std::size_t>(first) < machine.devices.size() &&
         machine.devices[static_cast<std::size_t>(first)].kind != kNic)
    ++first;
  std::string all;
  for (const auto& gpu : gpu_localities(machine)) {
    std::string nics;
    for (const auto& nic : gpu.nics)
      nics += (nics.empty() ? "" : ",") + std::to_string(nic.device - first);
    if (!gpu.nics.empty()) nics += ":" + to_text({gpu.nics.front().path, {}, {}});
    all += (all.empty() ? "" : " ") + (nics.empty() ? "-" : nics);
  }
  return all;
}

std::string path(const MachineTopology& machine, std::size_t a, std::size_t b) {
  return to_text(DevicePaths(machine).between(a, b));
}

std::string cpus(const MachineTopology& machine, std::size_t numa) {
  const auto& set = machine.numa.at(numa).cpus;
  return set.is_known() ? set.value().to_text() : "?";
}

// --- Files of the project ---

TEST(HwlocXml, Power8HasTwoIslandsOfTwoThatReachTheirProcessor) {
  const auto machine = test_machine("power8gpudistances.xml");
  EXPECT_EQ(machine.format, "hwloc XML 3.0");
  ASSERT_EQ(machine.numa.size(), 2u);
  EXPECT_EQ(cpus(machine, 1), "80-81,88-89,96-97,104-105");
  EXPECT_EQ(machine.numa[0].memory, Known<Bytes>(Bytes(68556816384)));
  EXPECT_EQ(machine.count(kGpu), 4u);
  EXPECT_EQ(machine.count(kNic), 0u);
  EXPECT_TRUE(machine.switches.empty());  // root ports alone
  EXPECT_EQ(places(machine), "0/0/0 0/1/0 1/2/1 1/3/1");

  const auto& gpu = machine.devices[0];
  EXPECT_EQ(gpu.name, "nvml0");
  EXPECT_EQ(gpu.model, "Tesla P100-SXM2-16GB");
  EXPECT_EQ(gpu.uid, "GPU-77bf6b9a-6906-5a93-d28b-b77d2c23d1d2");
  EXPECT_EQ(gpu.pci_address, "0002:01:00.0");
  EXPECT_EQ(gpu.pci_id, "10de:15f9");
  EXPECT_EQ(gpu.memory, Known<Bytes>(Bytes(std::int64_t{16671616} << 10)));

  const auto linked = DevicePaths(machine).between(0, 1);
  EXPECT_EQ(linked.kind, PathKind::kNvlink);
  EXPECT_FALSE(linked.links.is_known());
  EXPECT_EQ(linked.bandwidth, Known<BitsPerSecond>(BitsPerSecond(320'000'000'000)));  // 40 GB/s
  EXPECT_EQ(path(machine, 1, 2), "SYS");
  EXPECT_EQ(std::count_if(machine.links.begin(), machine.links.end(),
                          [](const MachineLink& link) { return link.b == MachineLink::kHost; }),
            4);
}

TEST(HwlocXml, Version2CountsDeviceKindsDifferently) {
  const auto machine = test_machine("hwloc2-pcie-box.xml");
  EXPECT_EQ(machine.format, "hwloc XML 2.0");
  // Neither the console's display nor the disk is a device to us.
  EXPECT_EQ(machine.devices.size(), 3u);
  ASSERT_EQ(machine.switches.size(), 1u);
  EXPECT_EQ(machine.switches[0].pci_address, "0000:17:00.0");
  EXPECT_EQ(places(machine), "0/0/0 1/1/0");
  EXPECT_EQ(near_nics(machine), "0:PIX 0:SYS");
  EXPECT_EQ(machine.devices[0].name, "nvml0");  // not cuda1
  EXPECT_EQ(machine.devices[0].memory, Known<Bytes>(Bytes(std::int64_t{41409472} << 10)));
  EXPECT_FALSE(machine.devices[1].memory.is_known());
  EXPECT_EQ(machine.devices[2].name, "mlx5_0");
  EXPECT_EQ(machine.devices[2].model, "MT28908 Family [ConnectX-6]");
  EXPECT_EQ(DevicePaths(machine).between(0, 1).bandwidth,
            Known<BitsPerSecond>(BitsPerSecond(2'400'000'000'000)));
}

TEST(NcclXml, P4dHasTwoGpusAndACardOnEachOfFourSwitches) {
  const auto machine = test_machine("p4d-24xl-topo.xml");
  EXPECT_EQ(machine.format, "NCCL XML 1");
  EXPECT_EQ(cpus(machine, 0), "0-23,48-71");
  EXPECT_EQ(cpus(machine, 1), "24-47,72-95");
  EXPECT_FALSE(machine.numa[0].memory.is_known());
  EXPECT_EQ(machine.switches.size(), 4u);
  EXPECT_EQ(machine.count(kGpu), 8u);
  EXPECT_EQ(machine.count(kNic), 4u);
  // The file has no NVLinks; that is not to say that the machine has none.
  EXPECT_FALSE(machine.links_told);
  EXPECT_EQ(places(machine), "0/0/? 0/0/? 0/1/? 0/1/? 1/2/? 1/2/? 1/3/? 1/3/?");
  EXPECT_EQ(near_nics(machine), "0:PIX 0:PIX 1:PIX 1:PIX 2:PIX 2:PIX 3:PIX 3:PIX");
  EXPECT_EQ(path(machine, 0, 1), "PIX");
  EXPECT_EQ(path(machine, 0, 2), "PHB");
  EXPECT_EQ(path(machine, 0, 4), "SYS");
  EXPECT_EQ(machine.devices[0].pci_id, "10de:20b0");
}

TEST(NcclXml, NvSwitchesThatOnlyLinksNameJoinAllGpus) {
  const auto machine = test_machine("elasticflow-topo.xml");
  EXPECT_EQ(machine.count(kGpu), 8u);
  EXPECT_EQ(machine.count(kNic), 8u);
  EXPECT_EQ(machine.count(MachineDeviceKind::kNvSwitch), 6u);
  EXPECT_EQ(machine.links.size(), 48u);
  EXPECT_EQ(places(machine), "0/0/0 0/0/0 1/1/0 1/1/0 2/2/0 2/2/0 3/3/0 3/3/0");
  EXPECT_EQ(near_nics(machine), "0,1:PIX 0,1:PIX 2,3:PIX 2,3:PIX 4,5:PIX 4,5:PIX 6,7:PIX 6,7:PIX");
  EXPECT_EQ(path(machine, 0, 7), "NV12");
  EXPECT_FALSE(DevicePaths(machine).between(0, 7).bandwidth.is_known());
  EXPECT_EQ(path(machine, 0, 8), "PIX");
}

TEST(NvidiaTopoText, DgxA100) {
  const auto machine = test_machine("nvidia-smi-dgx-a100.txt");
  EXPECT_EQ(machine.format, "nvidia-smi topo -m");
  EXPECT_EQ(machine.count(kGpu), 8u);
  EXPECT_EQ(machine.count(kNic), 10u);
  ASSERT_EQ(machine.numa.size(), 4u);
  EXPECT_EQ(machine.numa[1].number, 3);
  EXPECT_EQ(cpus(machine, 1), "48-63,176-191");
  EXPECT_EQ(path(machine, 0, 7), "NV12");
  // The NVLinks hide that GPU0 and GPU1 share a switch; their cards show it.
  EXPECT_EQ(places(machine), "3/0/0 3/0/0 1/1/0 1/1/0 7/2/0 7/2/0 5/3/0 5/3/0");
  EXPECT_EQ(near_nics(machine), "0,1:PXB 0,1:PXB 2,3:PXB 2,3:PXB 6,7:PXB 6,7:PXB 8,9:PXB 8,9:PXB");
  EXPECT_EQ(machine.devices[8].name, "mlx5_0");
}

TEST(NvidiaTopoText, FourGpusOnPcieFromAnOldDriver) {
  const auto machine = test_machine("nvidia-smi-pcie-4gpu.txt");
  EXPECT_EQ(machine.count(kGpu), 4u);
  EXPECT_EQ(machine.count(kNic), 1u);
  EXPECT_TRUE(machine.numa.empty());  // the driver prints processors only
  EXPECT_EQ(path(machine, 0, 1), "NODE");
  EXPECT_EQ(path(machine, 1, 2), "SYS");
  EXPECT_EQ(path(machine, 2, 3), "PHB");
  // No links are told of, which is to say that each is alone.
  EXPECT_EQ(places(machine), "?/0/0 ?/1/1 ?/2/2 ?/3/3");
  EXPECT_EQ(near_nics(machine), "0:PHB 0:NODE 0:SYS 0:SYS");
}

TEST(NvidiaTopoText, HgxH100FromANewDriverOnATerminal) {
  const auto machine = test_machine("nvidia-smi-hgx-h100.txt");
  EXPECT_EQ(machine.count(kGpu), 8u);
  EXPECT_EQ(machine.count(kNic), 9u);
  ASSERT_EQ(machine.numa.size(), 2u);
  EXPECT_EQ(cpus(machine, 0), "0-47,96-143");
  EXPECT_EQ(path(machine, 3, 4), "NV18");
  EXPECT_EQ(places(machine), "0/0/0 0/1/0 0/2/0 0/3/0 1/4/0 1/5/0 1/6/0 1/7/0");
  EXPECT_EQ(near_nics(machine), "0:PIX 1:PIX 2:PIX 3:PIX 5:PIX 6:PIX 7:PIX 8:PIX");
  EXPECT_EQ(machine.devices[8].name, "mlx5_0");
  EXPECT_EQ(machine.devices[8].number, Known<std::int32_t>(0));
}

TEST(NvidiaTopoText, EmptyColumnsStayUnknown) {
  const auto machine = machine_in("wsl.txt",
                                  "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                                  "GPU0\t X \t\t\t\tN/A\n");
  EXPECT_TRUE(machine.numa.empty());
  EXPECT_EQ(places(machine), "?/0/0");
  const auto several = machine_in("nps.txt",
                                  "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                                  "GPU0\t X \t0-63\t0-1\t\tN/A\n");
  EXPECT_EQ(places(several), "?/0/0");
}

// --- All shared files ---

struct Counts {
  const char* file;
  std::size_t numa, switches, gpus, accelerators, nics, nvswitches, unknown;
  const char* places;
  const char* near_nics;
};

// Counted in the files with grep and by reading them.
constexpr Counts kShared[] = {
    {"hwloc/16amd64-4distances.xml", 8, 0, 0, 0, 0, 0, 0, "", ""},
    {"hwloc/32em64t-2n8c+dax+nvme+mic+dimms.xml", 2, 0, 0, 1, 3, 0, 0, "", ""},
    {"hwloc/64intel64-heteromem.xml", 8, 0, 0, 0, 0, 0, 0, "", ""},
    {"hwloc/cxlmem+dax.v3.xml", 1, 3, 0, 0, 1, 0, 0, "", ""},
    {"hwloc/dudley.xml", 1, 0, 0, 0, 0, 0, 0, "", ""},
    {"hwloc/emmett.xml", 1, 0, 0, 0, 0, 0, 0, "", ""},
    {"hwloc/irregulargroups-disallowed.xml.gz", 8, 0, 2, 0, 2, 0, 0, "4/0/? 7/1/?",
     "0,1:SYS 0,1:SYS"},
    {"hwloc/memorysidecaches.xml", 4, 0, 0, 0, 0, 0, 0, "", ""},
    {"hwloc/nvidia-dgx-gb10.xml", 1, 0, 0, 0, 0, 0, 0, "", ""},
    // Four root complexes with a switch each, below which two GPUs share one of
    // eight more, and two carry the NVSwitches.
    {"hwloc/nvidiaDGX2.xml", 2, 14, 16, 0, 0, 12, 0,
     "0/0/0 0/0/0 0/1/0 0/1/0 0/2/0 0/2/0 0/3/0 0/3/0 "
     "1/4/0 1/4/0 1/5/0 1/5/0 1/6/0 1/6/0 1/7/0 1/7/0",
     "- - - - - - - - - - - - - - - -"},
    {"hwloc/power8gpudistances.xml", 2, 0, 4, 0, 0, 0, 0, "0/0/0 0/1/0 1/2/1 1/3/1", "- - - -"},
    {"nccl-aws/g5.48xl-topo.xml", 2, 0, 0, 0, 0, 0, 9, "", ""},
    {"nccl-aws/p4d-24xl-topo.xml", 2, 4, 8, 0, 4, 0, 0,
     "0/0/? 0/0/? 0/1/? 0/1/? 1/2/? 1/2/? 1/3/? 1/3/?",
     "0:PIX 0:PIX 1:PIX 1:PIX 2:PIX 2:PIX 3:PIX 3:PIX"},
    {"nccl-aws/p4de-24xl-topo.xml", 2, 4, 8, 0, 4, 0, 0,
     "0/0/? 0/0/? 0/1/? 0/1/? 1/2/? 1/2/? 1/3/? 1/3/?",
     "0:PIX 0:PIX 1:PIX 1:PIX 2:PIX 2:PIX 3:PIX 3:PIX"},
    // "GPUs are not reported in this file"; the cards have no class.
    {"nccl-aws/p5.48xl-topo.xml", 2, 8, 0, 0, 0, 0, 32, "", ""},
    // NVLinks whose other end the virtual machine does not see.
    {"nccl-azure/ncv4-topo.xml", 4, 0, 4, 0, 1, 0, 0, "0/0/? 1/1/? 2/2/? 3/3/?",
     "0:PHB 0:SYS 0:SYS 0:SYS"},
    {"nccl-azure/ndv2-topo.xml", 2, 0, 8, 0, 1, 0, 0,
     "0/0/? 0/1/? 0/2/? 0/3/? 1/4/? 1/5/? 1/6/? 1/7/?",
     "0:PHB 0:PHB 0:PHB 0:PHB 0:SYS 0:SYS 0:SYS 0:SYS"},
    // The GPUs of the lowest addresses are on NUMA node 1.
    {"nccl-azure/ndv4-topo.xml", 4, 4, 8, 0, 8, 0, 0,
     "1/0/? 1/0/? 0/1/? 0/1/? 3/2/? 3/2/? 2/3/? 2/3/?",
     "0,1:PIX 0,1:PIX 2,3:PIX 2,3:PIX 4,5:PIX 4,5:PIX 6,7:PIX 6,7:PIX"},
    {"nccl-azure/ndv5-topo.xml", 2, 8, 8, 0, 8, 0, 0,
     "0/0/? 0/1/? 0/2/? 0/3/? 1/4/? 1/5/? 1/6/? 1/7/?",
     "0:PIX 1:PIX 2:PIX 3:PIX 4:PIX 5:PIX 6:PIX 7:PIX"},
    {"nccl-elasticflow/topo.xml", 4, 4, 8, 0, 8, 6, 0,
     "0/0/0 0/0/0 1/1/0 1/1/0 2/2/0 2/2/0 3/3/0 3/3/0",
     "0,1:PIX 0,1:PIX 2,3:PIX 2,3:PIX 4,5:PIX 4,5:PIX 6,7:PIX 6,7:PIX"},
};

#define SKIP_WITHOUT_SHARED()              \
  const auto folder = shared_topologies(); \
  if (folder.empty())                      \
  GTEST_SKIP() << "the shared topology files are not here (GRIDFOLD_SHARED_DATA)"

TEST(SharedTopologies, HoldWhatTheirFilesSay) {
  SKIP_WITHOUT_SHARED();
  for (const auto& expected : kShared) {
    SCOPED_TRACE(expected.file);
    const auto machine = machine_in(expected.file, file_bytes(folder + expected.file));
    EXPECT_EQ(machine.numa.size(), expected.numa);
    EXPECT_EQ(machine.switches.size(), expected.switches);
    EXPECT_EQ(machine.count(kGpu), expected.gpus);
    EXPECT_EQ(machine.count(MachineDeviceKind::kAccelerator), expected.accelerators);
    EXPECT_EQ(machine.count(kNic), expected.nics);
    EXPECT_EQ(machine.count(MachineDeviceKind::kNvSwitch), expected.nvswitches);
    EXPECT_EQ(machine.count(MachineDeviceKind::kUnknown), expected.unknown);
    EXPECT_EQ(places(machine), expected.places);
    EXPECT_EQ(near_nics(machine), expected.near_nics);
  }
}

TEST(SharedTopologies, EveryFileOfTheFolderIsReadOrRefusedOnPurpose) {
  SKIP_WITHOUT_SHARED();
  std::set<std::string> expected = {"nccl-azure/ncv4-graph.xml"};
  for (const auto& counts : kShared) expected.insert(counts.file);
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      found.insert(std::filesystem::relative(entry.path(), folder).string());
  EXPECT_EQ(found, expected);
}

TEST(SharedTopologies, Dgx2IsOneFabricOfSixLinksAGpu) {
  SKIP_WITHOUT_SHARED();
  const auto machine = machine_in("dgx2", file_bytes(folder + "hwloc/nvidiaDGX2.xml"));
  EXPECT_EQ(machine.links.size(), 16u * 6u);
  const DevicePaths paths(machine);
  for (std::size_t a = 0; a < 16; ++a)
    for (std::size_t b = 0; b < 16; ++b) {
      if (a == b) continue;
      EXPECT_EQ(paths.between(a, b).kind, PathKind::kNvlink);
      EXPECT_EQ(paths.between(a, b).bandwidth,
                Known<BitsPerSecond>(BitsPerSecond(1'200'000'000'000)));  // 6 × 25 GB/s
    }
  EXPECT_EQ(machine.devices[15].uid, "GPU-bb4648d3-e72b-4bac-a32f-4c9f3e4eb547");
  EXPECT_EQ(machine.devices[15].pci_address, "0000:e7:00.0");
}

TEST(SharedTopologies, MemoryThatIsNotToldIsUnknown) {
  SKIP_WITHOUT_SHARED();
  const auto told = [&](const char* file) {
    return machine_in(file, file_bytes(folder + file)).numa.at(0).memory;
  };
  EXPECT_FALSE(told("hwloc/dudley.xml").is_known());
  EXPECT_EQ(told("hwloc/nvidia-dgx-gb10.xml"), Known<Bytes>(Bytes(128520671232)));
  EXPECT_EQ(told("hwloc/memorysidecaches.xml"), Known<Bytes>(Bytes(397816131584)));
}

TEST(SharedTopologies, NicsAreNamedAndFunctionsOfOneCardAreNear) {
  SKIP_WITHOUT_SHARED();
  const std::string name = "hwloc/32em64t-2n8c+dax+nvme+mic+dimms.xml";
  const auto machine = machine_in(name, file_bytes(folder + name));
  ASSERT_EQ(machine.devices.size(), 4u);
  EXPECT_EQ(machine.devices[0].pci_address, "0000:83:00.0");
  EXPECT_EQ(machine.devices[1].name, "eth0");
  EXPECT_EQ(machine.devices[3].name, "mlx4_0");
  EXPECT_EQ(path(machine, 1, 2), "PIX");
  EXPECT_EQ(path(machine, 0, 3), "PHB");
  EXPECT_EQ(path(machine, 0, 1), "SYS");
}

}  // namespace
}  // namespace gridfold
