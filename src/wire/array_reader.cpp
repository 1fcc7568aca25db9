#include "wire/array_reader.h"

#include <algorithm>

#include "base/quote.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMaxIndex = 1'000'000'000;
constexpr auto kMost = static_cast<std::int64_t>(kMaxJobsPerBatch);
constexpr std::string_view kHint =
    "write 0-99, or 1,3,7, or {from: 0, to: 98, step: 2}; 0-99%4 for 4 at a time";

struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t step = 1;
};

// Adds the range; false when it holds too many or none.
bool append(const Range& range, const Field& field, std::vector<std::int64_t>& indices) {
  if (range.from > range.to) {
    field.fail(
        "the range " + std::to_string(range.from) + " to " + std::to_string(range.to) + " is empty",
        "put the smaller index first");
    return false;
  }
  const std::int64_t count = (range.to - range.from) / range.step + 1;
  if (count + static_cast<std::int64_t>(indices.size()) > kMost) {
    field.fail(Error{ErrorKind::kLimit,
                     "the array has more than " + std::to_string(kMost) + " jobs",
                     {},
                     "split it into several files"});
    return false;
  }
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(range.from + i * range.step);
  return true;
}

// "7" or "0-99".
std::optional<Range> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto from = parse_count(text.substr(0, dash));
  const auto to = dash == std::string_view::npos ? from : parse_count(text.substr(dash + 1));
  if (!from || !to || *from > kMaxIndex || *to > kMaxIndex) return std::nullopt;
  return Range{*from, *to, 1};
}

void read_indices(std::string_view text, const Field& field, std::vector<std::int64_t>& indices) {
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    const auto range = parse_range(text.substr(0, comma));
    if (!range) {
      field.fail(quote(field.node().text) + " is not a list of indices", std::string(kHint));
      return;
    }
    if (!append(*range, field, indices)) return;
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
}

// "0-99%4": what stands behind the sign is the limit.
void read_text_form(const Field& field, ArrayWish& wish) {
  const std::string_view text = field.node().text;
  const auto sign = text.find('%');
  read_indices(text.substr(0, sign), field, wish.indices);
  if (sign == std::string_view::npos) return;
  const auto limit = parse_count(text.substr(sign + 1));
  if (!limit || *limit < 1 || *limit > kMost) {
    field.fail(quote(text.substr(sign)) + " is not how many jobs at a time",
               "write a number from 1 to " + std::to_string(kMost) + ", such as 0-99%4");
    return;
  }
  wish.limit = static_cast<std::int32_t>(*limit);
}

void read_map_form(const Field& field, ArrayWish& wish) {
  if (!check_map(field, kArrayKeys)) return;
  const auto from = field.find("from");
  const auto to = field.find("to");
  const auto step = field.find("step");
  if (!from || !to) {
    field.fail("an array needs from and to", std::string(kHint));
    return;
  }
  append({read_integer(*from, 0, kMaxIndex), read_integer(*to, 0, kMaxIndex),
          step ? read_integer(*step, 1, kMaxIndex) : 1},
         field, wish.indices);
  if (const auto limit = field.find("limit"))
    wish.limit = static_cast<std::int32_t>(read_integer(*limit, 1, kMost));
}

}  // namespace

ArrayWish read_array(const Field& field) {
  ArrayWish wish;
  if (field.is_map()) {
    read_map_form(field, wish);
  } else if (field.node().kind == DocumentNode::Kind::kString) {
    read_text_form(field, wish);
  } else {
    field.fail_kind("a range of indices", std::string(kHint));
  }
  std::vector<std::int64_t> sorted = wish.indices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    field.fail("the index " + std::to_string(*twice) + " is given twice", "keep one of them");
  return wish;
}

}  // namespace gridfold
