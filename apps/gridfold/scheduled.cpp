#include "apps/gridfold/scheduled.h"

#include "apps/gridfold/job_source.h"
#include "base/quote.h"
#include "wire/dependencies.h"
#include "wire/job_file.h"

namespace gridfold {
namespace {

Result<std::vector<JobSpec>> read_jobs(const std::string& path) {
  JobSource source;
  source.file = path;
  const auto read = read_source(source, {});
  if (!read) return read.error();
  auto jobs =
      parse_job_file(read->body, read->content_type == "application/json" ? JobFileFormat::kJson
                                                                          : JobFileFormat::kYaml);
  if (!jobs) return jobs;
  const auto nobody = [](std::string_view) { return false; };
  if (const auto trouble = find_dependency_trouble(*jobs, nobody)) {
    Error error = invalid(trouble->message);
    error.field = "after";
    error.hint = trouble->hint;
    return error;
  }
  return jobs;
}

}  // namespace

Result<std::vector<ScheduledJobs>> read_scheduled_jobs(std::span<const ScheduleConfig> schedule) {
  std::vector<ScheduledJobs> all;
  for (const ScheduleConfig& one : schedule) {
    auto jobs = read_jobs(one.job);
    if (!jobs) return jobs.error().with_context("schedule " + quote(one.name) + ", " + one.job);
    for (JobSpec& job : *jobs) job.tenant = one.tenant;
    all.push_back({one.name, *one.rule, one.tenant, std::move(*jobs)});
  }
  return all;
}

}  // namespace gridfold
