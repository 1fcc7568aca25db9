#include "apps/gridfold/start_text.h"

#include <algorithm>
#include <cmath>

#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostChanges = 5;
constexpr std::size_t kMostNames = 6;

// By the API's word for a change.
struct Sentence {
  std::string_view change;
  std::string_view english;
  std::string_view chinese;
};

constexpr Sentence kChanges[] = {
    {"release", "release it from its hold", "解除挂起"},
    {"tasks", "{to} tasks of {role} instead of {from}", "{role} 用 {to} 个任务而不是 {from} 个"},
    {"devices", "{to} {class} a task of {role} instead of {from}",
     "{role} 每个任务用 {to} 个 {class} 而不是 {from} 个"},
    {"device_share", "{to} of a {class} for {role} instead of {from}",
     "{role} 用 {to} 个 {class} 份额而不是 {from}"},
    {"device_memory", "{to} of {class} memory for {role} instead of {from}",
     "{role} 的 {class} 显存用 {to} 而不是 {from}"},
    {"cpu", "{to} cores a task of {role} instead of {from}",
     "{role} 每个任务用 {to} 个核而不是 {from} 个"},
    {"memory", "{to} of memory a task of {role} instead of {from}",
     "{role} 每个任务用 {to} 内存而不是 {from}"},
    {"domain", "one {to_name} instead of one {from_name}",
     "放在同一个 {to_name} 内而不是同一个 {from_name} 内"},
    {"place", "{class} of {role} anywhere in the node instead of {from_name}",
     "{role} 的 {class} 在节点内任意位置，而不要求 {from_name}"},
    {"model", "{to_name} as well for the {class} of {role}", "{role} 的 {class} 也接受 {to_name}"},
    {"time_limit", "a time limit of {to} instead of {from}", "时限用 {to} 而不是 {from}"},
    {"array_limit", "{to} jobs of its array at a time instead of {from}",
     "作业数组同时运行 {to} 个作业而不是 {from} 个"},
    {"priority", "priority {to} instead of {from}", "优先级用 {to} 而不是 {from}"},
};
constexpr Sentence kAnyDomain = {"domain", "any place instead of one {from_name}",
                                 "任意位置，而不要求同一个 {from_name}"};
constexpr Sentence kNoTopology = {"domain", "any place, without its topology",
                                  "任意位置，不要求拓扑"};
constexpr Sentence kLimit = {"queue_limit",
                             "queue {queue}: limit of {resource} {to} instead of {from}",
                             "队列 {queue}：{resource} 上限用 {to} 而不是 {from}"};

std::string_view in(Language language, const Sentence& sentence) {
  return language == Language::kChinese ? sentence.chinese : sentence.english;
}

std::string amount(std::string_view unit, std::int64_t value) {
  if (unit == "bytes") return readable_bytes(value);
  if (unit == "millicores" || unit == "thousandths") return thousandths(value);
  if (unit == "nanoseconds") return short_duration(Duration{value});
  return std::to_string(value);
}

// Of a queue's limit.
std::string_view unit_of(std::string_view resource) {
  if (resource == "memory") return "bytes";
  return resource == "running_jobs" ? "" : "thousandths";
}

std::string limits_text(const StartChangeView& change, Language language) {
  std::string text;
  for (const auto& limit : change.limits) {
    const auto unit = unit_of(limit.resource);
    if (!text.empty()) text += language == Language::kChinese ? "；" : "; ";
    text += fill_sentence(in(language, kLimit), {{"queue", limit.queue},
                                                 {"resource", limit.resource},
                                                 {"from", amount(unit, limit.from)},
                                                 {"to", amount(unit, limit.to)}});
  }
  return text;
}

