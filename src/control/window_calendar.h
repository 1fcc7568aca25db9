// Maintenance as it is configured: once, or by a rule of local time. What the
// engine is told are windows of UTC.
//
//   WindowCalendar calendar({{"racks", {{}, {{"rack", "r1"}}}, {}, {}, rule, Duration::hours(2)}});
//   loop tells the engine: WindowsPlanned{calendar.windows(now)}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "calendar/local_rule.h"
#include "model/node_window.h"

namespace gridfold {

struct WindowRule {
  std::string name;
  NodeSelector where;
  // Once: from then until then.
  Instant from{};
  Instant until{};
  // Or from each instant of the rule, for so long.
  std::optional<LocalRule> rule;
  Duration length{};
};

class WindowCalendar {
 public:
  // Windows are known so far ahead, and of each rule one more in any case.
  static constexpr Duration kAhead = Duration::hours(35 * 24);
  static constexpr std::size_t kMostAhead = 1000;

  WindowCalendar() = default;
  // Rules that passed check().
  explicit WindowCalendar(std::vector<WindowRule> rules) : rules_(std::move(rules)) {}

  // Error names the field: a window that is empty, has no nodes, or a rule that
  // has more than kMostAhead windows ahead.
  static Result<void> check(const WindowRule& rule);

  bool empty() const { return rules_.empty(); }
  // Those that are not over, rule after rule, each in order of time.
  std::vector<NodeWindow> windows(Instant now) const;
  // When windows() is to be asked again; never() when it stays as it is.
  Instant next(Instant now) const;

 private:
  std::vector<WindowRule> rules_;
};

}  // namespace gridfold
