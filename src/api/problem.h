// Errors as RFC 9457 problem documents:
//
//   {"type": "urn:gridfold:problem:NotFound", "title": "Not found", "status": 404,
//    "code": "NotFound", "params": {}, "detail": "no job named train",
//    "request_id": "…"}
//
// and, where they apply, field, hint, line, column, retry_after (seconds).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/http_message.h"
#include "base/result.h"

namespace gridfold {

struct Problem {
  int status = 500;
  std::string code = "Internal";  // stable, for programs
  std::string title;              // the code's meaning, the same each time
  std::string detail;             // this case
  std::string field = {};         // path in the body, or the name of the query parameter
  std::string hint = {};          // the next step
  TextPosition position = {};
  std::vector<std::pair<std::string, std::string>> params = {};
  int retry_after_seconds = 0;  // 0: trying again alone does not help
};

// Code, title and status follow from the kind.
Problem to_problem(const Error& error);
// The store cannot be written at the moment; the daemon tries again itself.
Problem store_read_only(const Error& cause);

HttpResponse to_response(const Problem& problem, std::string_view request_id);

}  // namespace gridfold
