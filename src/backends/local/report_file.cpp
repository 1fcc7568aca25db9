#include "backends/local/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "backends/local/files.h"

namespace gridfold::local {
namespace {

using Json = nlohmann::json;

constexpr double kMostSeconds = 10.0 * 366 * 24 * 3600;
constexpr double kMostCount = 1e15;

std::optional<double> number(const Json& line, const char* key, double most) {
  const auto it = line.find(key);
  if (it == line.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>();
  if (!std::isfinite(value) || value < 0 || value > most) return std::nullopt;
  return value;
}

std::optional<Duration> seconds(const Json& line, const char* key) {
  const auto value = number(line, key, kMostSeconds);
  if (!value) return std::nullopt;
  return Duration{static_cast<std::int64_t>(*value * 1e9)};
}

std::optional<std::int64_t> count(const Json& line, const char* key, double unit = 1) {
  const auto value = number(line, key, kMostCount);
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value * unit);
}

template <class T>
void take_newer(std::optional<T>& into, const std::optional<T>& value) {
  if (value) into = value;
}

void merge(TaskReport& into, const TaskReport& newer) {
  take_newer(into.saved, newer.saved);
  take_newer(into.save_time, newer.save_time);
  take_newer(into.step, newer.step);
  take_newer(into.step_time, newer.step_time);
  take_newer(into.sync_time, newer.sync_time);
  take_newer(into.input_time, newer.input_time);
  take_newer(into.devices_used, newer.devices_used);
  take_newer(into.batch, newer.batch);
  take_newer(into.noise_thousandths, newer.noise_thousandths);
}

}  // namespace

TaskReport parse_report_line(std::string_view line) {
  TaskReport report;
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return report;
  report.saved = count(json, "saved");
  report.save_time = seconds(json, "save_seconds");
  report.step = count(json, "step");
  report.step_time = seconds(json, "step_seconds");
  report.sync_time = seconds(json, "sync_seconds");
  report.input_time = seconds(json, "input_seconds");
  report.devices_used = count(json, "devices_used");
  report.batch = count(json, "batch");
  report.noise_thousandths = count(json, "noise", 1000);
  return report;
}

TaskReport ReportFile::read(int folder, std::string_view path) {
  TaskReport report;
  // Not blocking: it could be a pipe.
  const auto file = open_beneath(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return report;
  struct stat about {};
  if (::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode)) return report;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size < offset_) {  // written anew
    offset_ = 0;
    rest_.clear();
    too_long_ = false;
  }
  if (size == offset_) return report;
  std::string bytes(std::min<std::uint64_t>(size - offset_, kMaxReportBytes), '\0');
  const ssize_t got = ::pread(file->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_));
  if (got <= 0) return report;
  offset_ += static_cast<std::uint64_t>(got);
  std::string_view left(bytes.data(), static_cast<std::size_t>(got));
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    const std::string_view piece = left.substr(0, end);
    if (!too_long_) rest_.append(piece);
    too_long_ |= rest_.size() > kMaxReportLine;
    if (too_long_) rest_.clear();
    if (end == std::string_view::npos) break;
    if (!too_long_) merge(report, parse_report_line(rest_));
    rest_.clear();
    too_long_ = false;
    left.remove_prefix(end + 1);
  }
  return report;
}

}  // namespace gridfold::local
