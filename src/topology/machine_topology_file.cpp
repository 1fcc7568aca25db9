#include "topology/machine_topology_file.h"

#include <array>

#include "base/quote.h"
#include "topology/hwloc_xml.h"
#include "topology/nccl_xml.h"
#include "topology/nvidia_topo_text.h"
#include "topology/xml_file.h"

namespace gridfold {
namespace {

constexpr std::string_view kKinds =
    "give hwloc XML (lstopo machine.xml), NCCL topology XML (NCCL_TOPO_DUMP_FILE) or the output "
    "of nvidia-smi topo -m";

// Files that are often taken for a topology.
struct OtherXml {
  std::string_view root;
  std::string_view what;
  std::string_view next;
};
constexpr std::array<OtherXml, 3> kOtherXml = {{
    {"graphs", "an NCCL graph, which says how NCCL uses a machine, not what is in it",
     "give the topology: NCCL_TOPO_DUMP_FILE, not NCCL_GRAPH_DUMP_FILE"},
    {"nvidia_smi_log", "the log of nvidia-smi -q -x, which has no paths between devices",
     "give the output of nvidia-smi topo -m"},
    {"topologydiff", "a difference between two hwloc topologies", "give the topology itself"},
}};

Error other(std::string_view name, std::string_view what, std::string_view next) {
  Error error = invalid(std::string(name) + ": not a machine topology but " + std::string(what));
  error.hint = next;
  return error;
}

Result<MachineTopology> read_xml(std::string_view name, std::string_view bytes) {
  const auto file = XmlFile::parse(name, bytes);
  if (!file) return file.error();
  const std::string_view root = file->root().name();
  if (root == "topology") return read_hwloc_xml(*file);
  if (root == "system") return read_nccl_xml(*file);
  for (const auto& known : kOtherXml)
    if (root == known.root) return other(name, known.what, known.next);
  return other(name, "XML with the root element " + quote(root), kKinds);
}

}  // namespace

Result<MachineTopology> read_machine_topology(std::string_view name, std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  auto text = bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return other(name, "an empty file", kKinds);
  if (text[begin] == '<') return read_xml(name, bytes);
  if (text.starts_with("\x1f\x8b"))
    return other(name, "a file packed by gzip", "unpack it first: gunzip");
  if (text.size() <= kMaxTopologyBytes && !is_nvidia_topo_text(text))
    return other(name, "some other file", kKinds);
  return read_nvidia_topo_text(name, text);
}

}  // namespace gridfold
