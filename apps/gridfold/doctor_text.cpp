#include "apps/gridfold/doctor_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

using std::string_view_literals::operator""sv;

struct Words {
  std::string_view key, english, chinese;
};
constexpr std::array kCauses = {
    Words{"not_pooled", "quota, limits or drained nodes keep devices from those who wait",
          "配额、上限或已排空的节点使等待者得不到设备"},
    Words{"wrong_shape", "what is free is not of the kind or form asked for",
          "空闲设备的型号或形状与所需不符"},
    Words{"static_holding", "jobs hold devices that they do not use", "作业占有而不使用的设备"},
    Words{"input_bound", "steps wait for what they read", "训练步在等待输入数据"},
    Words{"network_bound", "steps wait for other tasks", "训练步在等待其他任务（网络）"},
    Words{"gang_wait", "devices stand idle for gangs that are not complete",
          "设备空等尚未凑齐的任务组"},
    Words{"faults", "nodes or devices are out of order", "节点或设备发生故障"},
    Words{"too_few", "there are not enough devices", "设备确实不足"},
};

std::string cause_text(const std::string& cause, bool chinese) {
  const auto found = std::find_if(kCauses.begin(), kCauses.end(),
                                  [&](const Words& words) { return words.key == cause; });
  if (found == kCauses.end()) return cause;
  return std::string(chinese ? found->chinese : found->english);
}

std::string hours(double value) {
  char text[48];
  std::snprintf(text, sizeof text, value < 10 ? "%.4f" : "%.1f", value);
  return text;
}

std::string share(double part, double whole) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f%%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

