#include "topology/cpu_set.h"

#include <algorithm>
#include <bit>
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
    set.insert_word(static_cast<std::int32_t>(i) * kWordBits, bits);
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
    set.ranges_.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)});
  }
  set.melt();
  return set;
}

void CpuSet::insert(std::int32_t first, std::int32_t last) {
  // Nearly always behind all that is there, at most touching the last.
  if (!ranges_.empty() && ranges_.back().first <= first && first <= ranges_.back().last + 1) {
    ranges_.back().last = std::max(ranges_.back().last, last);
    return;
  }
  const bool behind_all = ranges_.empty() || ranges_.back().last < first;
  ranges_.push_back({first, last});
  if (!behind_all) melt();
}

void CpuSet::insert(const CpuSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  melt();
}

// Restores the invariant.
void CpuSet::melt() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    if (ranges_[i].first <= ranges_[kept].last + 1) {
      ranges_[kept].last = std::max(ranges_[kept].last, ranges_[i].last);
    } else {
      ranges_[++kept] = ranges_[i];
    }
  }
  if (!ranges_.empty()) ranges_.resize(kept + 1);
}

std::int64_t CpuSet::count() const {
  std::int64_t count = 0;
  for (const auto& range : ranges_) count += range.last - range.first + 1;
  return count;
}

// Runs of ones, above all that is in the set.
void CpuSet::insert_word(std::int32_t base, std::uint32_t bits) {
  while (bits != 0) {
    const auto first = std::countr_zero(bits);
    const auto length = std::countr_one(bits >> first);
    insert(base + first, base + first + length - 1);
    bits &= ~static_cast<std::uint32_t>(((std::uint64_t{1} << length) - 1) << first);
  }
}

bool CpuSet::contains(std::int32_t number) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), number,
                       [](std::int32_t value, const Range& range) { return value < range.first; });
  return after != ranges_.begin() && number <= std::prev(after)->last;
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
