// How jobs are shown in tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/output.h"

namespace gridfold {

// Number, name, class, queue, state, tasks, where, devices, age, why.
Table job_table(const std::vector<JobView>& jobs, Instant now, Language language);
// Everything about one job, a line each.
std::string describe_job(const JobView& job, Instant now, Language language);
// "2 gpu H100*": the star marks emulated devices.
std::string devices_text(const std::vector<DeviceCountView>& devices);
// "* emulated device" when any is, else "".
std::string emulated_note(const std::vector<JobView>& jobs);
// "exit 1", "signal 9", "lost", "-".
std::string exit_text(const TaskView& task);
std::string reason_sentence(const ReasonView& reason, Language language);

}  // namespace gridfold
