#include "control/window_calendar.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr Duration kDay = Duration::hours(24);

// Those of the rule that are not over; one more than `most` shows that there are
// too many.
std::vector<NodeWindow> of_rule(const WindowRule& rule, Instant now, std::size_t most) {
  if (!rule.rule) {
    if (rule.until <= now) return {};
    return {{rule.name, rule.from, rule.until, rule.where}};
  }
  std::vector<NodeWindow> windows;
  Instant from = rule.rule->after(now - rule.length);
  while (!from.is_never() && windows.size() <= most) {
    windows.push_back({rule.name, from, from + rule.length, rule.where});
    if (from > now + WindowCalendar::kAhead) break;
    from = rule.rule->after(from);
  }
  return windows;
}

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

}  // namespace

Result<void> WindowCalendar::check(const WindowRule& rule) {
  if (rule.where.empty())
    return wrong("nodes", "the window names no nodes", "give nodes, domains or labels");
  if (!rule.rule) {
    if (rule.until > rule.from) return {};
    return wrong("until", "the window ends before it begins", "give a time after `from`");
  }
  if (rule.length.ns <= 0)
    return wrong("for", "the window has no length", "give one, such as \"2h\"");
  if (of_rule(rule, Instant{}, kMostAhead).size() <= kMostAhead) return {};
  return wrong("cron", "the rule has more than 1000 windows in 35 days",
               "let fewer windows last longer");
}

std::vector<NodeWindow> WindowCalendar::windows(Instant now) const {
  std::vector<NodeWindow> all;
  for (const WindowRule& rule : rules_) {
    for (NodeWindow& window : of_rule(rule, now, kMostAhead)) all.push_back(std::move(window));
  }
  return all;
}

// As soon as one of a rule is over its next is to be seen, and each day another.
Instant WindowCalendar::next(Instant now) const {
  Instant next = Instant::never();
  for (const WindowRule& rule : rules_) {
    if (!rule.rule) continue;
    const Instant first = rule.rule->after(now - rule.length);
    if (!first.is_never()) next = std::min({next, first + rule.length, now + kDay});
  }
  return next;
}

}  // namespace gridfold
