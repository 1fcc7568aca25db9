#include "calendar/local_rule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace gridfold {
namespace {

Instant at(std::string_view text) { return parse_rfc3339(text).value(); }

std::vector<std::string> between(const LocalRule& rule, std::string_view from,
                                 std::string_view until) {
  std::vector<std::string> times;
  for (Instant t = rule.after(at(from)); t < at(until); t = rule.after(t))
    times.push_back(to_rfc3339(t));
  return times;
}

using Times = std::vector<std::string>;

// Case F19, spring: half past two does not exist on March the 10th.
TEST(LocalRule, TakesAMissingTimeAtTheFirstInstantAfterTheGap) {
  const LocalRule rule = LocalRule::parse("30 2 * * *", "America/New_York").value();
  EXPECT_EQ(between(rule, "2019-03-09T05:00:00Z", "2019-03-12T12:00:00Z"),
            (Times{"2019-03-09T07:30:00Z", "2019-03-10T07:00:00Z", "2019-03-11T06:30:00Z",
                   "2019-03-12T06:30:00Z"}));
}

// Case F19, autumn: half past one comes twice on November the 3rd.
TEST(LocalRule, TakesADoubledTimeOnce) {
  const LocalRule rule = LocalRule::parse("30 1 * * *", "America/New_York").value();
  EXPECT_EQ(between(rule, "2019-11-02T04:00:00Z", "2019-11-04T12:00:00Z"),
            (Times{"2019-11-02T05:30:00Z", "2019-11-03T05:30:00Z", "2019-11-04T06:30:00Z"}));
  // Asked between the two, it is the next day's turn.
  EXPECT_EQ(to_rfc3339(rule.after(at("2019-11-03T05:45:00Z"))), "2019-11-04T06:30:00Z");
}

TEST(LocalRule, CountsHoursAsTheyPassWhereNoneIsNamed) {
  const LocalRule rule = LocalRule::parse("0 * * * *", "America/New_York").value();
  EXPECT_EQ(between(rule, "2019-11-03T04:30:00Z", "2019-11-03T08:30:00Z"),
            (Times{"2019-11-03T05:00:00Z", "2019-11-03T06:00:00Z", "2019-11-03T07:00:00Z",
                   "2019-11-03T08:00:00Z"}));
  EXPECT_EQ(between(rule, "2019-03-10T05:30:00Z", "2019-03-10T08:30:00Z"),
            (Times{"2019-03-10T06:00:00Z", "2019-03-10T07:00:00Z", "2019-03-10T08:00:00Z"}));
}

TEST(LocalRule, KnowsDaysMonthsAndLeapYears) {
  const auto next = [](const char* cron, const char* zone, const char* from) {
    return to_rfc3339(LocalRule::parse(cron, zone).value().after(at(from)));
  };
  EXPECT_EQ(next("0 22 * * fri", "Europe/Berlin", "2026-12-01T00:00:00Z"), "2026-12-04T21:00:00Z");
  EXPECT_EQ(next("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00Z");
  EXPECT_EQ(next("15 8-18/2 1,15 * *", "UTC", "2026-12-01T16:20:00Z"), "2026-12-01T18:15:00Z");
  EXPECT_EQ(next("0 6 13 * 5", "UTC", "2026-11-30T00:00:00Z"), "2026-12-04T06:00:00Z");
  EXPECT_EQ(next("0 0 1 jan 7", "Asia/Shanghai", "2026-12-31T00:00:00Z"), "2026-12-31T16:00:00Z");
  // Samoa had no December the 30th in 2011.
  EXPECT_EQ(next("0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z"), "2011-12-30T10:00:00Z");
}

TEST(LocalRule, RefusesWithFieldAndNextStep) {
  const auto error = [](const char* cron, const char* zone) {
    const auto rule = LocalRule::parse(cron, zone);
    return rule ? std::string("fine") : rule.error().describe();
  };
  EXPECT_EQ(error("30 2 * *", "UTC"),
            "cron: cron: \"30 2 * *\" has 4 fields instead of 5 (minute, hour, day of the month, "
            "month, day of the week: \"30 2 * * *\")");
  EXPECT_EQ(error("61 2 * * *", "UTC"),
            "cron: cron: \"61\" is no minute or range of it (numbers from 0 to 59, such as *, 5, "
            "1-5, */10 or 1,15)");
  EXPECT_EQ(error("0 0 30 2 *", "UTC"),
            "cron: cron: \"0 0 30 2 *\" holds on no day (give that month a day that it has)");
  EXPECT_EQ(error("0 0 * * *", "America/NewYork"),
            "zone: there is no time zone \"America/NewYork\" (did you mean "
            "\"America/New_York\"?)");
  EXPECT_EQ(error("0 0 * * *", "../../etc/passwd"),
            "zone: there is no time zone \"../../etc/passwd\" (name one of the IANA database, such "
            "as Europe/Berlin or UTC)");
  for (const char* bad : {"", "* * * * * *", "1-0 * * * *", "*/0 * * * *", "5/2 * * * *",
                          ", * * * *", "- * * * *", "a * * * *", "0 24 * * *", "0 0 0 * *",
                          "0 0 * 13 *", "0 0 * * 8", "0 0 * foo *", "999999999999 * * * *"}) {
    EXPECT_FALSE(Cron::parse(bad)) << bad;
  }
}

// One of the rules is asked step by step over a year, in zones that differ in
// how they change: one instant a local day, and each shows the time that it is
// for unless that is missing.
RC_GTEST_PROP(LocalRule, HasOneInstantEachLocalDay, ()) {
  const std::string zone = *rc::gen::element<std::string>(
      "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "UTC",
      "Africa/Casablanca", "Asia/Shanghai", "America/Havana");
  const int hour = *rc::gen::inRange(0, 24);
  const int minute = *rc::gen::inRange(0, 60);
  const int year = *rc::gen::inRange(2000, 2036);
  const LocalRule rule =
      LocalRule::parse(std::to_string(minute) + " " + std::to_string(hour) + " * * *", zone)
          .value();
  const TimeZone clock = TimeZone::find(zone).value();
  Instant t = at(std::to_string(year) + "-01-01T00:00:00Z");
  std::int64_t last_day = clock.local(rule.after(t)).seconds / 86400 - 1;
  for (int day = 0; day < 366; ++day) {
    t = rule.after(t);
    const LocalTime shown = clock.local(t);
    RC_ASSERT(shown.seconds / 86400 == last_day + 1);
    last_day = shown.seconds / 86400;
    const std::int64_t late = shown.seconds % 86400 - (hour * 60 + minute) * 60;
    RC_ASSERT(late >= 0);
    if (late > 0) {  // in the gap before t, which the minute before shows
      RC_ASSERT(clock.local(t - Duration::seconds(1)).seconds < shown.seconds - 1);
      RC_ASSERT(late < 2 * 3600);
    }
  }
}

// Whatever the rule: after(t) is later than t, and asked again from any time
// before, it is the same.
RC_GTEST_PROP(LocalRule, IsTheSameFromWhereverItIsAsked, ()) {
  const std::string zone = *rc::gen::element<std::string>("America/New_York", "Europe/Berlin",
                                                          "Australia/Lord_Howe", "UTC");
  const std::string cron =
      *rc::gen::element<std::string>("*/10 * * * *", "0 * * * *", "30 1,2 * * *", "0 2 * * sun",
                                     "15 */6 1-7 * *", "59 23 * * *", "0 0 * * *");
  const LocalRule rule = LocalRule::parse(cron, zone).value();
  const Instant base = at("2019-01-01T00:00:00Z");
  const Instant from = base + Duration::minutes(*rc::gen::inRange(0, 366 * 24 * 60));
  const Instant next = rule.after(from);
  RC_ASSERT(next > from);
  const std::int64_t gap = (next - from).ns;
  const Instant between{from.ns + *rc::gen::inRange<std::int64_t>(0, gap)};
  RC_ASSERT(rule.after(between) == next);
}

}  // namespace
}  // namespace gridfold
