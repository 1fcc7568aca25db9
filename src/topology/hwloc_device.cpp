#include "topology/hwloc_device.h"

#include <array>
#include <charconv>

#include "base/quote.h"
#include "base/units.h"
#include "topology/pci_address.h"

namespace gridfold {
namespace {

constexpr std::string_view kNvidia = "10de";

// hwloc 2 counts the kinds of operating-system devices up (hwloc.h,
// hwloc_obj_osdev_type_e), hwloc 3 has one bit for each.
bool is_osdev_kind(std::int64_t type, HwlocVersion version, std::int64_t two, std::int64_t three) {
  return version == HwlocVersion::kTwo ? type == two : (type & three) != 0;
}
bool is_coprocessor(std::int64_t type, HwlocVersion version) {
  return is_osdev_kind(type, version, 5, 8);
}
bool is_network(std::int64_t type, HwlocVersion version) {
  return is_osdev_kind(type, version, 2, 16);
}
bool is_openfabrics(std::int64_t type, HwlocVersion version) {
  return is_osdev_kind(type, version, 3, 32);
}

// Libraries that count GPUs, the one whose number we take first: "nvml3" is 3.
constexpr std::array<std::string_view, 3> kGpuLibraries = {"nvml", "rsmi", "cuda"};

Known<std::int32_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return Unknown{};
  name.remove_prefix(prefix.size());
  std::int32_t number = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (fault != std::errc() || end != name.data() + name.size() || number < 0) return Unknown{};
  return number;
}

struct OsDevice {
  std::string_view name;
  std::int64_t type = 0;
  pugi::xml_node object;
};

Result<std::vector<OsDevice>> os_devices(const XmlFile& file, pugi::xml_node object) {
  std::vector<OsDevice> found;
  for (const auto child : object.children("object")) {
    if (std::string_view(child.attribute("type").value()) != "OSDev") continue;
    const auto type = file.number(child, "osdev_type", 0, 1 << 20);
    if (!type) return type.error();
    found.push_back({child.attribute("name").value(), type->is_known() ? type->value() : 0, child});
  }
  return found;
}

bool counts_gpus(const OsDevice& device) {
  for (const auto library : kGpuLibraries)
    if (number_after(device.name, library).is_known()) return true;
  return false;
}

// "0302 [10de:1db8] [10de:131d] a1 00".
struct PciType {
  std::string_view device_class;  // "0302"
  std::string_view id;            // "10de:1db8"
};

Result<PciType> pci_type(const XmlFile& file, pugi::xml_node object) {
  const auto text = file.text(object, "pci_type");
  if (!text) return text.error();
  if (text->size() < 16 || (*text)[4] != ' ' || (*text)[5] != '[' || (*text)[15] != ']')
    return file.error_at(object, "pci_type=" + quote(*text) + " is not CLASS [VENDOR:DEVICE] …",
                         "export the file again");
  return PciType{text->substr(0, 4), text->substr(6, 9)};
}

// A display of class 0300 is a GPU to us when it is NVIDIA's or a library
// counts it, since servers have one that only shows a console.
std::optional<MachineDeviceKind> kind_of(pugi::xml_node object, const PciType& type,
                                         const std::vector<OsDevice>& os, HwlocVersion version) {
  const auto any = [&](auto predicate) {
    for (const auto& device : os)
      if (predicate(device)) return true;
    return false;
  };
  if (std::string_view(object.attribute("subtype").value()) == "NVSwitch")
    return MachineDeviceKind::kNvSwitch;
  if (any(counts_gpus) || type.device_class == "0302" || type.device_class == "0380" ||
      (type.device_class == "0300" && type.id.starts_with(kNvidia)))
    return MachineDeviceKind::kGpu;
  const bool computes =
      any([&](const OsDevice& device) { return is_coprocessor(device.type, version); });
  if (type.device_class.starts_with("03")) {
    if (computes) return MachineDeviceKind::kGpu;
    return std::nullopt;
  }
  if (computes || type.device_class == "0b40" || type.device_class == "1200")
    return MachineDeviceKind::kAccelerator;
  if (type.device_class.starts_with("02")) return MachineDeviceKind::kNic;
  return std::nullopt;
}

// "16671616KiB", of which hwloc 2 leaves out the unit.
Result<Bytes> memory_of(const XmlFile& file, pugi::xml_node object, std::string_view text) {
  const bool bare = text.find_first_not_of("0123456789") == text.npos;
  auto memory = parse_bytes(std::string(text) + (bare ? "KiB" : ""));
  if (!memory) return file.placed(memory.error(), object);
  return *memory;
}

Result<void> describe_gpu(const XmlFile& file, const std::vector<OsDevice>& os,
                          MachineDevice& device) {
  for (const auto library : kGpuLibraries)
    for (const auto& named : os) {
      if (device.number.is_known()) break;
      device.number = number_after(named.name, library);
      if (device.number.is_known()) device.name = named.name;
    }
  for (const auto& named : os) {
    if (const auto model = hwloc_info(named.object, "GPUModel"); !model.empty())
      device.model = model;
    for (const auto key : {"NVIDIAUUID", "AMDUUID", "LevelZeroUUID"})
      if (const auto uid = hwloc_info(named.object, key); !uid.empty()) device.uid = uid;
    for (const auto key : {"NVMLMemorySize", "CUDAGlobalMemorySize", "RSMIVRAMSize"}) {
      const auto text = hwloc_info(named.object, key);
      if (text.empty() || device.memory.is_known()) continue;
      const auto memory = memory_of(file, named.object, text);
      if (!memory) return memory.error();
      device.memory = *memory;
    }
  }
  return {};
}

// The name by which RDMA programs know a card goes before the network's.
void name_nic(const std::vector<OsDevice>& os, HwlocVersion version, MachineDevice& device) {
  for (const auto& named : os)
    if (is_network(named.type, version) && device.name.empty()) device.name = named.name;
  for (const auto& named : os)
    if (is_openfabrics(named.type, version)) {
      device.name = named.name;
      return;
    }
}

}  // namespace

std::string_view hwloc_info(pugi::xml_node object, std::string_view name) {
  for (const auto info : object.children("info"))
    if (name == info.attribute("name").value()) return info.attribute("value").value();
  return {};
}

Result<std::optional<MachineDevice>> hwloc_device(const XmlFile& file, pugi::xml_node object,
                                                  HwlocVersion version) {
  const auto type = pci_type(file, object);
  if (!type) return type.error();
  const auto os = os_devices(file, object);
  if (!os) return os.error();
  const auto kind = kind_of(object, *type, *os, version);
  if (!kind) return std::optional<MachineDevice>();
  const auto written = file.text(object, "pci_busid");
  if (!written) return written.error();
  auto address = parse_pci_address(*written);
  if (!address) return file.placed(address.error(), object);

  MachineDevice device;
  device.kind = *kind;
  device.pci_address = std::move(*address);
  if (type->id != "0000:0000") device.pci_id = type->id;  // which is read from no device
  device.model = hwloc_info(object, "PCIDevice");
  if (*kind == MachineDeviceKind::kGpu) {
    if (auto described = describe_gpu(file, *os, device); !described) return described.error();
  } else if (*kind == MachineDeviceKind::kNic) {
    name_nic(*os, version, device);
  } else if (!os->empty()) {
    device.name = os->front().name;
  }
  return std::optional<MachineDevice>(std::move(device));
}

}  // namespace gridfold
