// Reads a task's output by byte offset, beneath the job's own folder only.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/local/records.h"
#include "base/result.h"
#include "control/backend.h"

namespace gridfold::local {

// `tasks` is STATE/tasks, open. kNotFound when there is no such attempt or its
// name is not one (case N12: a path in a job's name, a symbolic link in the
// log's place and a foreign id all look the same).
//
// `ended` is set once the attempt's last record says that its output is
// whole, and never before: the last line of a task is not lost (case N10).
Result<LogChunk> read_log_file(int tasks, const AttemptName& name, LogStream stream,
                               std::uint64_t offset, std::size_t limit);

}  // namespace gridfold::local
