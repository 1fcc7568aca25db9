#include "topology/link_curve.h"

#include <algorithm>
#include <charconv>

namespace gridfold {
namespace {

constexpr std::int64_t kLargestKnot = std::int64_t{1} << 50;
constexpr std::int64_t kNanoBits = 8'000'000'000;  // bits of a byte, nanoseconds of a second
using Wide = __int128;

std::int64_t clamped(Wide value) {
  constexpr std::int64_t kMost = Bytes::max().value;
  return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

Error wrong_knot(std::size_t index, std::string_view reason) {
  Error error =
      invalid("knot " + std::to_string(index) + " of a link's curve " + std::string(reason));
  error.field = "knots[" + std::to_string(index) + "]";
  error.hint = "give knots in order of bytes, with times that never fall";
  return error;
}

}  // namespace

Result<LinkCurve> LinkCurve::build(Duration start, Duration hop, std::vector<CurveKnot> knots,
                                   BitsPerSecond bandwidth) {
  if (start < Duration{} || hop < Duration{} || bandwidth <= BitsPerSecond{}) {
    return invalid("a link's curve needs times of at least zero and a bandwidth above zero");
  }
  CurveKnot before;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    if (knots[i].bytes <= before.bytes) return wrong_knot(i, "is not beyond the one before");
    if (knots[i].bytes.value > kLargestKnot) return wrong_knot(i, "is beyond 1 PiB");
    if (knots[i].time < before.time) return wrong_knot(i, "takes less than a smaller message");
    before = knots[i];
  }
  LinkCurve curve;
  curve.start_ = start;
  curve.hop_ = hop;
  curve.knots_ = std::move(knots);
  curve.tail_ = bandwidth;
  return curve;
}

LinkCurve LinkCurve::linear(Duration start, Duration hop, BitsPerSecond bandwidth) {
  return *build(start, hop, {}, bandwidth);
}

Duration LinkCurve::transfer(Bytes bytes) const {
  const auto next =
      std::upper_bound(knots_.begin(), knots_.end(), bytes,
                       [](Bytes value, const CurveKnot& knot) { return value < knot.bytes; });
  const CurveKnot before = next == knots_.begin() ? CurveKnot{} : *(next - 1);
  const Wide over = bytes.value - before.bytes.value;
  if (next == knots_.end()) {
    return {clamped(before.time.ns + over * kNanoBits / tail_.value)};
  }
  const std::int64_t width = next->bytes.value - before.bytes.value;
  return {before.time.ns +
          static_cast<std::int64_t>(over * (next->time.ns - before.time.ns) / width)};
}

LinkCurves typical_curves() {
  const auto curve = [](std::int64_t hop_ns, std::int64_t gigabits) {
    return LinkCurve::linear(Duration::nanoseconds(8'400), Duration::nanoseconds(hop_ns),
                             BitsPerSecond(gigabits * 1'000'000'000));
  };
  return {curve(3'400, 1'600),    // nvlink
          curve(5'700, 160),      // pcie
          curve(5'700, 160),      // numa
          curve(5'700, 160),      // socket
          curve(9'600, 200),      // roce
          curve(9'600, 200),      // infiniband
          curve(25'000, 50),      // ethernet
          curve(500, 400),        // leaf: a switch more
          curve(1'000, 400),      // spine
          curve(5'000'000, 10)};  // wan
}

namespace {

// Takes the text before the next `separator` off, or all of it.
std::string_view take(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const auto part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::vector<CurveKnot>> read_knots(std::string_view text) {
  std::vector<CurveKnot> knots;
  while (!text.empty()) {
    std::string_view pair = take(text, ' ');
    const auto bytes = whole(take(pair, ':'));
    const auto time = whole(pair);
    if (!bytes || !time) return std::nullopt;
    knots.push_back({Bytes(*bytes), Duration::nanoseconds(*time)});
  }
  return knots;
}

Error wrong_line(int number, std::string_view reason) {
  Error error =
      invalid("the table of link curves has a line that cannot be read: " + std::string(reason));
  error.position = {number, 1};
  error.hint = "write machine,kind,start_ns,hop_ns,bits_per_second,knots";
  return error;
}

}  // namespace

Result<LinkCurves> read_link_curves(std::string_view table, std::string_view machine) {
  LinkCurves curves = typical_curves();
  bool found = false;
  for (int number = 1; !table.empty(); ++number) {
    std::string_view line = take(table, '\n');
    if (number == 1 || line.empty() || line.front() == '#') continue;
    if (take(line, ',') != machine) continue;
    const auto kind = parse_link_kind(take(line, ','));
    if (!kind) return wrong_line(number, "unknown kind of link");
    const auto start = whole(take(line, ','));
    const auto hop = whole(take(line, ','));
    const auto bandwidth = whole(take(line, ','));
    auto knots = read_knots(line);
    if (!start || !hop || !bandwidth || !knots) return wrong_line(number, "not a whole number");
    auto curve = LinkCurve::build({*start}, {*hop}, std::move(*knots), BitsPerSecond(*bandwidth));
    if (!curve) return wrong_line(number, curve.error().message);
    curves[static_cast<std::size_t>(*kind)] = std::move(*curve);
    found = true;
  }
  if (!found) return not_found("no link curves of machine \"" + std::string(machine) + "\"");
  return curves;
}

}  // namespace gridfold
