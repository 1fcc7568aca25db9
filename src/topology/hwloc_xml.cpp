#include "topology/hwloc_xml.h"

#include <map>
#include <set>

#include "base/quote.h"
#include "topology/hwloc_device.h"
#include "topology/hwloc_links.h"
#include "topology/pci_address.h"

namespace gridfold {
namespace {

std::string_view type_of(pugi::xml_node object) { return object.attribute("type").value(); }

// What an object inherits from those around it.
struct Place {
  Known<std::int32_t> numa;
  Known<std::int32_t> host_bridge;
  std::int32_t pcie_switch = -1;  // -1: none
};

class HwlocReader {
 public:
  HwlocReader(const XmlFile& file, HwlocVersion version) : file_(file), version_(version) {}

  Result<MachineTopology> read() {
    topology_.name = file_.name();
    topology_.format = std::string("hwloc XML ") + file_.root().attribute("version").value();
    if (auto read = read_numa(file_.root()); !read) return read.error();
    number_numa_places();
    if (auto read = read_objects(file_.root(), {}); !read) return read.error();
    auto links = hwloc_links(file_, objects_);
    if (!links) return links.error();
    topology_.links = std::move(links->links);
    topology_.links_told = links->told;
    auto finished = finish_topology(std::move(topology_));
    if (!finished) return finished.error().with_context(file_.name());
    return finished;
  }

 private:
  // NUMA nodes lie anywhere among the processors' objects, at times below a
  // memory cache; depth is bounded by XmlFile.
  Result<void> read_numa(pugi::xml_node parent) {
    for (const auto object : parent.children("object")) {
      if (type_of(object) == "NUMANode")
        if (auto read = read_numa_node(object); !read) return read.error();
      if (auto read = read_numa(object); !read) return read.error();
    }
    return {};
  }

  Result<void> read_numa_node(pugi::xml_node object) {
    if (topology_.numa.size() == kMaxNumaDomains) {
      auto error =
          file_.error_at(object, "more than " + std::to_string(kMaxNumaDomains) + " NUMA nodes",
                         "give the file of one machine");
      error.kind = ErrorKind::kLimit;
      return error;
    }
    NumaDomain numa;
    const auto number = file_.required_number(object, "os_index", 0, kMaxCpuNumber - 1);
    if (!number) return number.error();
    numa.number = static_cast<std::int32_t>(*number);
    const auto cpus = mask(object, "cpuset");
    if (!cpus) return cpus.error();
    numa.cpus = *cpus;
    const auto memory = file_.number(object, "local_memory", 0, INT64_MAX);
    if (!memory) return memory.error();
    if (memory->is_known()) numa.memory = Bytes(memory->value());
    topology_.numa.push_back(std::move(numa));
    return {};
  }

  Result<Known<CpuSet>> mask(pugi::xml_node object, const char* attribute) const {
    const auto found = object.attribute(attribute);
    if (!found) return Known<CpuSet>();
    auto set = CpuSet::from_mask(found.value());
    if (!set)
      return file_.error_at(object,
                            std::string(attribute) + "=" + quote(found.value()) +
                                " is not a mask: " + set.error().message,
                            "export the file again");
    return Known<CpuSet>(std::move(*set));
  }

  Result<void> read_objects(pugi::xml_node parent, const Place& place) {
    for (const auto object : parent.children("object"))
      if (auto read = read_object(object, place); !read) return read.error();
    return {};
  }

  Result<void> read_object(pugi::xml_node object, Place place) {
    const auto type = type_of(object);
    if (type == "PCIDev") return read_pci_device(object, place);
    if (type == "Bridge") {
      if (auto read = enter_bridge(object, place); !read) return read.error();
    } else {
      if (auto read = enter_processors(object, place); !read) return read.error();
    }
    return read_objects(object, place);
  }

  // A package, a group, a cache, …: what hangs below it is near its NUMA node.
  Result<void> enter_processors(pugi::xml_node object, Place& place) {
    const auto nodes = mask(object, "nodeset");
    if (!nodes) return nodes.error();
    if (nodes->is_known()) place.numa = only_numa(nodes->value());
    return remember(object, MachineLink::kHost);
  }

