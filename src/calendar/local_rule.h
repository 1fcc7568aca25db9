// "Every night at half past two, in New York": when that is, in UTC.
//
//   const Result<LocalRule> rule = LocalRule::parse("30 2 * * *", "America/New_York");
//   Instant next = rule->after(now);
//
// Right across changes of the clock. A local time that a day does not have is
// taken at the first instant after the gap. One that a day has twice is taken
// once, the first time, unless the rule names no hours ("0 * * * *"): such a rule
// counts hours as they pass. Two local times that come to the same instant are
// one. So a rule that names one time has one instant each local day.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "calendar/cron.h"
#include "calendar/time_zone.h"

namespace gridfold {

class LocalRule {
 public:
  // Errors name `cron` or `zone` as their field.
  static Result<LocalRule> parse(std::string_view cron, std::string_view zone);

  // The first instant of the rule after this one; never() where that is beyond
  // what can be said.
  Instant after(Instant at) const;

  const std::string& cron() const { return text_; }
  std::string zone() const { return zone_.name(); }

 private:
  LocalRule(std::string text, Cron cron, TimeZone zone)
      : text_(std::move(text)), cron_(cron), zone_(zone) {}
  struct Search;
  bool search_day(std::chrono::sys_days day, Search& search) const;

  std::string text_;
  Cron cron_;
  TimeZone zone_;
};

}  // namespace gridfold
