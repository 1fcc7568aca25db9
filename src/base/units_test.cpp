#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gridfold {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// Numbers of every size, round ones among them: a uniform draw would hardly
// ever meet a suffix.
rc::Gen<std::int64_t> any_amount() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 63), rc::gen::arbitrary<std::uint64_t>(),
                     rc::gen::element<std::int64_t>(1, 1000, 1'000'000, 1'000'000'000, 1ll << 10,
                                                    1ll << 20, 1ll << 30, 1ll << 40, 1ll << 50)),
      [](const std::tuple<int, std::uint64_t, std::int64_t>& draw) {
        const auto& [bits, word, unit] = draw;
        const auto amount = static_cast<std::int64_t>((word >> 1) >> bits);
        std::int64_t round = 0;
        return __builtin_mul_overflow(amount, unit, &round) ? amount : round;
      });
}

template <class Q>
void expect_round_trip(Result<Q> (*parse)(std::string_view), std::int64_t largest = kMax) {
  EXPECT_TRUE(rc::check([&] {
    const Q value(largest == kMax ? *any_amount()
                                  : *rc::gen::inRange<std::int64_t>(0, largest + 1));
    const auto again = parse(to_text(value));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == value);
  }));
  for (const std::int64_t edge : {std::int64_t{0}, std::int64_t{1}, largest - 1, largest})
    EXPECT_EQ(*parse(to_text(Q(edge))), Q(edge));
}

TEST(Units, WhatIsPrintedReadsBack) {
  expect_round_trip<MilliCores>(parse_cores);
  expect_round_trip<Bytes>(parse_bytes);
  expect_round_trip<BitsPerSecond>(parse_bits_per_second);
  expect_round_trip<MilliWatts>(parse_watts);
  expect_round_trip<DeviceShare>(parse_share, 1000);
}

