// Paths and queries of requests: splitting, percent-decoding, and the refusal
// of anything that could mean another place (dot segments, encoded slashes,
// control bytes).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gridfold {

// "/v1/jobs/a%20b:cancel" gives {"v1", "jobs", "a b:cancel"}. kInvalid unless
// the path begins with "/" and every segment is UTF-8 that is not empty, "."
// or "..", and holds neither "/", "\" nor a control byte. At most 16 segments.
Result<std::vector<std::string>> split_path(std::string_view path);

// The parameters of a query, each at most once.
class Query {
 public:
  // "a=1&b=x%20y"; "+" is a space. kInvalid for a name given twice.
  static Result<Query> parse(std::string_view text);

  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view text(std::string_view name) const { return find(name).value_or(""); }
  // A count; `fallback` when it is absent. kInvalid names the parameter.
  Result<std::int64_t> count(std::string_view name, std::int64_t fallback) const;
  // "true", "false", or the bare name for true; absent is false.
  Result<bool> flag(std::string_view name) const;

  const std::vector<std::pair<std::string, std::string>>& all() const { return parameters_; }

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace gridfold
