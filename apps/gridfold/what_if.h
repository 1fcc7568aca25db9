// The flags of `gridfold what-if`, as the question that the API takes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gridfold {

struct WhatIfFlags {
  std::vector<std::string> add_nodes;     // NODE or NODE=COUNT
  std::vector<std::string> drain;         // NODE
  std::vector<std::string> queue_limits;  // QUEUE:RESOURCE=AMOUNT
  std::vector<std::string> submit;        // path of a job file, or "-"
  std::string policy;
  std::string horizon;  // empty: the API's default
};

// A JSON document; errors name the flag.
Result<std::string> what_if_question(const WhatIfFlags& flags, const std::string& tenant);

}  // namespace gridfold
