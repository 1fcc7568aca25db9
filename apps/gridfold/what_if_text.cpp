#include "apps/gridfold/what_if_text.h"

#include <cmath>
#include <set>

#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostNames = 6;

std::string per_cent(std::optional<double> ratio) {
  if (!ratio) return "-";
  const auto tenths = std::llround(*ratio * 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%";
}

// At most some names, each once.
std::string names(const std::vector<std::string>& all, Language language) {
  std::string text;
  std::set<std::string> seen;
  for (const std::string& name : all) {
    if (!seen.insert(name).second) continue;
    if (seen.size() > kMostNames) return text + (language == Language::kChinese ? "、…" : ", …");
    text += (text.empty() ? "" : language == Language::kChinese ? "、" : ", ") + name;
  }
  return text;
}

std::string table_of(const WhatIfView& answer, Language language, TableHeaders headers) {
  const bool chinese = language == Language::kChinese;
  Table table(chinese ? std::vector<std::string>{"", "现状", "修改后"}
                      : std::vector<std::string>{"", "NOW", "CHANGED"});
  const auto row = [&](const char* english, const char* in_chinese, auto of) {
    table.add_row({chinese ? in_chinese : english, of(answer.now), of(answer.changed)});
  };
  const std::string waiting = (chinese ? " / " : " of ") + std::to_string(answer.waiting_jobs);
  row("waiting jobs that start", "会启动的等待作业",
      [&](const WhatIfSideView& side) { return std::to_string(side.starting_jobs) + waiting; });
  row("mean wait", "平均等待",
      [](const WhatIfSideView& side) { return short_duration(side.mean_wait); });
  row("95th percentile of waits", "等待的第 95 百分位",
      [](const WhatIfSideView& side) { return short_duration(side.p95_wait); });
  row("devices", "设备数",
      [](const WhatIfSideView& side) { return thousandths(side.devices_thousandths); });
  row("utilisation", "利用率",
      [](const WhatIfSideView& side) { return per_cent(side.utilisation); });
  row("evictions", "驱逐次数",
      [](const WhatIfSideView& side) { return std::to_string(side.evicted.size()); });
  return table.text(headers == TableHeaders::kShown);
}

std::string start_of(const WhatIfView::Submitted& job, const std::string& horizon, bool chinese) {
  if (!job.wait)
    return chinese ? job.name + " 在 " + horizon + " 内不会启动。\n"
                   : job.name + " does not start within " + horizon + ".\n";
  const std::string wait = short_duration(*job.wait);
  if (job.wait->ns == 0) return job.name + (chinese ? " 立即启动。\n" : " starts at once.\n");
  return chinese ? job.name + " 在 " + wait + " 后启动。\n"
                 : job.name + " starts in " + wait + ".\n";
}

}  // namespace

std::string what_if_text(const WhatIfView& answer, Language language, TableHeaders headers) {
  const bool chinese = language == Language::kChinese;
  const std::string horizon = short_duration(answer.horizon);
  std::string text = table_of(answer, language, headers);
  for (const auto& job : answer.submitted) text += start_of(job, horizon, chinese);
  if (!answer.changed.evicted.empty())
    text += chinese
                ? "修改后被驱逐：" + names(answer.changed.evicted, language) + "。\n"
                : "Evicted after the change: " + names(answer.changed.evicted, language) + ".\n";
  const std::string as_of = short_duration(answer.age);
  text += chinese ? "推演 " + horizon + "，不计新作业，依据 " + as_of +
                        " 前的状态；未启动的作业按全程计等待。\n"
                  : "The next " + horizon + " without new jobs, as of " + as_of +
                        " ago; a job that does not start counts with all of it.\n";
  if (!answer.now.complete || !answer.changed.complete)
    text += chinese ? "事件数用尽，未能推演到所问的时间。\n"
                    : "It ran out of events before the time that was asked about.\n";
  return text;
}

}  // namespace gridfold
