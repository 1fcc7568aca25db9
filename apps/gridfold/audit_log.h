// The audit log: who asked for what and how it was answered, a JSON object a
// line, append-only.
#pragma once

#include <memory>
#include <string>

#include "api/http_server.h"
#include "base/result.h"
#include "control/clock.h"

namespace gridfold {

class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(const std::string& path, const Clock& clock);
  ~AuditLog();
  // Written at once. A full disk loses lines, never requests.
  void write(const AuditEntry& entry);

 private:
  AuditLog(int descriptor, const Clock& clock) : descriptor_(descriptor), clock_(clock) {}
  int descriptor_;
  const Clock& clock_;
};

}  // namespace gridfold
