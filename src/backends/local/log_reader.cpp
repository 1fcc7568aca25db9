#include "backends/local/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backends/local/files.h"

namespace gridfold::local {
namespace {

// One answer is held in memory whole.
constexpr std::size_t kMaxChunk = 16u << 20;

Result<std::string> read_at(int file, std::uint64_t offset, std::size_t limit) {
  std::string bytes(std::min(limit, kMaxChunk), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n =
        ::pread(file, bytes.data() + got, bytes.size() - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return from_errno(errno, "read the log");
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

Result<LogChunk> read_log_file(int tasks, const AttemptName& name, LogStream stream,
                               std::uint64_t offset, std::size_t limit) {
  const Error nothing = not_found("task " + std::to_string(name.index) + ", attempt " +
                                  std::to_string(name.attempt) + ": there is no log");
  if (!is_safe_name(name.job_uid)) return nothing;
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return invalid("offset " + std::to_string(offset) + " is beyond any file");
  }
  const auto folder = open_beneath(tasks, name.path(), O_RDONLY | O_DIRECTORY);
  if (!folder) return nothing;
  // Asked before the file is read: what comes later than this answer is still
  // to be read, however fast the task ends.
  const auto status = read_status(folder->get());
  const bool whole = status && status->is_over();
  LogChunk chunk{.next_offset = offset, .ended = whole};
  const auto file = open_beneath(folder->get(), stream == LogStream::kOutput ? "stdout" : "stderr",
                                 O_RDONLY | O_NONBLOCK);
  struct stat about {};
  if (!file) {
    // Not begun yet (it may appear this very moment), or never; but a link in
    // its place is no log at all.
    const char* path = stream == LogStream::kOutput ? "stdout" : "stderr";
    const bool there = ::fstatat(folder->get(), path, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && !S_ISREG(about.st_mode)) return nothing;
    return chunk;
  }
  if (::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode)) return nothing;
  auto bytes = read_at(file->get(), offset, limit);
  if (!bytes) return bytes.error();
  chunk.bytes = std::move(*bytes);
  chunk.next_offset = offset + chunk.bytes.size();
  chunk.ended = whole && chunk.next_offset >= static_cast<std::uint64_t>(about.st_size);
  return chunk;
}

}  // namespace gridfold::local
