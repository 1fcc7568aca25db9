#include "simulator/workload_file.h"

#include <algorithm>
#include <array>

#include "wire/document.h"
#include "wire/field.h"
#include "wire/job_reader.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 1> kFileKeys = {"jobs"};
constexpr std::array<std::string_view, 5> kEntryKeys = {"arrive", "duration", "count", "every",
                                                        "job"};
constexpr Duration kLongest = Duration::hours(24 * 365);  // keeps sums of times in range

Duration duration_or(const Field& entry, std::string_view key, Duration fallback) {
  const auto field = entry.find(key);
  return field ? read_duration(*field, Duration{}, kLongest) : fallback;
}

JobSpec read_spec(const Field& entry) {
  const auto field = entry.find("job");
  if (!field) {
    entry.fail("'job' is missing", "add job: with what a job file says of a job");
    return {};
  }
  JobTemplate job = read_job(*field, JobForm::kFile);
  if (!job.indices.empty()) {
    field->fail("an array has no place in a workload file", "use count: beside job:");
  }
  if (!job.spec.after.empty()) {
    field->fail("dependencies have no place in a workload file", "leave after: out");
  }
  return std::move(job.spec);
}

// The entry's jobs, once more for each of its count.
void add_jobs(const Field& entry, Workload& workload, const Diagnosis& diagnosis) {
  if (!check_map(entry, kEntryKeys)) return;
  const Duration arrive = duration_or(entry, "arrive", {});
  const Duration every = duration_or(entry, "every", {});
  const Duration duration = duration_or(entry, "duration", {});
  if (!entry.find("duration")) {
    entry.fail("'duration' is missing", "say how long the job runs, such as duration: 20m");
  }
  const auto count = entry.find("count");
  const std::int64_t copies = count ? read_integer(*count, 1, kMaxWorkloadFileJobs) : 1;
  JobSpec spec = read_spec(entry);
  if (diagnosis.error()) return;
  if (static_cast<std::int64_t>(workload.jobs.size()) + copies > kMaxWorkloadFileJobs) {
    return entry.fail(
        "the workload has more than " + std::to_string(kMaxWorkloadFileJobs) + " jobs",
        "give fewer");
  }
  if ((copies - 1) > (kLongest.ns / std::max<std::int64_t>(every.ns, 1))) {
    return entry.fail("the last of these jobs would come after more than a year",
                      "give a smaller count or every");
  }
  const std::string name = std::move(spec.name);
  spec.name.clear();
  const auto shape = static_cast<std::uint32_t>(workload.shapes.size());
  workload.shapes.push_back(std::move(spec));
  for (std::int64_t i = 0; i < copies; ++i) {
    workload.jobs.push_back({copies > 1 ? name + "-" + std::to_string(i) : name, shape,
                             arrive + Duration{every.ns * i}, duration});
  }
}

}  // namespace

Result<Workload> parse_workload_file(std::string_view text, const std::string& file) {
  const auto documents = read_documents(text, DocumentFormat::kYaml);
  if (!documents) return documents.error().with_context(file);
  if (documents->size() != 1) {
    return invalid(file + ": a workload file is one document, not " +
                   std::to_string(documents->size()));
  }
  Diagnosis diagnosis;
  const Field root(documents->front(), diagnosis);
  Workload workload;
  workload.name = file;
  if (check_map(root, kFileKeys)) {
    const auto jobs = root.find("jobs");
    if (!jobs) {
      root.fail("'jobs' is missing", "add jobs: with at least one entry");
    } else if (!jobs->is_list()) {
      jobs->fail_kind("a list", "such as - {arrive: 0s, duration: 20m, job: {…}}");
    } else {
      for (std::size_t i = 0; i < jobs->size(); ++i) {
        add_jobs(jobs->item(i), workload, diagnosis);
      }
    }
  }
  if (diagnosis.error()) return diagnosis.error()->with_context(file);
  return workload;
}

}  // namespace gridfold
