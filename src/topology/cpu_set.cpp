#include "topology/cpu_set.h"

#include <algorithm>
#include <charconv>

namespace gridfold {
namespace {

constexpr std::int32_t kWordBits = 32;
constexpr std::size_t kMaxWords = kMaxCpuNumber / kWordBits;

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

template <class Integer>
bool read_whole(std::string_view text, Integer& value, int base) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return fault == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<CpuSet> CpuSet::from_mask(std::string_view text) {
  if (text.empty()) return invalid("it is empty");
  const auto words = split_at_commas(text);
  if (words.size() > kMaxWords)
    return invalid("it names processors from " + std::to_string(kMaxCpuNumber) + " on");
  CpuSet set;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = words[words.size() - 1 - i];
    if (word.starts_with("0x")) word.remove_prefix(2);
    if (word.starts_with("f...")) return invalid("it is a set without end");
    std::uint32_t bits = 0;
    if (word.size() > 8 || (!word.empty() && !read_whole(word, bits, 16)))
      return invalid("it has a word that is not 1 to 8 hexadecimal digits");
    for (std::int32_t bit = 0; bit < kWordBits; ++bit) {
      const auto number = static_cast<std::int32_t>(i) * kWordBits + bit;
      if ((bits >> bit & 1U) != 0) set.insert(number, number);
    }
  }
  return set;
}

Result<CpuSet> CpuSet::from_list(std::string_view text) {
  CpuSet set;
  for (const auto part : split_at_commas(text)) {
    const auto dash = part.find('-');
    std::uint32_t first = 0, last = 0;
    if (!read_whole(part.substr(0, dash), first, 10)) return invalid("it is not a list of numbers");
    last = first;
    if (dash != std::string_view::npos && !read_whole(part.substr(dash + 1), last, 10))
      return invalid("it is not a list of numbers");
    if (last < first) return invalid("it has a range that ends before it begins");
    if (last >= static_cast<std::uint32_t>(kMaxCpuNumber))
      return invalid("it names processors from " + std::to_string(kMaxCpuNumber) + " on");
    set.insert(static_cast<std::int32_t>(first), static_cast<std::int32_t>(last));
  }
  return set;
}

void CpuSet::insert(std::int32_t first, std::int32_t last) {
  // All ranges that touch the new one melt into it.
  const auto begin = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const Range& range) { return range.last + 1 >= first; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  ranges_.insert(ranges_.erase(begin, end), Range{first, last});
}

void CpuSet::insert(const CpuSet& other) {
  for (const auto& range : other.ranges_) insert(range.first, range.last);
}

std::int64_t CpuSet::count() const {
  std::int64_t count = 0;
  for (const auto& range : ranges_) count += range.last - range.first + 1;
  return count;
}

bool CpuSet::contains(std::int32_t number) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.first <= number && number <= range.last;
  });
}

std::string CpuSet::to_text() const {
  std::string text;
  for (const auto& range : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.first);
    if (range.last > range.first) text += '-' + std::to_string(range.last);
  }
  return text;
}

}  // namespace gridfold