std::string names_of(const DiagnosisView::Fix& fix) {
  std::string text;
  for (const std::string& name : fix.names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The commands stay as they are; what is said around them is not.
constexpr std::array kChineseFixes = {
    std::pair{"any_model"sv, "作业文件：去掉 each.gpu_model"sv},
    std::pair{"fewer_cores"sv, "作业文件：调低 each.cpu 和 each.memory"sv},
    std::pair{"any_domain"sv, "作业文件：把 topology 的 require 改为 {prefer: LEVEL}"sv},
    std::pair{"fewer_devices"sv, "作业文件：把 each.gpu 调低到实际用到的数量"sv},
    std::pair{
        "faster_input"sv,
        "gridfold job explain JOB；增加数据加载进程，或把数据副本放得更近，直到 input_seconds "
        "不超过 step_seconds 的 <share>"sv},
    std::pair{
        "faster_network"sv,
        "gridfold job explain JOB；在作业文件中写 topology: {require: LEVEL}，或换用更快的链路，"
        "直到 sync_seconds 不超过 step_seconds 的 <share>"sv},
    std::pair{
        "queue_limit"sv,
        "配置文件：[[queues]] name = \"<queue>\", devices = { <resource> = \"<limit>\" }，然后执行 "
        "gridfold config reload；可先试算：gridfold what-if --queue-limit "
        "<queue>:<resource>=<limit>"sv},
    std::pair{"repair_node"sv,
              "gridfold node drain <node>；修复后执行：gridfold node undrain <node>"sv},
    std::pair{"plan"sv, "配置文件：backfill = \"<backfill>\", run_times = \"<run_times>\""sv},
    std::pair{"consolidate"sv, "配置文件：consolidate = true"sv},
};

std::string value_of(const DiagnosisView::Fix& fix, std::string_view name) {
  const auto is = [&](std::string_view key) {
    return [key](const Reason::Param& param) { return param.first == key; };
  };
  const auto find = [&](std::string_view key) {
    return std::find_if(fix.params.begin(), fix.params.end(), is(key));
  };
  if (name == "share" || name == "limit") {
    const auto it = find(name == "share" ? "step_share_millionths" : "limit_thousandths");
    const auto* number = it == fix.params.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
    if (number == nullptr) return "?";
    return name == "share" ? std::to_string(*number / 10'000) + "%" : thousandths(*number);
  }
  const auto it = find(name);
  const auto* text = it == fix.params.end() ? nullptr : std::get_if<std::string>(&it->second);
  return text == nullptr ? "?" : *text;
}

std::string fix_text(const DiagnosisView::Fix& fix, bool chinese) {
  const auto known = std::find_if(kChineseFixes.begin(), kChineseFixes.end(),
                                  [&](const auto& entry) { return entry.first == fix.kind; });
  if (!chinese || known == kChineseFixes.end()) return fix.command;
  std::string_view rest = known->second;
  std::string text;
  while (true) {
    const auto open = rest.find('<');
    text += rest.substr(0, open);
    if (open == std::string_view::npos) return text;
    const auto close = rest.find('>', open);
    text += value_of(fix, rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
}

std::string fix_line(const DiagnosisView::Fix& fix, bool chinese) {
  std::string text = "     " + fix_text(fix, chinese) + "\n";
  if (fix.jobs == 0) return text;
  const std::string names = names_of(fix);
  text += chinese ? "     涉及 " + std::to_string(fix.jobs) + " 个作业"
                  : "     " + std::to_string(fix.jobs) + (fix.jobs == 1 ? " job" : " jobs");
  if (!names.empty()) text += (chinese ? "，例如 " : ", such as ") + names;
  return text + "\n";
}

std::string finding_text(const DiagnosisView::Finding& finding, std::size_t number, bool chinese) {
  const bool buy = finding.cause == "too_few";
  std::string text = std::to_string(number) + ". " + cause_text(finding.cause, chinese);
  const std::string amount = hours(finding.given_back);
  const std::string ratio = share(finding.ratio, 1);
  if (chinese)
    text += "：" + std::string(buy ? "可多完成 " : "可收回 ") + amount + " 设备小时（占供给的 " +
            ratio + "），账目中可见 " + hours(finding.seen) + " 设备小时\n";
  else
    text += ": " + amount + " device-hours " + (buy ? "more work" : "back") + " (" + ratio +
            " of what was supplied); " + hours(finding.seen) + " seen in the account\n";
  for (const auto& fix : finding.fixes) text += fix_line(fix, chinese);
  return text;
}

std::string unknowns(const DiagnosisView& diagnosis, bool chinese) {
  std::string text;
  const double silent = diagnosis.hours("silent");
  if (silent > 0)
    text += chinese ? "未知：" + hours(silent) +
                          " 设备小时由不上报的作业占有，无法判断是否忙碌；见 GRIDFOLD_REPORT。\n"
                    : "Not known: whether " + hours(silent) +
                          " device-hours held by jobs that report nothing were busy; see "
                          "GRIDFOLD_REPORT.\n";
  if (diagnosis.guessed_jobs > 0)
    text += chinese ? std::to_string(diagnosis.guessed_jobs) + " / " +
                          std::to_string(diagnosis.jobs) + " 个作业的运行时间是估计值。\n"
                    : "How long " + std::to_string(diagnosis.guessed_jobs) + " of " +
                          std::to_string(diagnosis.jobs) + " jobs run is a guess.\n";
  if (!diagnosis.complete)
    text +=
        chinese ? "回放的事件数用尽，未到终点。\n" : "A replay ran out of events before the end.\n";
  return text;
}

}  // namespace

std::string doctor_text(const DiagnosisView& diagnosis, Language language) {
  const bool chinese = language == Language::kChinese;
  const double supplied = diagnosis.hours("supplied");
  const double busy = diagnosis.hours("busy");
  const double free = diagnosis.hours("idle_free");
  std::string text = to_rfc3339(diagnosis.since) + " – " + to_rfc3339(diagnosis.until) + "\n";
  text += chinese ? "供给 " + hours(supplied) + " 设备小时：忙碌 " + share(busy, supplied) +
                        "，空闲且无人需要 " + share(free, supplied) + "，损失 " +
                        share(supplied - busy - free, supplied) + "。\n"
                  : "Of " + hours(supplied) + " device-hours " + share(busy, supplied) +
                        " were busy, " + share(free, supplied) + " idle with nobody asking, " +
                        share(supplied - busy - free, supplied) + " lost.\n";
  const bool much_lost = supplied - busy - free >= 0.1 * supplied;
  if (diagnosis.findings.empty() && much_lost)
    text += chinese ? "原因不明：此处已知的改动都收回不了 2% 以上。\n"
                    : "Why is not known: no fix that is known here would give back more than 2%.\n";
  else if (diagnosis.findings.empty())
    text += chinese ? "没有发现问题：任何一项改动都收回不了 2% 以上。\n"
                    : "Nothing is wrong: no fix would give back more than 2%.\n";
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i)
    text += finding_text(diagnosis.findings[i], i + 1, chinese);
  if (diagnosis.findings.size() > 1 && diagnosis.recoverable > 0)
    text += chinese ? "除增购外合计可收回 " + hours(diagnosis.recoverable) + " 设备小时。\n"
                    : "All of them without new devices: " + hours(diagnosis.recoverable) +
                          " device-hours back.\n";
  return text + unknowns(diagnosis, chinese);
}

}  // namespace gridfold
