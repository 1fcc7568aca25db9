#include "control/job_calendar.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_writer.h"

namespace gridfold {
namespace {

constexpr std::string_view kPrefix = "live/schedule/";

std::string key_of(const ScheduledJobs& jobs) { return std::string(kPrefix) + jobs.name; }

std::string encode(const ScheduledJobs& jobs, Instant next) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("cron").string(jobs.rule.cron());
  json.key("zone").string(jobs.rule.zone()).key("next").string(to_rfc3339(next)).end_object();
  return out;
}

}  // namespace

JobCalendar::JobCalendar(std::vector<ScheduledJobs> scheduled) {
  for (ScheduledJobs& jobs : scheduled) entries_.push_back({std::move(jobs)});
}

Result<void> JobCalendar::restore(std::string_view key, std::string_view value) {
  const auto json = nlohmann::json::parse(value, nullptr, false);
  const auto text = [&](const char* name) {
    const bool there = json.is_object() && json.contains(name) && json[name].is_string();
    return there ? json[name].get<std::string>() : std::string();
  };
  const auto next = parse_rfc3339(text("next"));
  if (!next) return corrupt("record " + std::string(key) + ": `next` is not a time");
  for (Entry& entry : entries_) {
    if (key != key_of(entry.jobs)) continue;
    const LocalRule& rule = entry.jobs.rule;
    entry.stored = *next;
    if (text("cron") == rule.cron() && text("zone") == rule.zone()) entry.next = *next;
    return {};
  }
  gone_.emplace_back(key);
  return {};
}

void JobCalendar::begin(Instant now) {
  for (Entry& entry : entries_) {
    if (entry.next.is_never()) entry.next = entry.jobs.rule.after(now);
  }
}

Instant JobCalendar::next() const {
  Instant next = Instant::never();
  for (const Entry& entry : entries_) next = std::min(next, entry.next);
  return next;
}

std::vector<JobCalendar::Due> JobCalendar::take_due(Instant now) {
  std::vector<Due> due;
  for (Entry& entry : entries_) {
    if (entry.next > now) continue;
    due.push_back({&entry.jobs, std::exchange(entry.next, entry.jobs.rule.after(now))});
  }
  return due;
}

bool JobCalendar::any_new() const {
  return !gone_.empty() || std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.next != entry.stored;
  });
}

void JobCalendar::put_new(Transaction& transaction) const {
  for (const Entry& entry : entries_) {
    if (entry.next != entry.stored)
      transaction.put.emplace_back(key_of(entry.jobs), encode(entry.jobs, entry.next));
  }
  transaction.erase.insert(transaction.erase.end(), gone_.begin(), gone_.end());
}

void JobCalendar::new_are_stored() {
  for (Entry& entry : entries_) entry.stored = entry.next;
  gone_.clear();
}

// What was never stored stays as it was begun.
void JobCalendar::forget_new() {
  for (Entry& entry : entries_) {
    if (!entry.stored.is_never()) entry.next = entry.stored;
  }
}

}  // namespace gridfold
