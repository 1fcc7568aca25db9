#include "backends/local/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gridfold::local {

Result<LogWriter> LogWriter::create(int folder, const std::string& name, std::int64_t limit_bytes) {
  LogWriter log;
  log.limit_ = limit_bytes;
  log.file_ = FileDescriptor(::openat(
      folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!log.file_.is_open()) return from_errno(errno, "make log " + name);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return from_errno(errno, "make the pipe of " + name);
  log.pipe_ = FileDescriptor(ends[0]);
  log.task_end_ = FileDescriptor(ends[1]);
  // Only our end: the task sees an ordinary, waiting pipe.
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return from_errno(errno, "set up " + name);
  return log;
}

void LogWriter::drain() {
  // Bounded, so that one chatty stream does not starve the other or a stop.
  char buffer[65536];
  for (int turn = 0; turn < 16 && pipe_.is_open(); ++turn) {
    const ssize_t n = ::read(pipe_.get(), buffer, sizeof buffer);
    if (n > 0) {
      keep(buffer, static_cast<std::size_t>(n));
    } else if (n == 0) {
      pipe_.reset();
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      pipe_.reset();
    }
  }
}

void LogWriter::keep(const char* bytes, std::size_t count) {
  const auto size = static_cast<std::int64_t>(count);
  // Once something was dropped nothing more is kept: a log has no holes.
  std::int64_t room = dropped_ > 0 ? 0 : std::min(size, limit_ - kept_);
  while (room > 0) {
    const ssize_t n = ::write(file_.get(), bytes, static_cast<std::size_t>(room));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      disk_full_ = true;
      break;
    }
    bytes += n;
    room -= n;
    kept_ += n;
    count -= static_cast<std::size_t>(n);
  }
  dropped_ += static_cast<std::int64_t>(count);
}

void LogWriter::finish() {
  // A writer outside the task's tree could hold the pipe for ever: take what
  // is there, a pipe's worth at a time, and no more than a log may hold.
  for (std::int64_t before = -1;
       pipe_.is_open() && before != kept_ + dropped_ && kept_ + dropped_ <= 2 * limit_;) {
    before = kept_ + dropped_;
    drain();
  }
  pipe_.reset();
  if (dropped_ == 0) return;
  const std::string why =
      disk_full_ ? "the disk was full" : "over the limit of " + std::to_string(limit_) + " bytes";
  write_all(file_.get(), "\n[gridfold: " + std::to_string(dropped_) +
                             " bytes of output were dropped: " + why + "]\n");
}

}  // namespace gridfold::local
