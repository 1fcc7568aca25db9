#include "apps/gridfold/job_output.h"

#include <algorithm>

#include "apps/gridfold/class_text.h"

namespace gridfold {
namespace {

constexpr std::size_t kReasonWidth = 60;

std::string nodes_text(const JobView& job) {
  if (job.nodes.empty()) return "-";
  if (job.nodes.size() == 1) return job.nodes.front();
  return job.nodes.front() + " +" + std::to_string(job.nodes.size() - 1);
}

std::string why(const JobView& job, Language language) {
  if (!job.reason) return "";
  return shorten(reason_sentence(*job.reason, language), kReasonWidth);
}

// Since it was submitted while it waits, since its start while it runs, since
// its end afterwards.
Instant moment_of_state(const JobView& job) {
  if (!job.ended_at.is_never()) return job.ended_at;
  if (job.state != "pending" && !job.started_at.is_never()) return job.started_at;
  return job.submitted_at;
}

std::string time_text(Instant time, Instant now) {
  return time.is_never() ? "-" : to_rfc3339(time) + " (" + age(time, now) + " ago)";
}

std::string task_devices(const TaskView& task) {
  if (task.devices.empty()) return "-";
  std::string text;
  for (const auto index : task.devices) text += (text.empty() ? "" : ",") + std::to_string(index);
  return text + (task.emulated ? "*" : "");
}

Table task_table(const JobView& job) {
  Table table({"TASK", "ROLE", "PHASE", "ATTEMPT", "NODE", "DEVICES", "ENDED"});
  for (const auto& task : job.tasks)
    table.add_row({std::to_string(task.index), task.role, task.phase, std::to_string(task.attempt),
                   task.node.empty() ? "-" : task.node, task_devices(task), exit_text(task)});
  return table;
}

}  // namespace

std::string reason_sentence(const ReasonView& reason, Language language) {
  return reason_text(reason.code, reason.params, language);
}

std::string devices_text(const std::vector<DeviceCountView>& devices) {
  std::string text;
  for (const auto& device : devices) {
    if (!text.empty()) text += ", ";
    text += std::to_string(device.count) + " " + device.device_class;
    if (!device.model.empty()) text += " " + device.model;
    if (device.emulated) text += "*";
  }
  return text.empty() ? "-" : text;
}

std::string emulated_note(const std::vector<JobView>& jobs) {
  for (const auto& job : jobs) {
    for (const auto& device : job.devices)
      if (device.emulated) return "* emulated device";
    for (const auto& task : job.tasks)
      if (task.emulated) return "* emulated device";
  }
  return "";
}

std::string exit_text(const TaskView& task) {
  if (!task.has_exit) return "-";
  if (task.out_of_memory) return "out of memory";
  if (task.lost) return "lost";
  if (task.exit_signal != 0) return "signal " + std::to_string(task.exit_signal);
  return "exit " + std::to_string(task.exit_code);
}

Table job_table(const std::vector<JobView>& jobs, Instant now, Language language) {
  Table table(
      {"JOB", "NAME", "CLASS", "QUEUE", "STATE", "TASKS", "NODES", "DEVICES", "FOR", "WHY"});
  for (const auto& job : jobs)
    table.add_row({std::to_string(job.number), shorten(job.name, 32), job.workload_class, job.queue,
                   coloured(job.state, colour_of_state(job.state)),
                   std::to_string(job.tasks_running) + "/" + std::to_string(job.tasks_total),
                   nodes_text(job), devices_text(job.devices), age(moment_of_state(job), now),
                   why(job, language)});
  return table;
}

std::string describe_job(const JobView& job, Instant now, Language language) {
  Table facts({"", ""});
  const auto add = [&](const char* name, std::string value) {
    facts.add_row({name, std::move(value)});
  };
  add("job", std::to_string(job.number) + "  " + job.name);
  add("id", job.id);
  add("state", coloured(job.state, colour_of_state(job.state)));
  if (job.reason) add("why", reason_sentence(*job.reason, language));
  add("class", class_text(job, language) + ", queue " + job.queue + ", priority " +
                   std::to_string(job.priority));
  if (job.array_limit > 0)
    add("array", "at most " + std::to_string(job.array_limit) + " of its jobs at a time");
  add("submitted", time_text(job.submitted_at, now));
  add("started", time_text(job.started_at, now));
  add("ended", time_text(job.ended_at, now));
  add("waited", short_duration(Duration{static_cast<std::int64_t>(job.waited_seconds * 1e9)}));
  if (job.runs > 1 || job.evictions > 0)
    add("runs", std::to_string(job.runs) + ", evicted " + std::to_string(job.evictions) + " times");
  add("devices", devices_text(job.devices));
  std::string text = facts.text(false) + "\n" + task_table(job).text(true);
  if (const auto note = emulated_note({job}); !note.empty()) text += note + "\n";
  return text;
}

}  // namespace gridfold
