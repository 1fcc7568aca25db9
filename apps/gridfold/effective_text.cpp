#include "apps/gridfold/effective_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

struct Words {
  std::string_view key, english, chinese;
};
constexpr std::array kWords = {
    Words{"supplied", "supplied", "供给"},
    Words{"pooled", "pooled", "入池"},
    Words{"allocated", "allocated", "已分配"},
    Words{"busy", "busy", "忙碌"},
    Words{"useful", "useful", "有效"},
    Words{"in_progress", "in progress", "进行中，尚未定论"},
    Words{"drained", "node drained", "节点已排空"},
    Words{"node_down", "node down", "节点失联"},
    Words{"quarantined", "quarantined: clean-up failed", "已隔离：清理失败"},
    Words{"faulty", "device faulty", "设备故障"},
    Words{"beyond_limits", "beyond the limits of all queues", "超出所有队列的上限"},
    Words{"no_demand", "idle: nobody asked", "空闲：无人需要"},
    Words{"gang_wait", "idle: too few for the gang in front", "空闲：不足以启动排在前面的成组作业"},
    Words{"shape", "idle: not where or how they are needed", "空闲：位置或形状不合"},
    Words{"stranded", "idle: no cores or memory beside them", "空闲：所在节点缺少核或内存"},
    Words{"wrong_kind", "idle: another kind is asked for", "空闲：所需为其他型号"},
    Words{"quota", "idle: quota of those who wait", "空闲：等待者受配额限制"},
    Words{"reserved", "idle: kept for a planned start", "空闲：为计划中的启动保留"},
    Words{"turn", "idle: others wait for their turn", "空闲：等待者尚未轮到"},
    Words{"starting", "starting", "启动中"},
    Words{"clearing", "clearing up", "清理中"},
    Words{"restart_wait", "waiting to restart", "等待重启"},
    Words{"evicted", "lost: evicted or moved", "损失：被驱逐或迁移"},
    Words{"failed", "lost: task failed", "损失：任务失败"},
    Words{"node_failed", "lost: node lost", "损失：节点丢失"},
    Words{"time_limit", "lost: time limit", "损失：超出时限"},
    Words{"cancelled", "lost: cancelled", "损失：被取消"},
    Words{"restarted", "lost: restarted", "损失：被重新启动"},
};

// A word that this program does not know is shown as it is.
std::string name_of(const std::string& key, Language language) {
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Words& w) { return w.key == key; });
  if (found == kWords.end()) return key;
  return std::string(language == Language::kChinese ? found->chinese : found->english);
}

std::string fixed(double value, const char* format) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

class Rows {
 public:
  Rows(const EffectiveView& view, Language language)
      : view_(view),
        language_(language),
        table_(language == Language::kChinese
                   ? std::vector<std::string>{"项目", "设备小时", "占比"}
                   : std::vector<std::string>{"PART", "DEVICE-HOURS", "SHARE"}) {}

  void figure(const std::string& key, double hours) { row("", key, hours); }
  void losses(const std::string& group) {
    for (const auto& losses : view_.losses) {
      if (losses.group != group) continue;
      for (const auto& [cause, hours] : losses.causes)
        if (hours > 0) loss(cause, hours);
    }
  }
  void loss(const std::string& key, double hours) { row("  - ", key, hours); }
  void unknown(const std::string& key) {
    table_.add_row(
        {name_of(key, language_), language_ == Language::kChinese ? "未知" : "unknown", ""});
  }
  std::string text() const { return table_.text(true); }

 private:
  void row(const std::string& indent, const std::string& key, double hours) {
    const double share = view_.supplied > 0 ? 100 * hours / view_.supplied : 0;
    table_.add_row(
        {indent + name_of(key, language_), fixed(hours, "%.4f"), fixed(share, "%.1f%%")});
  }

  const EffectiveView& view_;
  Language language_;
  Table table_;
};

std::string table_of(const EffectiveView& view, Language language) {
  Rows rows(view, language);
  rows.figure("supplied", view.supplied);
  rows.losses("not_pooled");
  rows.figure("pooled", view.pooled);
  rows.losses("idle");
  rows.figure("allocated", view.allocated);
  view.busy ? rows.figure("busy", *view.busy) : rows.unknown("busy");
  rows.losses("allocated_not_useful");
  if (view.in_progress > 0) rows.loss("in_progress", view.in_progress);
  rows.figure("useful", view.useful);
  return rows.text();
}

}  // namespace

std::string effective_text(const EffectiveReportView& report, Language language) {
  const bool chinese = language == Language::kChinese;
  if (report.classes.empty())
    return chinese ? "没有任何节点带有设备。\n" : "No node has devices.\n";
  std::string text;
  for (const auto& one : report.classes) {
    if (!text.empty()) text += "\n";
    text += one.device_class;
    if (one.emulated) text += chinese ? "（模拟）" : " (emulated)";
    text += chinese ? "，" : ", ";
    text += to_rfc3339(report.since) + " – " + to_rfc3339(report.until) + "\n";
    text += table_of(one.effective, language);
  }
  return text;
}

}  // namespace gridfold