std::string change_text(const StartChangeView& change, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string text;
  if (change.change == kLimit.change) {
    text = limits_text(change, language);
  } else {
    const std::string none = chinese ? "无" : "none";
    const std::vector<Reason::Param> params = {
        {"role", change.role},
        {"class", change.device_class},
        {"from", change.from ? amount(change.unit, *change.from) : none},
        {"to", amount(change.unit, change.to)},
        {"from_name", change.from_name},
        {"to_name", change.to_name}};
    const auto known = std::find_if(std::begin(kChanges), std::end(kChanges),
                                    [&](const Sentence& s) { return s.change == change.change; });
    if (change.change == "domain" && change.to_name.empty()) {
      text =
          fill_sentence(in(language, change.from_name.empty() ? kNoTopology : kAnyDomain), params);
    } else if (known != std::end(kChanges)) {
      text = fill_sentence(in(language, *known), params);
    } else {
      text = change.change;  // a newer daemon's; -o json shows its amounts
    }
  }
  const std::string count = std::to_string(change.evicts.size());
  if (!change.evicts.empty())
    text += chinese ? "（将停止 " + count + " 个作业）" : " (stops " + count + " jobs)";
  return text;
}

std::string changes_text(const std::vector<StartChangeView>& changes, Language language) {
  const bool chinese = language == Language::kChinese;
  if (changes.empty())
    return chinese ? "  没有单项修改能让它现在启动。\n"
                   : "  No single change would start it now.\n";
  std::string text = chinese ? "  以下任一修改可让它现在启动，改动最小的在前：\n"
                             : "  It would start now with one of these, the smallest first:\n";
  const std::size_t shown = std::min(changes.size(), kMostChanges);
  for (std::size_t i = 0; i < shown; ++i) text += "    " + change_text(changes[i], language) + "\n";
  const std::string more = std::to_string(changes.size() - shown);
  if (shown < changes.size())
    text += chinese ? "    另有 " + more + " 项；-o json 显示全部\n"
                    : "    " + more + " more; -o json shows all\n";
  return text;
}

std::string evictions_text(const EvictionsView& evictions, Instant now, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string names;
  const std::size_t shown = std::min(evictions.names.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i)
    names += (i == 0 ? "" : chinese ? "、" : ", ") + evictions.names[i];
  if (shown < evictions.names.size()) names += ", …";
  if (evictions.when == "leaving")
    return chinese ? "  正在为它停止：" + names + "。\n"
                   : "  Being stopped for it: " + names + ".\n";
  const std::string in_time = short_duration(std::max(evictions.at - now, Duration{}));
  return chinese ? "  " + in_time + " 后可为它停止：" + names + "。\n"
                 : "  May be stopped for it in " + in_time + ": " + names + ".\n";
}

std::string estimate_text(const StartEstimateView& start, Instant now, Language language) {
  const bool chinese = language == Language::kChinese;
  const auto in_time = [&](Instant at) { return short_duration(std::max(at - now, Duration{})); };
  const std::string as_of = age(start.as_of, now);
  if (start.start.is_never()) {
    // Nothing will happen by itself: the reasons say all there is.
    if (start.horizon <= start.as_of) return {};
    const std::string far = in_time(start.horizon);
    return chinese ? "  推演到 " + far + " 后仍未见它启动（依据 " + as_of + " 前的状态）。\n"
                   : "  Its start is not within what was looked at, the next " + far + " (as of " +
                         as_of + " ago).\n";
  }
  const std::string share = std::to_string(std::lround(start.band_ratio * 100));
  const std::string learned = std::to_string(start.learned_starts);
  return chinese ? "  预计 " + in_time(start.start) + " 后启动；" + share + "% 区间为 " +
                       in_time(start.from) + " 至 " + in_time(start.until) + " 后（依据 " + as_of +
                       " 前的状态和 " + learned + " 次启动）。\n"
                 : "  Expected to start in " + in_time(start.start) + "; " + share + " % between " +
                       in_time(start.from) + " and " + in_time(start.until) + " from now (as of " +
                       as_of + " ago, learned from " + learned + " starts).\n";
}

}  // namespace

std::string start_text(const ExplainView& explain, Instant now, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string text;
  if (explain.evictions) text += evictions_text(*explain.evictions, now, language);
  if (explain.start) {
    text += estimate_text(*explain.start, now, language);
  } else if (explain.estimates_starts) {
    text += chinese ? "  启动时间尚未估计；几秒后再问。\n"
                    : "  Its start has not been estimated yet; ask again in a few seconds.\n";
  }
  if (explain.changes) text += changes_text(*explain.changes, language);
  return text;
}

}  // namespace gridfold
