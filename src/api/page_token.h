// Where a list goes on. A token is opaque to clients; it holds the number of
// the last job shown and the filter it belongs to. Lists run from the newest
// job to the oldest, and numbers are never used twice, so pages neither
// overlap nor skip while jobs come and end.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace gridfold {

// `filter` is any text that differs when the filter does.
std::string make_page_token(JobId last, std::string_view filter);
// kInvalid when it is not a token of ours or of another filter.
Result<JobId> parse_page_token(std::string_view token, std::string_view filter);

}  // namespace gridfold
