// Files that are no topology, cut off, contradictory or hostile: each is refused
// by name with the reason and the next step.
#include <regex>

#include "tests/support/topology_files.h"
#include "topology/xml_file.h"

namespace gridfold {
namespace {

// "line L, column C: message (next step)", or what was read.
std::string refusal(const std::string& bytes) {
  const auto machine = read_machine_topology("f", bytes);
  return machine ? "read as " + machine->format : machine.error().describe();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

constexpr const char* kKinds =
    " (give hwloc XML (lstopo machine.xml), NCCL topology XML (NCCL_TOPO_DUMP_FILE) or the output "
    "of nvidia-smi topo -m)";

// --- Something else ---

TEST(OtherFiles, AreRefusedByName) {
  EXPECT_EQ(refusal(""), std::string("f: not a machine topology but an empty file") + kKinds);
  EXPECT_EQ(refusal(" \n\t"), std::string("f: not a machine topology but an empty file") + kKinds);
  EXPECT_EQ(refusal("name: llama\nrun: [sleep, 5]\n"),
            std::string("f: not a machine topology but some other file") + kKinds);
  EXPECT_EQ(refusal("NVIDIA-SMI has failed because it couldn't communicate with the driver.\n"),
            std::string("f: not a machine topology but some other file") + kKinds);
  EXPECT_EQ(refusal("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"),
            std::string("f: not a machine topology but some other file") + kKinds);
  EXPECT_EQ(refusal("\x1f\x8b\x08"),
            "f: not a machine topology but a file packed by gzip (unpack it first: gunzip)");
}

TEST(OtherFiles, OtherXmlIsTold) {
  EXPECT_EQ(
      refusal("<svg/>"),
      std::string("f: not a machine topology but XML with the root element \"svg\"") + kKinds);
  EXPECT_EQ(refusal("<graphs version=\"1\"><graph id=\"0\"/></graphs>"),
            "f: not a machine topology but an NCCL graph, which says how NCCL uses a machine, not "
            "what is in it (give the topology: NCCL_TOPO_DUMP_FILE, not NCCL_GRAPH_DUMP_FILE)");
  EXPECT_EQ(refusal("<nvidia_smi_log/>"),
            "f: not a machine topology but the log of nvidia-smi -q -x, which has no paths between "
            "devices (give the output of nvidia-smi topo -m)");
  EXPECT_EQ(refusal("<topologydiff/>"),
            "f: not a machine topology but a difference between two hwloc topologies (give the "
            "topology itself)");
}

TEST(OtherFiles, OtherVersionsAreTold) {
  EXPECT_EQ(refusal("<topology><object type=\"Machine\"/></topology>"),
            "line 1, column 2: f: hwloc XML of version 1, which is not read (export it with lstopo "
            "of hwloc 2 or later)");
  EXPECT_EQ(refusal("<topology version=\"4.0\"><object/></topology>"),
            "line 1, column 2: f: hwloc XML of version \"4.0\", which is not known (export version "
            "2 or 3)");
  EXPECT_EQ(refusal("<topology version=\"3.0\"/>"),
            "line 1, column 2: f: hwloc XML without an object (export the file again)");
  EXPECT_EQ(refusal("<system version=\"2\"><cpu/></system>"),
            "line 1, column 2: f: NCCL topology of version \"2\", which is not known (give one of "
            "version 1)");
  EXPECT_EQ(refusal("<system version=\"1\"/>"),
            "line 1, column 2: f: NCCL topology without a <cpu> (export it with "
            "NCCL_TOPO_DUMP_FILE)");
}

// --- Damaged or hostile ---

TEST(DamagedFiles, EveryCutIsRefused) {
  for (const auto name : {"p4d-24xl-topo.xml", "hwloc2-pcie-box.xml"}) {
    const auto whole = topology_bytes(name);
    const auto end = whole.rfind('>') + 1;
    for (std::size_t length = 0; length < end; length += 97) {
      const auto said = refusal(whole.substr(0, length));
      EXPECT_TRUE(std::regex_match(
          said, std::regex("(line \\d+, column \\d+: f: cut off, or not well-formed XML: .* "
                           "\\(export the file again, or check it with xmllint\\))|"
                           "(f: not a machine topology but an empty file .*)")))
          << name << " cut at " << length << ": " << said;
    }
  }
}

TEST(DamagedFiles, EveryCutOfTheMatrixIsRefused) {
  const auto whole = topology_bytes("nvidia-smi-pcie-4gpu.txt");
  const auto end = whole.find("Legend:");
  const auto last_row = whole.rfind("mlx5_0", end);
  for (std::size_t length = whole.find('\n', 30); length < last_row; length += 7)
    EXPECT_NE(refusal(whole.substr(0, length)), "read as nvidia-smi topo -m") << length;
  EXPECT_EQ(refusal(whole.substr(0, last_row)),
            "line 6: f: cut off: no row of \"mlx5_0\" (give the output of nvidia-smi topo -m)");
}

TEST(HostileFiles, EntitiesAreRefused) {
  EXPECT_EQ(refusal("<!DOCTYPE topology [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n"
                    "<topology version=\"3.0\"><object type=\"&b;\"/></topology>"),
            "line 1, column 11: f: it defines its own entities (a DOCTYPE with [...]) (remove that "
            "part; no tool that exports topologies writes one)");
  // Unknown ones stay as they are; nothing is fetched.
  EXPECT_EQ(refusal("<!DOCTYPE topology SYSTEM \"file:///etc/passwd\">"
                    "<topology version=\"3.0\"><object type=\"&x;\"/></topology>"),
            "read as hwloc XML 3.0");
}

TEST(HostileFiles, SizeElementsAndDepthAreBounded) {
  EXPECT_EQ(refusal("<" + std::string(kMaxTopologyBytes, 'a')),
            "f: more than 8MiB of text (give the file of one machine)");
  EXPECT_EQ(refusal("GPU0\n" + std::string(kMaxTopologyBytes, ' ')),
            "f: more than 8MiB of text (give the output of nvidia-smi topo -m)");
  std::string many = "<system version=\"1\">";
  for (std::size_t i = 0; i < 2 * kMaxXmlElements; ++i) many += "<a/>";
  EXPECT_EQ(refusal(many + "</system>"),
            "f: more than 200000 elements (give the file of one machine)");
  std::string deep, back;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<object>";
    back += "</object>";
  }
  EXPECT_EQ(refusal("<topology version=\"3.0\">" + deep + back + "</topology>"),
            "line 1, column 1042: f: elements nested more than 128 deep (give a file that a "
            "topology tool has written)");
}

TEST(HostileFiles, DevicesAreBounded) {
  std::string many = "<system version=\"1\"><cpu numaid=\"0\">";
  for (int i = 0; i <= 1024; ++i) many += "<nic/>";
  EXPECT_EQ(refusal(many + "</cpu></system>"),
            "f: more than 1024 devices (give the file of one machine)");
  std::string nodes = "<topology version=\"3.0\">";
  for (int i = 0; i <= 1024; ++i)
    nodes += "<object type=\"NUMANode\" os_index=\"" + std::to_string(i) + "\"/>";
  EXPECT_TRUE(refusal(nodes + "</topology>")
                  .ends_with("f: more than 1024 NUMA nodes (give the file of one machine)"));
  std::string wide;
  for (int i = 0; i <= 1024; ++i) wide += " GPU" + std::to_string(i);
  EXPECT_EQ(refusal(wide),
            "line 1: f: more than 1024 devices (give the output of nvidia-smi topo -m)");
}

TEST(HostileFiles, TextIsUtf8WithoutZeros) {
  EXPECT_EQ(refusal("<system>\n\xff</system>"),
            "line 2, column 1: f: the text is not UTF-8 (convert it, such as with iconv -t UTF-8)");
  EXPECT_EQ(refusal(std::string("<system>\0</system>", 18)),
            "f: the text has a zero byte (export the file again)");
  EXPECT_EQ(refusal("GPU0 \xff\n"),
            "f: the text is not UTF-8 (convert it, such as with iconv -t UTF-8)");
}

TEST(DamagedFiles, TwoRootsAreRefused) {
  EXPECT_EQ(refusal("<system version=\"1\"><cpu numaid=\"0\"/></system>\n<system/>"),
            "line 2, column 2: f: a second root element (export the file again)");
}

// --- hwloc ---

TEST(HwlocMistakes, SayWhereAndWhy) {
  const auto box = topology_bytes("hwloc2-pcie-box.xml");
  const std::string again = " (export the file again)";
  EXPECT_EQ(refusal(replaced(box,
                             "os_index=\"1\" cpuset=\"0x000000f0\" nodeset=\"0x00000002\" "
                             "gp_index=\"5\"",
                             "os_index=\"0\" gp_index=\"5\"")),
            "f: NUMA node 0 is given twice (export the file again; each stands for one thing)");
  EXPECT_EQ(refusal(replaced(box, "type=\"NUMANode\" os_index=\"0\"", "type=\"NUMANode\"")),
            "line 7, column 8: f: <object> has no os_index" + again);
  EXPECT_EQ(refusal(replaced(box, "local_memory=\"137438953472\"", "local_memory=\"-1\"")),
            "line 7, column 8: f: local_memory=\"-1\" of <object> is not a whole number (write one "
            "from 0 to 9223372036854775807)");
  EXPECT_EQ(refusal(replaced(box, "nodeset=\"0x00000001\"", "nodeset=\"0xg\"")),
            "line 6, column 6: f: nodeset=\"0xg\" is not a mask: it has a word that is not 1 to 8 "
            "hexadecimal digits" +
                again);
  EXPECT_EQ(refusal(replaced(box, "pci_busid=\"0000:19:00.0\"", "pci_busid=\"19:00.0\"")),
            "line 12, column 16: f: \"19:00.0\" is not a PCI address (write "
            "DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, such as 0000:3b:00.0)");
  EXPECT_EQ(refusal(replaced(box, "pci_busid=\"0000:98:00.0\"", "pci_busid=\"0000:19:00.0\"")),
            "f: the PCI address 0000:19:00.0 is given twice (export the file again; each stands "
            "for one thing)");
  EXPECT_EQ(refusal(replaced(box, "nvml1", "nvml0")),
            "f: gpu number 0 is given twice (export the file again; each stands for one thing)");
  EXPECT_EQ(
      refusal(replaced(box, "pci_type=\"0302 [10de:20f1] [10de:145f] a1\"", "pci_type=\"0302\"")),
      "line 12, column 16: f: pci_type=\"0302\" is not CLASS [VENDOR:DEVICE] …" + again);
  EXPECT_EQ(refusal(replaced(box, "bridge_type=\"0-1\"", "")),
            "line 8, column 8: f: <object> has no bridge_type" + again);
  EXPECT_EQ(
      refusal(replaced(box, "value=\"41409472\"", "value=\"lots\"")),
      "line 15, column 18: f: \"lots\" is not an amount of memory: it must begin with a digit "
      "0-9 (use k M G T P E, or Ki Mi Gi Ti Pi Ei)");
}

TEST(HwlocMistakes, BandwidthsMustFitTheirObjects) {
  const auto box = topology_bytes("hwloc2-pcie-box.xml");
  const auto at = [](const std::string& what) {
    return "line 59, column 4: f: NVLinkBandwidth " + what + " (export the file again)";
  };
  EXPECT_EQ(refusal(replaced(box, ">31 36 <", ">31 99 <")),
            at("names \"99\", which is no device or processor here"));
  EXPECT_EQ(refusal(replaced(box, ">31 36 <", ">31 <")), at("has 1 objects, 2 are needed"));
  EXPECT_EQ(refusal(replaced(box, "300000 300000 ", "300000 ")), at("has 3 values, 4 are needed"));
  EXPECT_EQ(refusal(replaced(box, "300000 300000 ", "300000 -1 ")),
            at("has the value \"-1\", which is no bandwidth in MB/s"));
  EXPECT_EQ(refusal(replaced(box, "indexing=\"gp\"", "indexing=\"os\"")),
            at("counts its objects otherwise than by gp_index"));
  EXPECT_EQ(refusal(replaced(box, "nbobjs=\"2\"", "nbobjs=\"9999\"")),
            "line 59, column 4: f: nbobjs=\"9999\" of <distances2> is not a whole number (write "
            "one from 1 to 1024)");
}

// --- NCCL ---

std::string nccl(const std::string& inside) {
  return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + inside + "</cpu>\n</system>";
}
std::string gpu(const std::string& address, const std::string& inside) {
  return "<pci busid=\"" + address + "\" class=\"0x030200\"><gpu>" + inside + "</gpu></pci>\n";
}

TEST(NcclMistakes, SayWhereAndWhy) {
  EXPECT_EQ(refusal("<system version=\"1\"><cpu/></system>"),
            "line 1, column 22: f: <cpu> has no numaid (export the file again)");
  EXPECT_EQ(refusal("<system version=\"1\"><cpu numaid=\"0\"/><cpu numaid=\"0\"/></system>"),
            "f: NUMA node 0 is given twice (export the file again; each stands for one thing)");
  EXPECT_EQ(refusal("<system version=\"1\"><cpu numaid=\"0\" affinity=\"f-f\"/></system>"),
            "line 1, column 22: f: affinity=\"f-f\" is not a mask: it has a word that is not 1 to "
            "8 hexadecimal digits (write 32-bit words in hexadecimal, the highest first, such as "
            "000000ff,ffff0000)");
  EXPECT_EQ(refusal("<system version=\"1\">"
                    "<cpu host_hash=\"0x1\" numaid=\"0\"/><cpu host_hash=\"0x2\" numaid=\"0\"/>"
                    "</system>"),
            "line 1, column 55: f: the file is of several machines (host_hash differs) (give one "
            "file for each machine)");
  EXPECT_EQ(refusal(nccl("<pci/>")),
            "line 3, column 2: f: <pci> has no busid (export the file again)");
  EXPECT_EQ(refusal(nccl("<pci busid=\"0:0:0.0\"/>")),
            "line 3, column 2: f: \"0:0:0.0\" is not a PCI address (write "
            "DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, such as 0000:3b:00.0)");
  EXPECT_EQ(refusal(nccl("<pci busid=\"0000:01:00.0\" class=\"0x030200\">"
                         "<pci busid=\"0000:02:00.0\"/></pci>")),
            "line 3, column 2: f: the gpu at 0000:01:00.0 has other PCI devices below it (put "
            "those beside it: only a switch has any)");
}

TEST(NcclMistakes, LinksMustAgree) {
  const std::string link = "<nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/>";
  const std::string back = "<nvlink target=\"0000:01:00.0\" count=\"3\" tclass=\"0x030200\"/>";
  EXPECT_EQ(refusal(nccl(gpu("0000:01:00.0", link) + gpu("0000:02:00.0", back))),
            "line 3, column 50: f: the GPU at 0000:01:00.0 has 2 links to 0000:02:00.0, and that "
            "one 3 back (export the file again)");
  EXPECT_EQ(refusal(nccl(gpu("0000:01:00.0", "<nvlink count=\"2\"/>"))),
            "line 3, column 50: f: <nvlink> has no target (export the file again)");
  EXPECT_EQ(refusal(nccl(gpu("0000:01:00.0", "<nvlink target=\"0000:02:00.0\" count=\"0\"/>"))),
            "line 3, column 50: f: count=\"0\" of <nvlink> is not a whole number (write one from 1 "
            "to 1024)");
}

// --- nvidia-smi topo -m ---

TEST(NvidiaTopoMistakes, SayWhereAndWhy) {
  const std::string give = " (give the output of nvidia-smi topo -m)";
  const std::string words =
      " (give the output of nvidia-smi topo -m, whose paths are X, NV#, PIX, PXB, PHB, NODE, SYS)";
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n"),
            "line 2: f: \"OK\" from \"GPU0\" to \"GPU1\" is no path" + words);
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU0 PIX PIX\nGPU1 PIX X\n"),
            "line 2: f: \"PIX\" from \"GPU0\" to \"GPU0\" is no path" + words);
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU0 X NV0\nGPU1 NV0 X\n"),
            "line 2: f: \"NV0\" from \"GPU0\" to \"GPU1\" is no path" + words);
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU0 X PIX\nGPU1 PHB X\n"),
            "line 3: f: \"GPU0\" to \"GPU1\" is PIX, the way back is PHB (run nvidia-smi topo -m "
            "again)");
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU0 X\n"),
            "line 2: f: the row of \"GPU0\" has 1 paths, 2 are needed" + give);
  EXPECT_EQ(refusal(" GPU0 GPU1\nGPU1 PIX X\n"),
            "line 2: f: the row of \"GPU0\" is expected, not \"GPU1\"" + give);
  EXPECT_EQ(refusal(" GPU0\nGPU0 X 0-3\n"),
            "line 2: f: the row of \"GPU0\" has more words than there are columns" + give);
  EXPECT_EQ(refusal(" GPU0 CPU Affinity\nGPU0 X 0-a\n"),
            "line 2: f: CPU Affinity \"0-a\" of \"GPU0\" is not a list of processors: it is not a "
            "list of numbers" +
                give);
  EXPECT_EQ(refusal(" GPU0 CPU Affinity NUMA Affinity\nGPU0 X 0-3 x\n"),
            "line 2: f: NUMA Affinity \"x\" of \"GPU0\" is not a list of NUMA nodes: it is not a "
            "list of numbers" +
                give);
  EXPECT_EQ(refusal(" GPU0 GPU0\nGPU0 X PIX\nGPU0 PIX X\n"),
            "f: gpu number 0 is given twice (export the file again; each stands for one thing)");
}

}  // namespace
}  // namespace gridfold
