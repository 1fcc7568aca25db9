// Reads on in the file to which a job appends what it says of itself: JSON
// lines, one object each, such as
//
//   {"step": 1200, "step_seconds": 0.21, "sync_seconds": 0.03, "batch": 256, "noise": 812.5}
//   {"saved": 1200, "save_seconds": 1.8}
//
// The file is the job's: whatever stands there, reading is bounded and leads to
// nothing but numbers. Unknown keys, values out of range, lines that are too
// long or no JSON are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/report.h"

namespace gridfold::local {

// Bytes that are read at once, at most; the rest is read the next time.
inline constexpr std::size_t kMaxReportBytes = 64 << 10;
inline constexpr std::size_t kMaxReportLine = 4 << 10;

// What one line says; empty when it says nothing that we know.
TaskReport parse_report_line(std::string_view line);

class ReportFile {
 public:
  // What was appended since the last call, the latest of each kind. `path` lies
  // beneath `folder`; empty when there is no such file, or it is not a plain one.
  TaskReport read(int folder, std::string_view path);

 private:
  std::uint64_t offset_ = 0;
  std::string rest_;       // of a line not yet ended
  bool too_long_ = false;  // the line that `rest_` began is passed over
};

}  // namespace gridfold::local