  // Nodes of the same processors (HBM beside DRAM) are one place, named by the
  // lowest; of several places none is the one.
  Known<std::int32_t> only_numa(const CpuSet& nodes) const {
    Known<std::int32_t> lowest;
    std::size_t place = 0;
    for (std::size_t i = 0; i < topology_.numa.size(); ++i) {
      const auto number = topology_.numa[i].number;
      if (!nodes.contains(number)) continue;
      if (lowest.is_known() && numa_places_[i] != place) return Unknown{};
      place = numa_places_[i];
      if (!lowest.is_known() || number < lowest.value()) lowest = number;
    }
    return lowest;
  }

  void number_numa_places() {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < topology_.numa.size(); ++i) {
      const auto& cpus = topology_.numa[i].cpus;
      numa_places_.push_back(
          cpus.is_known() ? places.emplace(cpus.value().to_text(), i).first->second : i);
    }
  }

  Result<void> enter_bridge(pugi::xml_node object, Place& place) {
    const auto kind = file_.text(object, "bridge_type");  // "0-1": from the host to PCI
    if (!kind) return kind.error();
    if (kind->starts_with('0')) {
      place.host_bridge = host_bridges_++;
      place.pcie_switch = -1;
      return {};
    }
    const auto written = file_.text(object, "pci_busid");
    if (!written) return written.error();
    auto address = parse_pci_address(*written);
    if (!address) return file_.placed(address.error(), object);
    if (!parts_here(object)) return {};
    topology_.switches.push_back({std::move(*address), place.pcie_switch, place.numa});
    place.pcie_switch = static_cast<std::int32_t>(topology_.switches.size()) - 1;
    return {};
  }

  // The upstream port of a switch has several ports below; a root port and a
  // downstream port lead to one place only. Functions of one device are one.
  static bool parts_here(pugi::xml_node bridge) {
    std::set<std::string_view> slots;
    for (const auto child : bridge.children("object"))
      if (const auto address = child.attribute("pci_busid"))
        slots.insert(pci_slot(address.value()));
    return slots.size() > 1;
  }

  Result<void> read_pci_device(pugi::xml_node object, const Place& place) {
    auto device = hwloc_device(file_, object, version_);
    if (!device) return device.error();
    if (!*device) return {};
    (*device)->numa = place.numa;
    (*device)->host_bridge = place.host_bridge;
    if (place.pcie_switch >= 0) (*device)->pcie_switch = place.pcie_switch;
    const auto index = static_cast<std::int32_t>(topology_.devices.size());
    topology_.devices.push_back(std::move(**device));
    if (auto read = remember(object, index); !read) return read.error();
    for (const auto child : object.children("object"))
      if (auto read = remember(child, index); !read) return read.error();
    return {};
  }

  Result<void> remember(pugi::xml_node object, std::int32_t device) {
    const auto number = file_.number(object, "gp_index", 0, INT64_MAX);
    if (!number) return number.error();
    if (number->is_known()) objects_.emplace(number->value(), device);
    return {};
  }

  const XmlFile& file_;
  HwlocVersion version_;
  MachineTopology topology_;
  std::vector<std::size_t> numa_places_;  // indexed like topology_.numa
  HwlocObjects objects_;
  std::int32_t host_bridges_ = 0;
};

}  // namespace

Result<MachineTopology> read_hwloc_xml(const XmlFile& file) {
  const auto root = file.root();
  const std::string_view version = root.attribute("version").value();
  if (version.empty())
    return file.error_at(root, "hwloc XML of version 1, which is not read",
                         "export it with lstopo of hwloc 2 or later");
  if (!version.starts_with("2.") && !version.starts_with("3."))
    return file.error_at(root, "hwloc XML of version " + quote(version) + ", which is not known",
                         "export version 2 or 3");
  if (!root.child("object"))
    return file.error_at(root, "hwloc XML without an object", "export the file again");
  return HwlocReader(file, version.starts_with('2') ? HwlocVersion::kTwo : HwlocVersion::kThree)
      .read();
}

}  // namespace gridfold
