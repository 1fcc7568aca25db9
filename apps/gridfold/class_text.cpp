#include "apps/gridfold/class_text.h"

namespace gridfold {
namespace {

// "8 devices", "1 device", "no devices".
std::string amount(std::int64_t number, const char* english, const char* chinese,
                   Language language) {
  if (language == Language::kChinese)
    return number == 0 ? "无" + std::string(chinese) : std::to_string(number) + " 个" + chinese;
  return (number == 0 ? "no" : std::to_string(number)) + " " + english + (number == 1 ? "" : "s");
}

std::vector<std::string> features(const ClassFromView& from, Language language) {
  const bool chinese = language == Language::kChinese;
  std::vector<std::string> parts;
  if (from.rule == "training") parts.emplace_back(chinese ? "声明了训练信息" : "declares training");
  if (from.rule == "communication")
    parts.emplace_back(chinese ? "声明了通信或拓扑" : "says how its tasks communicate or lie");
  if (from.elastic) parts.emplace_back(chinese ? "规模可伸缩" : "elastic");
  if (from.tasks > 1) parts.push_back(amount(from.tasks, "task", "任务", language));
  parts.push_back(amount(from.devices, "device", "设备", language));
  parts.push_back(amount(from.ports, "port", "端口", language));
  return parts;
}

}  // namespace

std::string class_text(const JobView& job, Language language) {
  if (!job.class_from) return job.workload_class;
  const bool chinese = language == Language::kChinese;
  std::string list;
  for (const std::string& part : features(*job.class_from, language))
    list += (list.empty() ? "" : chinese ? "，" : ", ") + part;
  return job.workload_class + (chinese ? "（依据：" + list + "）" : " (from: " + list + ")");
}

}  // namespace gridfold
