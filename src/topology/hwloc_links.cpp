#include "topology/hwloc_links.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/quote.h"

namespace gridfold {
namespace {

// hwloc.h, "Retrieve distances between objects": in MB/s, each way.
constexpr std::array<std::string_view, 3> kBandwidths = {"NVLinkBandwidth", "XGMIBandwidth",
                                                         "XeLinkBandwidth"};
constexpr std::int64_t kBitsPerMegabyte = 8'000'000;
// 8 PB/s; the product still fits.
constexpr std::int64_t kMostMegabytes = std::int64_t{8} << 30;

// The words of all children of this name, in order.
std::vector<std::string_view> words_of(pugi::xml_node matrix, const char* children) {
  std::vector<std::string_view> words;
  for (const auto child : matrix.children(children)) {
    std::string_view text = child.text().get();
    for (;;) {
      const auto begin = text.find_first_not_of(" \t\r\n");
      if (begin == text.npos) break;
      const auto end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
  }
  return words;
}

bool read_number(std::string_view text, std::int64_t& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() && value >= 0;
}

class Matrix {
 public:
  Matrix(const XmlFile& file, pugi::xml_node node) : file_(file), node_(node) {}

  Result<void> read(const HwlocObjects& objects) {
    if (std::string_view(node_.name()) == "distances2" &&
        std::string_view(node_.attribute("indexing").value()) != "gp")
      return fail("counts its objects otherwise than by gp_index");
    const auto size = file_.required_number(node_, "nbobjs", 1, kMaxMachineDevices);
    if (!size) return size.error();
    size_ = static_cast<std::size_t>(*size);
    if (auto read = read_ends(objects); !read) return read.error();
    return read_values();
  }

  // The bandwidth of a pair is what both directions have.
  void add_links(std::vector<MachineLink>& links) const {
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = i + 1; j < size_; ++j) {
        const auto megabytes = std::min(values_[i * size_ + j], values_[j * size_ + i]);
        auto a = ends_[i], b = ends_[j];
        if (a < 0) std::swap(a, b);
        if (megabytes == 0 || a < 0 || a == b) continue;
        links.push_back({a, b, {}, BitsPerSecond(megabytes * kBitsPerMegabyte)});
      }
  }

 private:
  Error fail(const std::string& what) const {
    return file_.error_at(node_, std::string(node_.attribute("name").value()) + " " + what,
                          "export the file again");
  }
  Error wrong_count(std::size_t have, const char* what, std::size_t need) const {
    return fail("has " + std::to_string(have) + " " + what + ", " + std::to_string(need) +
                " are needed");
  }

  // "OSDev:802", or "802" where all are of one type.
  Result<void> read_ends(const HwlocObjects& objects) {
    const auto words = words_of(node_, "indexes");
    if (words.size() != size_) return wrong_count(words.size(), "objects", size_);
    for (const auto word : words) {
      std::int64_t number = 0;
      const auto colon = word.find(':');
      const auto digits = colon == word.npos ? word : word.substr(colon + 1);
      const auto found = read_number(digits, number) ? objects.find(number) : objects.end();
      if (found == objects.end())
        return fail("names " + quote(word) + ", which is no device or processor here");
      ends_.push_back(found->second);
    }
    return {};
  }

  Result<void> read_values() {
    const auto words = words_of(node_, "u64values");
    if (words.size() != size_ * size_) return wrong_count(words.size(), "values", size_ * size_);
    for (const auto word : words) {
      std::int64_t value = 0;
      if (!read_number(word, value) || value > kMostMegabytes)
        return fail("has the value " + quote(word) + ", which is no bandwidth in MB/s");
      values_.push_back(value);
    }
    return {};
  }

  const XmlFile& file_;
  pugi::xml_node node_;
  std::size_t size_ = 0;
  std::vector<std::int32_t> ends_;
  std::vector<std::int64_t> values_;  // row after row, MB/s
};

}  // namespace

Result<HwlocLinks> hwloc_links(const XmlFile& file, const HwlocObjects& objects) {
  HwlocLinks all;
  for (const auto node : file.root().children()) {
    if (!std::string_view(node.name()).starts_with("distances2")) continue;
    const std::string_view name = node.attribute("name").value();
    if (std::find(kBandwidths.begin(), kBandwidths.end(), name) == kBandwidths.end()) continue;
    Matrix matrix(file, node);
    if (auto read = matrix.read(objects); !read) return read.error();
    matrix.add_links(all.links);
    all.told = true;
  }
  return all;
}

}  // namespace gridfold
