#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace gridfold {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid: return "invalid";
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kUnauthorised: return "unauthorised";
    case ErrorKind::kConflict: return "conflict";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kInfeasible: return "infeasible";
    case ErrorKind::kLimit: return "limit";
    case ErrorKind::kCorrupt: return "corrupt";
    case ErrorKind::kInternal: return "internal";
  }
  return "internal";
}

std::string Error::describe() const {
  std::string text;
  if (position.line > 0) {
    text += "line " + std::to_string(position.line);
    if (position.column > 0) text += ", column " + std::to_string(position.column);
    text += ": ";
  }
  if (!field.empty()) text += field + ": ";
  text += message;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

Error Error::with_context(std::string_view context) const {
  Error copy = *this;
  copy.message = std::string(context) + ": " + message;
  return copy;
}

Error from_errno(int error_number, std::string_view what) {
  Error error;
  switch (error_number) {
    case ENOENT: error.kind = ErrorKind::kNotFound; break;
    case ENOSPC:
    case EROFS:
    case EDQUOT: error.kind = ErrorKind::kUnavailable; break;
    default: error.kind = ErrorKind::kInternal; break;
  }
  error.message = std::string(what) + ": " + std::strerror(error_number);
  return error;
}

}  // namespace gridfold
