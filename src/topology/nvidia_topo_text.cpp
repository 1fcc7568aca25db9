#include "topology/nvidia_topo_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "base/quote.h"
#include "base/utf8.h"
#include "topology/xml_file.h"

namespace gridfold {
namespace {

constexpr std::int32_t kMostLinks = 1024;  // between two devices
constexpr std::string_view kCommand = "give the output of nvidia-smi topo -m";

std::optional<std::int32_t> whole_number(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<std::int32_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return whole_number(text.substr(prefix.size()));
}

struct PathWord {
  std::string_view word;
  PathKind kind;
};
// SOC is what drivers before 2018 said for SYS.
constexpr std::array<PathWord, 7> kPathWords = {{{"X", PathKind::kSelf},
                                                 {"PIX", PathKind::kPix},
                                                 {"PXB", PathKind::kPxb},
                                                 {"PHB", PathKind::kPhb},
                                                 {"NODE", PathKind::kNode},
                                                 {"SYS", PathKind::kSys},
                                                 {"SOC", PathKind::kSys}}};

std::optional<DevicePath> path_of(std::string_view word) {
  for (const auto& known : kPathWords)
    if (word == known.word) return DevicePath{known.kind, {}, {}};
  const auto links = number_after(word, "NV");
  if (!links || *links < 1 || *links > kMostLinks) return std::nullopt;
  return DevicePath{PathKind::kNvlink, *links, {}};
}

// Words between blanks, without the escapes by which a terminal underlines.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i + 1 < line.size() && line[i] != 'm') ++i;
    } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      words.back() += line[i];
    }
  }
  return words;
}

// The head: devices, then of the columns after them those that it has.
struct Head {
  std::vector<std::string> devices;
  bool cpu_affinity = false;
  bool numa_affinity = false;
  bool gpu_numa_id = false;

  std::size_t columns_after() const {
    return static_cast<std::size_t>(cpu_affinity) + static_cast<std::size_t>(numa_affinity) +
           static_cast<std::size_t>(gpu_numa_id);
  }
};

std::optional<Head> head_of(std::string_view line) {
  const auto words = words_of(line);
  if (words.empty() || !number_after(words[0], "GPU")) return std::nullopt;
  if (words.size() > 1 && path_of(words[1])) return std::nullopt;  // a row
  Head head;
  std::string rest;
  for (const auto& word : words) {
    if (!rest.empty() || word == "CPU" || word == "NUMA" || word == "GPU") {
      rest += word + ' ';
    } else {
      head.devices.push_back(word);
    }
  }
  head.cpu_affinity = rest.starts_with("CPU Affinity ");
  head.numa_affinity = rest.find("NUMA Affinity ") != rest.npos;
  head.gpu_numa_id = rest.ends_with("GPU NUMA ID ");
  if (rest.empty() != (head.columns_after() == 0)) return std::nullopt;
  return head;
}

class TopoReader {
 public:
  TopoReader(std::string_view name, std::string_view text) : name_(name), rest_(text) {}

  Result<MachineTopology> read() {
    topology_.name = name_;
    topology_.format = "nvidia-smi topo -m";
    if (auto read_head = find_head(); !read_head) return read_head.error();
    for (std::size_t row = 0; row < size(); ++row)
      if (auto read_row = row_of(row); !read_row) return read_row.error();
    if (auto checked = check_symmetry(); !checked) return checked.error();
    read_nic_names();
    topology_.links_told = true;
    auto finished = finish_topology(std::move(topology_));
    if (!finished) return finished.error().with_context(name_);
    return finished;
  }

 private:
  std::size_t size() const { return head_.devices.size(); }

  Error fail(std::string message, std::string hint = std::string(kCommand)) const {
    Error error = invalid(name_ + ": " + std::move(message));
    error.hint = std::move(hint);
    error.position = {line_, 0};
    return error;
  }

  std::optional<std::string_view> next_line() {
    if (rest_.empty()) return std::nullopt;
    const auto end = rest_.find('\n');
    const auto line = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    ++line_;
    return line;
  }

  Result<void> find_head() {
    while (const auto line = next_line()) {
      auto head = head_of(*line);
      if (!head) continue;
      head_ = std::move(*head);
      if (size() > kMaxMachineDevices) {
        auto error = fail("more than " + std::to_string(kMaxMachineDevices) + " devices");
        error.kind = ErrorKind::kLimit;
        return error;
      }
      for (const auto& label : head_.devices) add_device(label);
      topology_.told_paths.resize(size() * size());
      return {};
    }
    return fail("no line that begins with GPU0 as the head of a matrix");
  }

  // Whatever is no GPU is a network card: "mlx5_0", or "NIC0" of newer drivers.
  void add_device(const std::string& label) {
    MachineDevice device;
    const auto gpu = number_after(label, "GPU");
    const auto number = gpu ? gpu : number_after(label, "NIC");
    device.kind = gpu ? MachineDeviceKind::kGpu : MachineDeviceKind::kNic;
    device.name = label;
    if (number) device.number = *number;
    topology_.devices.push_back(std::move(device));
  }

