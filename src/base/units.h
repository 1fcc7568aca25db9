// Quantities: integers that carry their unit in the type.
//
//   MilliCores cpu = MilliCores(1500);          // one and a half cores
//   Result<Bytes> memory = parse_bytes("0.5Gi"); // 536870912
//   to_text(*memory)                             // "512Mi"
//
// Parsing is exact and checked: a value that is not a whole number of the
// unit, overflows, is negative, or carries a suffix of another unit is
// refused with the field's next step (cases F16-F18). For every valid x,
// parse(to_text(x)) == x. "Unlimited" and "unknown" are types of their own
// and never a large or a zero number.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace gridfold {

template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t v) : value(v) {}
  static constexpr Quantity max() {
    return Quantity(std::numeric_limits<std::int64_t>::max());
  }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  // Unchecked: for sums that the border has shown to fit.
  constexpr Quantity& operator+=(Quantity b) { value += b.value; return *this; }
  constexpr Quantity& operator-=(Quantity b) { value -= b.value; return *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
};

using MilliCores = Quantity<struct MilliCoresTag>;        // thousandths of a CPU core
using Bytes = Quantity<struct BytesTag>;
using BitsPerSecond = Quantity<struct BitsPerSecondTag>;
using MilliWatts = Quantity<struct MilliWattsTag>;
using DeviceShare = Quantity<struct DeviceShareTag>;      // thousandths of one device

inline constexpr DeviceShare kWholeDevice{1000};

// Checked arithmetic for the border: empty when the true result does not fit.
template <class Tag>
constexpr std::optional<Quantity<Tag>> checked_add(Quantity<Tag> a, Quantity<Tag> b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a.value, b.value, &out)) return std::nullopt;
  return Quantity<Tag>(out);
}
template <class Tag>
constexpr std::optional<Quantity<Tag>> checked_multiply(Quantity<Tag> a, std::int64_t n) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a.value, n, &out)) return std::nullopt;
  return Quantity<Tag>(out);
}

// "0.25", "4", "1500m" (thousandths). Smallest step: 1 thousandth.
Result<MilliCores> parse_cores(std::string_view text);
// "512", "64k", "256M", "256Mi", "0.5Gi", "1TiB", "1E" (decimal k M G T P E,
// binary Ki Mi Gi Ti Pi Ei, an optional final B). Must be whole bytes, at most
// 2^63-1: "50E" is refused as too large, never wrapped.
Result<Bytes> parse_bytes(std::string_view text);
// "10Gbps", "100Mbit/s", "400G": decimal suffixes, whole bits per second.
Result<BitsPerSecond> parse_bits_per_second(std::string_view text);
// "350W", "1.5kW", "250mW": whole milliwatts.
Result<MilliWatts> parse_watts(std::string_view text);
// "0.25", "1", "0.001": a share of one device, in thousandths, at most 1.
Result<DeviceShare> parse_share(std::string_view text);

std::string to_text(MilliCores value);      // "1500m" or "4"
std::string to_text(Bytes value);           // largest binary suffix that is exact: "512Mi", "1000"
std::string to_text(BitsPerSecond value);   // "10Gbps"
std::string to_text(MilliWatts value);      // "350W", "1500mW"
std::string to_text(DeviceShare value);     // "0.25", "1"

// A non-negative decimal count, no sign, no separators, at most 2^63-1.
Result<std::int64_t> parse_count(std::string_view text);

// A bound that may be absent. Absent is "unlimited", never a big number.
struct Unlimited {
  friend constexpr bool operator==(Unlimited, Unlimited) = default;
};
template <class T>
class Limit {
 public:
  constexpr Limit() = default;  // unlimited
  constexpr Limit(Unlimited) {}
  constexpr Limit(T bound) : bound_(bound) {}

  constexpr bool is_unlimited() const { return !bound_; }
  constexpr bool allows(T amount) const { return !bound_ || amount <= *bound_; }
  // Requires !is_unlimited().
  constexpr const T& bound() const { return *bound_; }
  friend constexpr bool operator==(const Limit&, const Limit&) = default;

 private:
  std::optional<T> bound_;
};

// A value somebody should have told us and perhaps has not. Unknown is not zero.
struct Unknown {
  friend constexpr bool operator==(Unknown, Unknown) = default;
};
template <class T>
class Known {
 public:
  constexpr Known() = default;  // unknown
  constexpr Known(Unknown) {}
  constexpr Known(T value) : value_(std::move(value)) {}

  constexpr bool is_known() const { return value_.has_value(); }
  // Requires is_known().
  constexpr const T& value() const { return *value_; }
  friend constexpr bool operator==(const Known&, const Known&) = default;

 private:
  std::optional<T> value_;
};

}  // namespace gridfold
