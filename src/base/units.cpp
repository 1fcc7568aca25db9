#include "base/units.h"

#include <span>

#include "base/decimal.h"
#include "base/quote.h"

namespace gridfold {
namespace {

struct Suffix {
  std::string_view text;
  std::uint64_t unit = 1;
};

// One kind of quantity: what it is called, its suffixes, and what its smallest
// unit is called in errors.
struct Grammar {
  std::string_view what;
  std::string_view smallest;
  std::string_view expected;
  std::span<const Suffix> suffixes;
};

constexpr std::uint64_t kKilo = 1'000, kMega = 1'000'000, kGiga = 1'000'000'000,
                        kTera = 1'000'000'000'000, kPeta = 1'000'000'000'000'000,
                        kExa = 1'000'000'000'000'000'000;

constexpr Suffix kCoreSuffixes[] = {{"", 1000}, {"m", 1}};
constexpr Suffix kByteSuffixes[] = {{"", 1},
                                    {"B", 1},
                                    {"k", kKilo},
                                    {"kB", kKilo},
                                    {"M", kMega},
                                    {"MB", kMega},
                                    {"G", kGiga},
                                    {"GB", kGiga},
                                    {"T", kTera},
                                    {"TB", kTera},
                                    {"P", kPeta},
                                    {"PB", kPeta},
                                    {"E", kExa},
                                    {"EB", kExa},
                                    {"Ki", 1ull << 10},
                                    {"KiB", 1ull << 10},
                                    {"Mi", 1ull << 20},
                                    {"MiB", 1ull << 20},
                                    {"Gi", 1ull << 30},
                                    {"GiB", 1ull << 30},
                                    {"Ti", 1ull << 40},
                                    {"TiB", 1ull << 40},
                                    {"Pi", 1ull << 50},
                                    {"PiB", 1ull << 50},
                                    {"Ei", 1ull << 60},
                                    {"EiB", 1ull << 60}};
constexpr Suffix kRateSuffixes[] = {
    {"", 1},           {"bps", 1},        {"bit/s", 1},     {"k", kKilo},      {"kbps", kKilo},
    {"kbit/s", kKilo}, {"M", kMega},      {"Mbps", kMega},  {"Mbit/s", kMega}, {"G", kGiga},
    {"Gbps", kGiga},   {"Gbit/s", kGiga}, {"T", kTera},     {"Tbps", kTera},   {"Tbit/s", kTera},
    {"P", kPeta},      {"Pbps", kPeta},   {"Pbit/s", kPeta}};
constexpr Suffix kPowerSuffixes[] = {{"mW", 1}, {"W", kKilo}, {"kW", kMega}, {"MW", kGiga}};
constexpr Suffix kShareSuffixes[] = {{"", 1000}};

constexpr Grammar kCores = {"a number of cores", "thousandths of a core",
                            "write cores as 2 or 0.5, or thousandths as 500m", kCoreSuffixes};
constexpr Grammar kBytes = {"an amount of memory", "bytes", "use k M G T P E, or Ki Mi Gi Ti Pi Ei",
                            kByteSuffixes};
constexpr Grammar kRate = {"a bandwidth", "bits per second",
                           "use bits per second, such as 400Mbps or 10Gbps", kRateSuffixes};
constexpr Grammar kPower = {"a power", "milliwatts", "use mW, W, kW or MW, such as 350W",
                            kPowerSuffixes};
constexpr Grammar kShare = {"a share of a device", "thousandths",
                            "write a share from 0.001 to 1, such as 0.25", kShareSuffixes};

bool same_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if ((a[i] | 0x20) != (b[i] | 0x20)) return false;
  return true;
}

// "256m" must become neither thousandths nor millions of bytes (case F18), so
// a suffix in the wrong letters gets the right ones as a hint.
std::string suffix_hint(const Grammar& grammar, std::string_view suffix) {
  for (const auto& known : grammar.suffixes) {
    if (!same_letters(known.text, suffix)) continue;
    std::string hint = "did you mean " + std::string(known.text);
    if (&grammar == &kBytes && known.text.size() == 1 && known.text != "B")
      hint += " or " + (known.text == "k" ? "K" : std::string(known.text)) + "i";
    return hint + "?";
  }
  return std::string(grammar.expected);
}

Result<std::int64_t> parse(const Grammar& grammar, std::string_view text) {
  std::string_view suffix = text;
  const auto number = take_decimal(suffix);
  if (!number)
    return not_a(grammar.what, text, number.error().message, std::string(grammar.expected));
  for (const auto& known : grammar.suffixes) {
    if (known.text != suffix) continue;
    const Scaled scaled = scale(*number, known.unit);
    if (scaled.fault == ScaleFault::kNotWhole)
      return not_a(grammar.what, text,
                   "it is not a whole number of " + std::string(grammar.smallest),
                   "write a whole number of " + std::string(grammar.smallest));
    if (scaled.fault == ScaleFault::kTooLarge)
      return not_a(grammar.what, text,
                   "it is more than 9223372036854775807 " + std::string(grammar.smallest),
                   "write a smaller amount");
    return scaled.value;
  }
  const std::string reason =
      suffix.empty() ? "the unit is missing" : "unknown suffix " + quote(suffix);
  return not_a(grammar.what, text, reason, suffix_hint(grammar, suffix));
}

template <class Q>
Result<Q> parse_as(const Grammar& grammar, std::string_view text) {
  const auto value = parse(grammar, text);
  if (!value) return value.error();
  return Q(*value);
}

struct Step {
  std::int64_t unit = 1;
  std::string_view suffix;
};

// In the first of `steps` that divides the value; the last one has unit 1.
std::string in_largest(std::int64_t value, std::string_view zero, std::span<const Step> steps) {
  if (value == 0) return std::string(zero);
  for (const auto& step : steps)
    if (value % step.unit == 0) return std::to_string(value / step.unit) + std::string(step.suffix);
  return std::to_string(value) + std::string(steps.back().suffix);
}

}  // namespace

