#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gridfold {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Of every size, and often a whole number of some unit.
rc::Gen<std::int64_t> any_nanoseconds() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 63), rc::gen::arbitrary<std::uint64_t>(),
                     rc::gen::element<std::int64_t>(1, 1'000, 1'000'000, 100'000'000, 1'000'000'000,
                                                    60'000'000'000)),
      [](const std::tuple<int, std::uint64_t, std::int64_t>& draw) {
        const auto& [bits, word, unit] = draw;
        const auto amount = static_cast<std::int64_t>((word >> 1) >> bits);
        std::int64_t round = 0;
        return __builtin_mul_overflow(amount, unit, &round) ? amount : round;
      });
}

TEST(Time, DurationsPrintedReadBack) {
  EXPECT_TRUE(rc::check([] {
    const Duration value{*any_nanoseconds()};
    const auto again = parse_duration(to_text(value));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == value);
  }));
  for (const std::int64_t edge : {std::int64_t{0}, std::int64_t{1}, kMax})
    EXPECT_EQ(parse_duration(to_text(Duration{edge}))->ns, edge);
}

TEST(Time, InstantsPrintedReadBack) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t magnitude = *any_nanoseconds();
    const Instant value{*rc::gen::arbitrary<bool>() ? magnitude : -magnitude};
    const auto again = parse_rfc3339(to_rfc3339(value));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == value);
  }));
  for (const std::int64_t edge : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax})
    EXPECT_EQ(parse_rfc3339(to_rfc3339(Instant{edge}))->ns, edge);
}

TEST(Time, ReadsAndPrintsDurations) {
  const std::pair<const char*, Duration> table[] = {{"90s", Duration::seconds(90)},
                                                    {"1h30m", Duration::minutes(90)},
                                                    {"250ms", Duration::milliseconds(250)},
                                                    {"2d", Duration::hours(48)},
                                                    {"36h", Duration::hours(36)},
                                                    {"1.5s", Duration::milliseconds(1500)},
                                                    {"10us", Duration::microseconds(10)},
                                                    {"7ns", Duration::nanoseconds(7)},
                                                    {"0s", Duration{}},
                                                    {"0.5h", Duration::minutes(30)}};
  for (const auto& [text, value] : table) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, value) << text;
  }
  EXPECT_EQ(to_text(Duration::minutes(90)), "1h30m");
  EXPECT_EQ(to_text(Duration::hours(36)), "1d12h");
  EXPECT_EQ(to_text(Duration::milliseconds(1500)), "1.5s");
  EXPECT_EQ(to_text(Duration{}), "0s");
  EXPECT_EQ(to_text(Duration::milliseconds(60'250)), "1m250ms");
  EXPECT_EQ(to_text(Duration{kMin}), "-106751d23h47m16.854775808s");
}

TEST(Time, RefusesOddDurations) {
  for (const auto* text : {"",
                           "90",
                           "1h30",
                           "s",
                           "1 h",
                           " 1s",
                           "1s ",
                           "-1s",
                           "+1s",
                           "1m1h",
                           "1s1s",
                           "1h2x",
                           "1S",
                           "1e3s",
                           "0x1s",
                           "1_0s",
                           "inf",
                           "NaN",
                           ".5s",
                           "5.s",
                           "0.5ns",
                           "300y",
                           "01s",
                           "106751d23h47m16.854775808s",
                           "9999999999999999999d",
                           "99999999999999999999d",
                           "１s"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_EQ(parse_duration("90").error().message, "\"90\" is not a duration: the unit is missing");
  EXPECT_EQ(parse_duration("1h-5m").error().message,
            "\"1h-5m\" is not a duration: it must not be negative");
}

TEST(Time, ReadsAndPrintsRfc3339) {
  EXPECT_EQ(to_rfc3339(Instant{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(Instant{-1}), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(to_rfc3339(Instant{1'500'000'000}), "1970-01-01T00:00:01.5Z");
  EXPECT_EQ(parse_rfc3339("2026-11-30T11:58:31Z")->ns, 1'796'039'911'000'000'000);
  EXPECT_EQ(*parse_rfc3339("2026-11-30T13:58:31+02:00"), *parse_rfc3339("2026-11-30T11:58:31Z"));
  EXPECT_EQ(*parse_rfc3339("2026-11-30t11:58:31.000z"), *parse_rfc3339("2026-11-30T11:58:31Z"));
  EXPECT_EQ(to_rfc3339(*parse_rfc3339("2024-02-29T23:59:59-00:30")), "2024-03-01T00:29:59Z");
}

TEST(Time, RefusesOddTimes) {
  for (const auto* text : {"",
                           "2026",
                           "2026-11-30",
                           "2026-11-30T11:58:31",
                           "2026-11-30T11:58Z",
                           "2026-13-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2016-12-31T23:59:60Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00.1234567890Z",
                           "2026-01-01T00:00:00+24:00",
                           "2026-01-01T00:00:00+0200",
                           " 2026-01-01T00:00:00Z",
                           "2026-01-01T00:00:00Z ",
                           "1676-01-01T00:00:00Z",
                           "2263-01-01T00:00:00Z",
                           "-001-01-01T00:00:00Z"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

}  // namespace
}  // namespace gridfold
