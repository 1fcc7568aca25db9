#include "simulator/swf_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/quote.h"
#include "simulator/philly_trace.h"

namespace gridfold {
namespace {

constexpr std::array<const char*, 18> kFields = {"job_number",
                                                 "submit_time",
                                                 "wait_time",
                                                 "run_time",
                                                 "allocated_processors",
                                                 "average_cpu_time",
                                                 "used_memory",
                                                 "requested_processors",
                                                 "requested_time",
                                                 "requested_memory",
                                                 "status",
                                                 "user_id",
                                                 "group_id",
                                                 "executable",
                                                 "queue",
                                                 "partition",
                                                 "preceding_job",
                                                 "think_time"};
enum Field : std::size_t {
  kNumber = 0,
  kSubmit = 1,
  kRun = 3,
  kProcessors = 4,
  kRequested = 7,
  kUser = 11,
  kExecutable = 13,
};

constexpr std::int64_t kMaxSeconds = 1'000'000'000;  // keeps sums of times in range
constexpr std::int64_t kMaxProcessors = 1'000'000;
constexpr std::int64_t kMaxTasks = 65'536;

// One line of numbers, with what is needed to name a fault in it.
class SwfLine {
 public:
  SwfLine(std::string_view text, const std::string& file, int line)
      : text_(text), file_(file), line_(line) {}

  Result<void> split() {
    std::size_t at = 0;
    while ((at = text_.find_first_not_of(" \t", at)) != std::string_view::npos) {
      const std::size_t end = std::min(text_.find_first_of(" \t", at), text_.size());
      if (count_ < kFields.size()) fields_[count_] = text_.substr(at, end - at);
      ++count_;
      at = end;
    }
    if (count_ == kFields.size()) return {};
    Error error = invalid(file_ + ": " + std::to_string(count_) + " fields instead of 18");
    error.position = {line_, 1};
    error.hint = "a line of the Standard Workload Format has 18 numbers, -1 for unknown ones";
    return error;
  }

  // -1 is unknown. Fractions of a second, which some archives have, are cut.
  Result<std::int64_t> number(Field field, std::int64_t most) const {
    const std::string_view text = fields_[field];
    std::int64_t value = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const char* last = text.data() + text.size();
    if (code == std::errc() && end != last && *end == '.') {
      end = std::find_if(end + 1, last, [](char c) { return c < '0' || c > '9'; });
    }
    if (code == std::errc::result_out_of_range || (code == std::errc() && value > most)) {
      return fault(field, quote(text) + " is too large", "at most " + std::to_string(most));
    }
    if (code != std::errc() || end != last || value < -1) {
      return fault(field, quote(text) + " is not a number from -1 on", "-1 means unknown");
    }
    return value;
  }

  Error fault(Field field, std::string reason, std::string hint) const {
    Error error = invalid(file_ + ": " + std::move(reason));
    error.field = kFields[field];
    error.hint = std::move(hint);
    error.position = {line_, static_cast<int>(fields_[field].data() - text_.data()) + 1};
    return error;
  }

  std::string_view text(Field field) const { return fields_[field]; }
  // A number that stands for a name; empty when it is unknown.
  std::string word(Field field) const {
    return fields_[field] == "-1" ? std::string() : std::string(fields_[field]);
  }

 private:
  std::string_view text_;
  const std::string& file_;
  int line_;
  std::array<std::string_view, 18> fields_{};
  std::size_t count_ = 0;
};

struct SwfJob {
  std::int64_t submit = 0, run = 0, processors = 0;
};
Result<SwfJob> read_job(const SwfLine& line) {
  const auto submit = line.number(kSubmit, kMaxSeconds);
  if (!submit) return submit.error();
  const auto run = line.number(kRun, kMaxSeconds);
  if (!run) return run.error();
  auto processors = line.number(kProcessors, kMaxProcessors);
  if (!processors) return processors.error();
  if (*processors <= 0) {
    processors = line.number(kRequested, kMaxProcessors);
    if (!processors) return processors.error();
  }
  if (*submit < 0) return line.fault(kSubmit, "is unknown", "a job needs a time of submission");
  if (*run < 0) return line.fault(kRun, "is unknown", "a job needs a run time; leave the line out");
  if (*processors <= 0) {
    return line.fault(kProcessors, "is unknown, and so is requested_processors",
                      "a job needs at least one processor; leave the line out");
  }
  return SwfJob{*submit, *run, *processors};
}

Result<GangSplit> split_processors(const SwfLine& line, std::int64_t processors,
                                   std::int64_t cores_per_node) {
  const GangSplit split = split_gang(processors, std::max<std::int64_t>(cores_per_node, 1));
  if (split.tasks <= kMaxTasks) return split;
  return line.fault(kProcessors, "needs a gang of " + std::to_string(split.tasks) + " tasks",
                    "at most " + std::to_string(kMaxTasks) + "; give the nodes more cores");
}

JobSpec gang(const GangSplit& split) {
  Role role;
  role.count = role.min = split.tasks;
  role.each.cpu = MilliCores(split.each * 1000);
  JobSpec spec;
  spec.roles.push_back(std::move(role));
  return spec;
}

}  // namespace

Result<Workload> read_swf(std::string_view text, const std::string& file,
                          std::int64_t millicores_per_node) {
  Workload workload;
  workload.name = file;
  ShapeTable<std::int64_t> shapes(workload);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view content = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    content = content.substr(0, content.find(';'));
    if (!content.empty() && content.back() == '\r') content.remove_suffix(1);
    if (content.find_first_not_of(" \t") == std::string_view::npos) continue;
    SwfLine line(content, file, number);
    if (const auto split = line.split(); !split) return split.error();
    const auto job = read_job(line);
    if (!job) return job.error();
    const auto split = split_processors(line, job->processors, millicores_per_node / 1000);
    if (!split) return split.error();
    first = std::min(first, job->submit);
    workload.jobs.push_back({"swf-" + std::string(line.text(kNumber)),
                             shapes.find_or_add(job->processors, [&] { return gang(*split); }),
                             Duration::seconds(job->submit), Duration::seconds(job->run),
                             line.word(kUser), line.word(kExecutable)});
  }
  for (auto& job : workload.jobs) job.arrives = job.arrives.value() - Duration::seconds(first);
  return workload;
}

}  // namespace gridfold