Result<MilliCores> parse_cores(std::string_view text) { return parse_as<MilliCores>(kCores, text); }
Result<Bytes> parse_bytes(std::string_view text) { return parse_as<Bytes>(kBytes, text); }
Result<BitsPerSecond> parse_bits_per_second(std::string_view text) {
  return parse_as<BitsPerSecond>(kRate, text);
}
Result<MilliWatts> parse_watts(std::string_view text) { return parse_as<MilliWatts>(kPower, text); }

Result<DeviceShare> parse_share(std::string_view text) {
  auto share = parse_as<DeviceShare>(kShare, text);
  if (share && *share > kWholeDevice)
    return not_a(kShare.what, text, "it is more than one device", std::string(kShare.expected));
  return share;
}

Result<std::int64_t> parse_count(std::string_view text) {
  static constexpr std::string_view kWhat = "a count";
  std::string_view rest = text;
  const auto number = take_decimal(rest);
  if (!number) return not_a(kWhat, text, number.error().message, "write digits only, such as 8");
  if (!rest.empty() || text.find('.') != std::string_view::npos)
    return not_a(kWhat, text, "it must be a whole number", "write digits only, such as 8");
  const Scaled scaled = scale(*number, 1);
  if (scaled.fault != ScaleFault::kNone)
    return not_a(kWhat, text, "it is more than 9223372036854775807");
  return scaled.value;
}

std::string to_text(MilliCores value) {
  static constexpr Step kSteps[] = {{1000, ""}, {1, "m"}};
  return in_largest(value.value, "0", kSteps);
}

std::string to_text(Bytes value) {
  static constexpr Step kSteps[] = {{1ll << 60, "Ei"},
                                    {1ll << 50, "Pi"},
                                    {1ll << 40, "Ti"},
                                    {1ll << 30, "Gi"},
                                    {1ll << 20, "Mi"},
                                    {1ll << 10, "Ki"},
                                    {1, ""}};
  return in_largest(value.value, "0", kSteps);
}

std::string to_text(BitsPerSecond value) {
  static constexpr Step kSteps[] = {
      {static_cast<std::int64_t>(kPeta), "Pbps"}, {static_cast<std::int64_t>(kTera), "Tbps"},
      {static_cast<std::int64_t>(kGiga), "Gbps"}, {static_cast<std::int64_t>(kMega), "Mbps"},
      {static_cast<std::int64_t>(kKilo), "kbps"}, {1, "bps"}};
  return in_largest(value.value, "0bps", kSteps);
}

std::string to_text(MilliWatts value) {
  static constexpr Step kSteps[] = {{1000, "W"}, {1, "mW"}};
  return in_largest(value.value, "0W", kSteps);
}

std::string to_text(DeviceShare value) {
  std::string text = std::to_string(value.value / 1000);
  std::string decimals = std::to_string(1000 + value.value % 1000).substr(1);
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  if (!decimals.empty()) text += "." + decimals;
  return text;
}

}  // namespace gridfold
