// What lies inside one machine and how its parts are joined: NUMA nodes, PCIe
// switches, devices, NVLinks. A neutral value that the readers of topology files
// (machine_topology_file.h) make; what a file does not say is unknown, never zero.
//
//   auto machine = read_machine_topology("dgx.xml", bytes);
//   DevicePaths paths(*machine);                        // device_paths.h
//   paths.between(0, 1)                                 // NV12
//   gpu_localities(*machine)[0].island                  // device_locality.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "topology/cpu_set.h"

namespace gridfold {

// GPUs, network cards and the rest of one machine.
inline constexpr std::size_t kMaxMachineDevices = 1024;
inline constexpr std::size_t kMaxMachineLinks = 65'536;
inline constexpr std::size_t kMaxNumaDomains = 1024;

// How two devices are joined, the nearest first: nvidia-smi's words.
enum class PathKind : std::uint8_t {
  kSelf,
  kNvlink,  // NVLinks, or another vendor's links between devices; direct or through switches
  kPix,     // at most one PCIe switch
  kPxb,     // several PCIe switches, no host bridge
  kPhb,     // a host bridge
  kNode,    // several host bridges of one NUMA node
  kSys,     // from one NUMA node to another
  kUnknown,
};

struct DevicePath {
  PathKind kind = PathKind::kUnknown;
  Known<std::int32_t> links;       // kNvlink: how many
  Known<BitsPerSecond> bandwidth;  // kNvlink: of all of them, each way
  friend bool operator==(const DevicePath&, const DevicePath&) = default;
};
std::string to_text(const DevicePath& path);  // "NV12", "NV", "PIX", …, "X", "?"

enum class MachineDeviceKind : std::uint8_t {
  kGpu,
  kAccelerator,  // of another kind
  kNic,
  kNvSwitch,
  kUnknown,  // a PCI device of which the file does not say what it is
};
std::string_view to_string(MachineDeviceKind kind);  // "gpu", "accelerator", "nic", …

struct MachineDevice {
  MachineDeviceKind kind = MachineDeviceKind::kUnknown;
  Known<std::int32_t> number;  // as the driver counts devices of this kind
  std::string name;            // the operating system's or the driver's: "mlx5_0"; or empty
  std::string model;           // or empty
  std::string uid;             // the vendor's, or empty
  std::string pci_id;          // "10de:20b0", vendor and device; or empty
  std::string pci_address;     // "0000:3b:00.0", or empty
  Known<Bytes> memory;
  Known<std::int32_t> numa;         // the operating system's number
  Known<std::int32_t> host_bridge;  // counts from 0
  // Index of the nearest switch above. When this is unknown and host_bridge is
  // known, there is none.
  Known<std::int32_t> pcie_switch;
  friend bool operator==(const MachineDevice&, const MachineDevice&) = default;
};

struct NumaDomain {
  std::int32_t number = 0;  // the operating system's
  Known<CpuSet> cpus;
  Known<Bytes> memory;
  friend bool operator==(const NumaDomain&, const NumaDomain&) = default;
};

// A place where PCIe paths part: usually a switch chip, of which each cascaded
// stage is one.
struct PcieSwitch {
  std::string pci_address;
  std::int32_t parent = -1;  // index of the switch above, -1: a host bridge
  Known<std::int32_t> numa;
  friend bool operator==(const PcieSwitch&, const PcieSwitch&) = default;
};

// NVLinks (or another vendor's) between two devices.
struct MachineLink {
  static constexpr std::int32_t kHost = -1;         // the other end is a processor
  static constexpr std::int32_t kUnknownPeer = -2;  // the file does not say to what

  std::int32_t a = 0;  // index of a device
  std::int32_t b = 0;  // index of a device, kHost or kUnknownPeer
  Known<std::int32_t> count;
  Known<BitsPerSecond> bandwidth;  // of all `count`, each way
  friend bool operator==(const MachineLink&, const MachineLink&) = default;
};

struct MachineTopology {
  std::string name;              // of the file
  std::string format;            // "hwloc XML 2.0", "NCCL XML 1", "nvidia-smi topo -m"
  std::vector<NumaDomain> numa;  // ascending by number
  std::vector<PcieSwitch> switches;
  // By kind, then by the driver's number where it is known, then by PCI address:
  // GPU i is devices[i].
  std::vector<MachineDevice> devices;
  std::vector<MachineLink> links;
  // The file tells of NVLinks: where there is no link, there is none.
  bool links_told = false;
  // Row after row for all devices, where the file says the paths themselves;
  // else empty, and they follow from the switches and links.
  std::vector<DevicePath> told_paths;

  // Indices of devices; they are consecutive.
  std::size_t count(MachineDeviceKind kind) const;
  friend bool operator==(const MachineTopology&, const MachineTopology&) = default;
};

// What every reader does last: brings devices and NUMA nodes into their order
// (links and told_paths follow), and refuses what cannot be: two devices with
// one PCI address or one number, two NUMA nodes with one number (kInvalid), more
// devices, links or NUMA nodes than allowed (kLimit).
Result<MachineTopology> finish_topology(MachineTopology topology);

}  // namespace gridfold
