// A cluster and a workload as the planner's bounds want them.
#pragma once

#include "base/result.h"
#include "planner/packing_problem.h"
#include "simulator/workload.h"

namespace gridfold {

// Nodes with their GPUs, other devices left out; every task of every job by
// itself, gangs cut. Errors name the workload: a task whose GPUs are accounted
// by memory alone, or that asks for GPUs twice; or a node of GPUs of two models.
Result<PackingProblem> packing_problem_of(const ClusterSpec& cluster, const Workload& workload);

}  // namespace gridfold
