// The five fields of a crontab line: which minutes of which days.
//
//   const Result<Cron> nightly = Cron::parse("30 2 * * *");
//
// Fields: minute, hour, day of the month, month, day of the week (0 and 7 are
// Sunday). Each is a list of numbers, ranges "1-5" and steps "*/10" or "8-18/2";
// months and days of the week may be named by three letters. Where both the day
// of the month and that of the week are restricted, either will do.
#pragma once

#include <bitset>
#include <chrono>
#include <string_view>

#include "base/result.h"

namespace gridfold {

class Cron {
 public:
  // kInvalid with the field's name and what is wrong with it; likewise for a
  // rule that holds on no day ("0 0 30 2 *").
  static Result<Cron> parse(std::string_view text);

  bool has_day(std::chrono::year_month_day day) const;
  bool has_minute(int hour, int minute) const {
    return hours_[static_cast<std::size_t>(hour)] && minutes_[static_cast<std::size_t>(minute)];
  }
  bool has_hour(int hour) const { return hours_[static_cast<std::size_t>(hour)]; }
  // Whether it names no hours: then it counts them as they pass, and holds in an
  // hour that the clock shows twice both times.
  bool is_hourly() const { return hours_.all(); }

 private:
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = false;  // "*" as the day of the month
  bool any_weekday_ = false;
};

}  // namespace gridfold
