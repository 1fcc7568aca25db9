#include "topology/nccl_xml.h"

#include <set>

#include "base/quote.h"
#include "topology/nccl_links.h"
#include "topology/pci_address.h"
#include "topology/xml_file.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMaxGpuNumber = 65'535;

// What an element inherits from those around it.
struct Place {
  Known<std::int32_t> numa;
  std::int32_t cpu = 0;           // counts the <cpu> elements from 0
  std::int32_t pcie_switch = -1;  // -1: none
};

// "0x030200" is a GPU (NCCL's own test is on "0x03" and "0x02").
MachineDeviceKind kind_of(std::string_view device_class, pugi::xml_node pci) {
  if (pci.child("gpu") || device_class.starts_with("0x03")) return MachineDeviceKind::kGpu;
  if (pci.child("nic") || device_class.starts_with("0x02")) return MachineDeviceKind::kNic;
  if (device_class == "0x068000") return MachineDeviceKind::kNvSwitch;
  if (device_class.starts_with("0x12") || device_class.starts_with("0x0b40"))
    return MachineDeviceKind::kAccelerator;
  return MachineDeviceKind::kUnknown;
}

// "0x10de" and "0x20b0" make "10de:20b0".
std::string pci_id_of(pugi::xml_node pci) {
  std::string_view vendor = pci.attribute("vendor").value();
  std::string_view device = pci.attribute("device").value();
  if (vendor.size() != 6 || device.size() != 6) return {};
  return std::string(vendor.substr(2)) + ":" + std::string(device.substr(2));
}

class NcclReader {
 public:
  explicit NcclReader(const XmlFile& file) : file_(file) {}

  Result<MachineTopology> read() {
    topology_.name = file_.name();
    topology_.format = std::string("NCCL XML ") + file_.root().attribute("version").value();
    for (const auto cpu : file_.root().children("cpu"))
      if (auto read = read_cpu(cpu); !read) return read.error();
    // A dump lists each GPU's links; a static file without <gpu> leaves them to
    // the driver.
    topology_.links_told = !gpus_.empty();
    if (auto added = add_nccl_links(file_, gpus_, topology_); !added) return added.error();
    auto finished = finish_topology(std::move(topology_));
    if (!finished) return finished.error().with_context(file_.name());
    return finished;
  }

 private:
  Result<void> read_cpu(pugi::xml_node cpu) {
    Place place;
    place.cpu = cpus_++;
    if (const auto host = cpu.attribute("host_hash")) hosts_.insert(host.value());
    if (hosts_.size() > 1)
      return file_.error_at(cpu, "the file is of several machines (host_hash differs)",
                            "give one file for each machine");
    const auto number = file_.required_number(cpu, "numaid", -1, kMaxCpuNumber - 1);
    if (!number) return number.error();
    if (*number >= 0) {
      place.numa = static_cast<std::int32_t>(*number);
      if (auto read = read_numa(cpu, place.numa.value()); !read) return read.error();
    }
    return read_children(cpu, place);
  }

  Result<void> read_numa(pugi::xml_node cpu, std::int32_t number) {
    NumaDomain numa;
    numa.number = number;
    if (const auto affinity = cpu.attribute("affinity")) {
      auto cpus = CpuSet::from_mask(affinity.value());
      if (!cpus)
        return file_.error_at(
            cpu, "affinity=" + quote(affinity.value()) + " is not a mask: " + cpus.error().message,
            "write 32-bit words in hexadecimal, the highest first, such as 000000ff,ffff0000");
      numa.cpus = std::move(*cpus);
    }
    topology_.numa.push_back(std::move(numa));
    return {};
  }

  Result<void> read_children(pugi::xml_node parent, const Place& place) {
    for (const auto child : parent.children()) {
      const std::string_view name = child.name();
      Result<void> read;
      if (name == "pci") read = read_pci(child, place);
      // A card without a PCI address: a virtual one.
      if (name == "nic" && std::string_view(parent.name()) == "cpu") read = read_nic(child, place);
      if (!read) return read.error();
    }
    return {};
  }

  Result<void> read_pci(pugi::xml_node pci, Place place) {
    const auto written = file_.text(pci, "busid");
    if (!written) return written.error();
    auto address = parse_pci_address(*written);
    if (!address) return file_.placed(address.error(), pci);
    const std::string_view device_class = pci.attribute("class").value();
    if (!pci.child("pci") && !device_class.starts_with("0x0604"))
      return read_device(pci, std::move(*address), place);
    if (kind_of(device_class, pci) != MachineDeviceKind::kUnknown)
      return file_.error_at(pci,
                            "the " + std::string(to_string(kind_of(device_class, pci))) + " at " +
                                *address + " has other PCI devices below it",
                            "put those beside it: only a switch has any");
    topology_.switches.push_back({std::move(*address), place.pcie_switch, place.numa});
    place.pcie_switch = static_cast<std::int32_t>(topology_.switches.size()) - 1;
    return read_children(pci, place);
  }

  MachineDevice device_at(const Place& place) const {
    MachineDevice device;
    device.numa = place.numa;
    device.host_bridge = place.cpu;
    if (place.pcie_switch >= 0) device.pcie_switch = place.pcie_switch;
    return device;
  }

  Result<void> read_device(pugi::xml_node pci, std::string address, const Place& place) {
    auto device = device_at(place);
    device.kind = kind_of(pci.attribute("class").value(), pci);
    device.pci_address = std::move(address);
    device.pci_id = pci_id_of(pci);
    device.name = pci.child("nic").child("net").attribute("name").value();
    if (const auto gpu = pci.child("gpu")) {
      const auto number = file_.number(gpu, "dev", 0, kMaxGpuNumber);
      if (!number) return number.error();
      if (number->is_known()) device.number = static_cast<std::int32_t>(number->value());
      gpus_.push_back({gpu, static_cast<std::int32_t>(topology_.devices.size())});
    }
    topology_.devices.push_back(std::move(device));
    return {};
  }

  Result<void> read_nic(pugi::xml_node nic, const Place& place) {
    auto device = device_at(place);
    device.kind = MachineDeviceKind::kNic;
    device.name = nic.child("net").attribute("name").value();
    topology_.devices.push_back(std::move(device));
    return {};
  }

  const XmlFile& file_;
  MachineTopology topology_;
  std::vector<NcclGpu> gpus_;
  std::set<std::string_view> hosts_;
  std::int32_t cpus_ = 0;
};

}  // namespace

Result<MachineTopology> read_nccl_xml(const XmlFile& file) {
  const auto root = file.root();
  const std::string_view version = root.attribute("version").value();
  if (version != "1")
    return file.error_at(root,
                         "NCCL topology of version " + quote(version) + ", which is not known",
                         "give one of version 1");
  if (!root.child("cpu"))
    return file.error_at(root, "NCCL topology without a <cpu>",
                         "export it with NCCL_TOPO_DUMP_FILE");
  return NcclReader(file).read();
}

}  // namespace gridfold
