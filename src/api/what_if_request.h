// The body of a what-if question:
//
//   changes:
//     - add_nodes: {count: 2, like: n1}
//     - drain_node: n7
//     - queue_limit: {queue: research, resource: gpu, limit: "16"}   # or unlimited
//     - submit_job: {name: train, each: {gpu: 8}, run: ./train}      # or a job file's text
//     - policy: fgd
//   horizon: 24h        # this by default
//   tenant: default     # whose the submitted jobs would be
//
// Whether there are such nodes, queues and policies is not looked at here.
#pragma once

#include <string_view>

#include "control/what_if.h"
#include "wire/document.h"

namespace gridfold {

// Errors name field and place; an unknown key is one.
Result<WhatIfQuestion> parse_what_if(std::string_view body, DocumentFormat format);

}  // namespace gridfold
