#include "apps/gridfold/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/json_writer.h"

namespace gridfold {

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path, const Clock& clock) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return from_errno(errno, "open " + path);
  return std::unique_ptr<AuditLog>(new AuditLog(descriptor, clock));
}

AuditLog::~AuditLog() { close(descriptor_); }

void AuditLog::write(const AuditEntry& entry) {
  std::string line;
  JsonWriter(line)
      .begin_object()
      .key("time")
      .string(to_rfc3339(clock_.now()))
      .key("peer")
      .string(entry.peer)
      .key("method")
      .string(entry.method)
      .key("target")
      .string(entry.target)
      .key("status")
      .number(entry.status)
      .key("request_id")
      .string(entry.request_id)
      .end_object();
  line += '\n';
  // One write: lines of O_APPEND files do not mix.
  static_cast<void>(!::write(descriptor_, line.data(), line.size()));
}

}  // namespace gridfold