TEST(Units, PrintsInTheLargestExactUnit) {
  EXPECT_EQ(to_text(MilliCores(1500)), "1500m");
  EXPECT_EQ(to_text(MilliCores(4000)), "4");
  EXPECT_EQ(to_text(MilliCores(0)), "0");
  EXPECT_EQ(to_text(Bytes(1ll << 29)), "512Mi");
  EXPECT_EQ(to_text(Bytes(1000)), "1000");
  EXPECT_EQ(to_text(Bytes(0)), "0");
  EXPECT_EQ(to_text(BitsPerSecond(10'000'000'000)), "10Gbps");
  EXPECT_EQ(to_text(BitsPerSecond(1'500'000'000)), "1500Mbps");
  EXPECT_EQ(to_text(MilliWatts(350'000)), "350W");
  EXPECT_EQ(to_text(MilliWatts(1500)), "1500mW");
  EXPECT_EQ(to_text(DeviceShare(250)), "0.25");
  EXPECT_EQ(to_text(DeviceShare(1)), "0.001");
  EXPECT_EQ(to_text(kWholeDevice), "1");
}

TEST(Units, ReadsEverySuffix) {
  EXPECT_EQ(parse_bytes("256M")->value, 256'000'000);
  EXPECT_EQ(parse_bytes("256Mi")->value, 256ll << 20);
  EXPECT_EQ(parse_bytes("0.5Gi")->value, 536'870'912);
  EXPECT_EQ(parse_bytes("1TiB")->value, 1ll << 40);
  EXPECT_EQ(parse_bytes("64k")->value, 64'000);
  EXPECT_EQ(parse_bytes("512")->value, 512);
  EXPECT_EQ(parse_bytes("512B")->value, 512);
  EXPECT_EQ(parse_bytes("0.25Ki")->value, 256);
  EXPECT_EQ(parse_cores("0.25")->value, 250);
  EXPECT_EQ(parse_cores("100m")->value, 100);
  EXPECT_EQ(parse_cores("96")->value, 96'000);
  EXPECT_EQ(parse_bits_per_second("10Gbps")->value, 10'000'000'000);
  EXPECT_EQ(parse_bits_per_second("100Mbit/s")->value, 100'000'000);
  EXPECT_EQ(parse_bits_per_second("400G")->value, 400'000'000'000);
  EXPECT_EQ(parse_watts("1.5kW")->value, 1'500'000);
  EXPECT_EQ(parse_watts("250mW")->value, 250);
  EXPECT_EQ(parse_share("0.25")->value, 250);
  EXPECT_EQ(parse_share("1.000")->value, 1000);
  EXPECT_EQ(*parse_count("9223372036854775807"), kMax);
}

// Case F16: a huge amount is itself or refused, never a wrapped or zero one.
TEST(Units, HugeAmountsAreThemselvesOrRefused) {
  EXPECT_EQ(parse_bytes("1E")->value, 1'000'000'000'000'000'000);
  EXPECT_EQ(parse_bytes("8E")->value, 8'000'000'000'000'000'000);
  for (const auto* text : {"50E", "8Ei", "9223372036854775808", "99999999999999999999999"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  EXPECT_EQ(parse_bytes("50E").error().message,
            "\"50E\" is not an amount of memory: it is more than 9223372036854775807 bytes");
  EXPECT_FALSE(parse_cores("1E"));
  EXPECT_FALSE(parse_cores("9223372036854775807"));
  EXPECT_FALSE(parse_count("9223372036854775808"));
}

// Case F17.
TEST(Units, NegativeAmountsAreRefused) {
  EXPECT_EQ(parse_count("-8").error().message, "\"-8\" is not a count: it must not be negative");
  EXPECT_EQ(parse_cores("-100m").error().message,
            "\"-100m\" is not a number of cores: it must not be negative");
  EXPECT_FALSE(parse_bytes("-1"));
  EXPECT_FALSE(parse_share("-0.5"));
  EXPECT_FALSE(parse_watts("-1W"));
  EXPECT_FALSE(parse_bits_per_second("-1G"));
}

// Case F18.
TEST(Units, ThousandthsOfBytesAreRefusedWithTheLikelyMeaning) {
  const auto memory = parse_bytes("256m");
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().message, "\"256m\" is not an amount of memory: unknown suffix \"m\"");
  EXPECT_EQ(memory.error().hint, "did you mean M or Mi?");
  EXPECT_EQ(parse_bytes("8K").error().hint, "did you mean k or Ki?");
  EXPECT_EQ(parse_bytes("8gib").error().hint, "did you mean GiB?");
}

TEST(Units, OddTextsAreRefusedByEveryParser) {
  for (const auto* text :
       {"",     " 4 ",      "4 ",    "\t4",   "NaN",  "nan", "inf", "infinity",
        "0x10", "１２８Mi", "1_000", "1,000", "1e3",  "1e",  ".5",  "5.",
        "+4",   "--4",      "4 Gi",  "1.2.3", "null", "~",   "010", "0.0000000000000000001",
        "1.5B"}) {
    EXPECT_FALSE(parse_cores(text)) << text;
    EXPECT_FALSE(parse_bytes(text)) << text;
    EXPECT_FALSE(parse_bits_per_second(text)) << text;
    EXPECT_FALSE(parse_watts(text)) << text;
    EXPECT_FALSE(parse_share(text)) << text;
    EXPECT_FALSE(parse_count(text)) << text;
  }
  using namespace std::string_view_literals;
  EXPECT_FALSE(parse_bytes("4\0"sv));
  EXPECT_FALSE(parse_count("1.0"));
  EXPECT_FALSE(parse_share("1.001"));
  EXPECT_FALSE(parse_share("0.0001"));
  EXPECT_FALSE(parse_cores("0.5m"));
  EXPECT_FALSE(parse_bytes("0.3"));
  EXPECT_FALSE(parse_watts("350"));
}

TEST(Units, CheckedArithmeticNoticesOverflow) {
  EXPECT_EQ(checked_add(Bytes(1), Bytes(2)), Bytes(3));
  EXPECT_EQ(checked_add(Bytes::max(), Bytes(1)), std::nullopt);
  EXPECT_EQ(checked_multiply(MilliCores(1000), kMax), std::nullopt);
}

TEST(Units, UnlimitedIsNoNumber) {
  const Limit<Bytes> none;
  EXPECT_TRUE(none.is_unlimited());
  EXPECT_TRUE(none.allows(Bytes::max()));
  EXPECT_NE(none, Limit<Bytes>(Bytes::max()));
  EXPECT_EQ(none, Limit<Bytes>(Unlimited{}));
  const Limit<Bytes> some(Bytes(8));
  EXPECT_TRUE(some.allows(Bytes(8)));
  EXPECT_FALSE(some.allows(Bytes(9)));
}

TEST(Units, UnknownIsNotZero) {
  const Known<Bytes> unknown;
  EXPECT_FALSE(unknown.is_known());
  EXPECT_EQ(unknown, Known<Bytes>(Unknown{}));
  EXPECT_NE(unknown, Known<Bytes>(Bytes(0)));
  EXPECT_EQ(Known<Bytes>(Bytes(7)).value(), Bytes(7));
}

}  // namespace
}  // namespace gridfold
