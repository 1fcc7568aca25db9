// One output stream of a task: a pipe whose other end the task writes to, and
// the file that keeps what came through.
//
// The file is bounded. Past its bound, or while the disk is full, output is
// still read, so that the task never blocks, and counted; finish() says so in
// one last line:
//
//   [gridfold: 1234 bytes of output were dropped: over the limit of 1000000 bytes]
#pragma once

#include <cstdint>
#include <string>

#include "backends/local/files.h"
#include "base/result.h"

namespace gridfold::local {

class LogWriter {
 public:
  // Makes `name` in `folder`; it must not exist yet.
  static Result<LogWriter> create(int folder, const std::string& name, std::int64_t limit_bytes);

  // The end that the task gets; closed by close_task_end() once it has it.
  int task_end() const { return task_end_.get(); }
  void close_task_end() { task_end_.reset(); }
  // Readable when there is something to drain; -1 once the stream has ended.
  int pipe() const { return pipe_.get(); }

  // Takes what the pipe holds now, without waiting.
  void drain();
  // Drains once more and adds the line about what was dropped.
  void finish();

 private:
  void keep(const char* bytes, std::size_t count);

  FileDescriptor pipe_;
  FileDescriptor task_end_;
  FileDescriptor file_;
  std::int64_t limit_ = 0;
  std::int64_t kept_ = 0;
  std::int64_t dropped_ = 0;
  bool disk_full_ = false;
};

}  // namespace gridfold::local
