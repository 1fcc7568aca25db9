#include "topology/nccl_links.h"

#include "base/quote.h"
#include "topology/pci_address.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMostLinks = 1024;  // between two devices

class LinkReader {
 public:
  LinkReader(const XmlFile& file, MachineTopology& topology) : file_(file), topology_(topology) {
    for (std::size_t i = 0; i < topology.devices.size(); ++i)
      if (const auto& address = topology.devices[i].pci_address; !address.empty())
        by_address_.emplace(address, static_cast<std::int32_t>(i));
  }

  Result<void> read(const NcclGpu& gpu) {
    for (const auto child : gpu.element.children()) {
      const std::string_view name = child.name();
      Result<void> read;
      if (name == "nvlink" || name == "xgmi") read = read_link(child, gpu.device);
      if (name == "c2c") read = add(child, gpu.device, MachineLink::kHost);
      if (!read) return read.error();
    }
    return {};
  }

  // Between two GPUs each tells of the other: one link, on which both must agree.
  Result<void> finish() {
    for (const auto& [ends, said] : counts_) {
      const auto [from, to] = ends;
      const auto back = counts_.find({to, from});
      if (back != counts_.end() && from > to) continue;
      if (back != counts_.end() && back->second.count != said.count)
        return file_.error_at(said.element,
                              "the GPU at " + address(from) + " has " + std::to_string(said.count) +
                                  " links to " + address(to) + ", and that one " +
                                  std::to_string(back->second.count) + " back",
                              "export the file again");
      topology_.links.push_back({from, to, said.count, {}});
    }
    return {};
  }

 private:
  struct Said {
    std::int32_t count = 0;
    pugi::xml_node element;
  };

  // The class of the other end (NCCL, kvDictPciClass): "0x068000" an NVSwitch,
  // "0x068001" a processor, "0x03…" a GPU.
  Result<void> read_link(pugi::xml_node link, std::int32_t from) {
    const auto written = file_.text(link, "target");
    if (!written) return written.error();
    auto target = parse_pci_address(*written);
    if (!target) return file_.placed(target.error(), link);
    const std::string_view target_class = link.attribute("tclass").value();
    if (target_class == "0x068001") return add(link, from, MachineLink::kHost);
    const auto found = by_address_.find(*target);
    if (found != by_address_.end() && found->second != from) return add(link, from, found->second);
    if (target_class != "0x068000") return add(link, from, MachineLink::kUnknownPeer);
    return add(link, from, new_switch(std::move(*target)));
  }

  std::int32_t new_switch(std::string target) {
    MachineDevice device;
    device.kind = MachineDeviceKind::kNvSwitch;
    device.pci_address = target;
    topology_.devices.push_back(std::move(device));
    const auto index = static_cast<std::int32_t>(topology_.devices.size()) - 1;
    by_address_.emplace(std::move(target), index);
    return index;
  }

  Result<void> add(pugi::xml_node link, std::int32_t from, std::int32_t to) {
    const auto count = file_.required_number(link, "count", 1, kMostLinks);
    if (!count) return count.error();
    auto& said = counts_[{from, to}];
    if (said.count + *count > kMostLinks)
      return file_.error_at(
          link, "more than " + std::to_string(kMostLinks) + " links between two devices",
          "export the file again");
    said.count += static_cast<std::int32_t>(*count);
    said.element = link;
    return {};
  }

  std::string address(std::int32_t device) const {
    return topology_.devices[static_cast<std::size_t>(device)].pci_address;
  }

  const XmlFile& file_;
  MachineTopology& topology_;
  std::map<std::string, std::int32_t> by_address_;
  std::map<std::pair<std::int32_t, std::int32_t>, Said> counts_;  // from, to
};

}  // namespace

Result<void> add_nccl_links(const XmlFile& file, const std::vector<NcclGpu>& gpus,
                            MachineTopology& topology) {
  LinkReader reader(file, topology);
  for (const auto& gpu : gpus)
    if (auto read = reader.read(gpu); !read) return read.error();
  return reader.finish();
}

}  // namespace gridfold