  Result<void> row_of(std::size_t row) {
    const auto& label = head_.devices[row];
    std::vector<std::string> words;
    while (words.empty()) {
      const auto line = next_line();
      if (!line) return fail("cut off: no row of " + quote(label));
      words = words_of(*line);
    }
    if (words[0] != label)
      return fail("the row of " + quote(label) + " is expected, not " + quote(words[0]));
    if (words.size() <= size())
      return fail("the row of " + quote(label) + " has " + std::to_string(words.size() - 1) +
                  " paths, " + std::to_string(size()) + " are needed");
    for (std::size_t column = 0; column < size(); ++column) {
      const auto path = path_of(words[column + 1]);
      if (!path || (path->kind == PathKind::kSelf) != (row == column))
        return fail(quote(words[column + 1]) + " from " + quote(label) + " to " +
                        quote(head_.devices[column]) + " is no path",
                    std::string(kCommand) + ", whose paths are X, NV#, PIX, PXB, PHB, NODE, SYS");
      topology_.told_paths[row * size() + column] = *path;
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size()) + 1);
    return read_affinity(row, std::move(words));
  }

  // Of three columns the driver leaves the first two empty when it knows nothing.
  Result<void> read_affinity(std::size_t row, std::vector<std::string> words) {
    const auto& label = head_.devices[row];
    if (words.size() > head_.columns_after())
      return fail("the row of " + quote(label) + " has more words than there are columns");
    if (head_.gpu_numa_id && !words.empty()) words.pop_back();
    Known<CpuSet> cpus;
    if (head_.cpu_affinity && !words.empty()) {
      if (words[0] != "N/A") {
        auto set = CpuSet::from_list(words[0]);
        if (!set)
          return fail("CPU Affinity " + quote(words[0]) + " of " + quote(label) +
                      " is not a list of processors: " + set.error().message);
        cpus = std::move(*set);
      }
      words.erase(words.begin());
    }
    if (words.empty() || words[0] == "N/A") return {};
    const auto nodes = CpuSet::from_list(words[0]);
    if (!nodes)
      return fail("NUMA Affinity " + quote(words[0]) + " of " + quote(label) +
                  " is not a list of NUMA nodes: " + nodes.error().message);
    if (nodes->count() != 1) return {};  // between several: none is the one
    const auto numa = *whole_number(nodes->to_text());
    topology_.devices[row].numa = numa;
    add_numa(numa, cpus);
    return {};
  }

  void add_numa(std::int32_t number, const Known<CpuSet>& cpus) {
    auto found = std::find_if(topology_.numa.begin(), topology_.numa.end(),
                              [&](const NumaDomain& numa) { return numa.number == number; });
    if (found == topology_.numa.end())
      found = topology_.numa.insert(found, NumaDomain{number, {}, {}});
    if (!cpus.is_known()) return;
    CpuSet all = found->cpus.is_known() ? found->cpus.value() : CpuSet();
    all.insert(cpus.value());
    found->cpus = std::move(all);
  }

  Result<void> check_symmetry() const {
    for (std::size_t a = 0; a < size(); ++a)
      for (std::size_t b = a + 1; b < size(); ++b) {
        const auto there = topology_.told_paths[a * size() + b];
        const auto back = topology_.told_paths[b * size() + a];
        if (!(there == back))
          return fail(quote(head_.devices[a]) + " to " + quote(head_.devices[b]) + " is " +
                          to_text(there) + ", the way back is " + to_text(back),
                      "run nvidia-smi topo -m again");
      }
    return {};
  }

  // "NIC Legend:", then lines such as "  NIC0: mlx5_0".
  void read_nic_names() {
    std::map<std::string, std::size_t> cards;
    for (std::size_t i = 0; i < size(); ++i)
      if (topology_.devices[i].kind == MachineDeviceKind::kNic)
        cards.emplace(head_.devices[i] + ":", i);
    while (const auto line = next_line()) {
      const auto words = words_of(*line);
      if (words.size() != 2) continue;
      if (const auto card = cards.find(words[0]); card != cards.end())
        topology_.devices[card->second].name = words[1];
    }
  }

  std::string name_;
  std::string_view rest_;
  int line_ = 0;
  Head head_;
  MachineTopology topology_;
};

}  // namespace

bool is_nvidia_topo_text(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (head_of(text.substr(0, end))) return true;
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return false;
}

Result<MachineTopology> read_nvidia_topo_text(std::string_view name, std::string_view text) {
  if (text.size() > kMaxTopologyBytes) {
    Error error{ErrorKind::kLimit, std::string(name) + ": more than " +
                                       to_text(Bytes(kMaxTopologyBytes)) + "B of text"};
    error.hint = kCommand;
    return error;
  }
  if (!is_valid_utf8(text)) {
    Error error = invalid(std::string(name) + ": the text is not UTF-8");
    error.hint = "convert it, such as with iconv -t UTF-8";
    return error;
  }
  return TopoReader(name, text).read();
}

}  // namespace gridfold
