#include "simulator/packing_input.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gridfold {
namespace {

bool is_gpu(const DeviceSpec& device) { return device.device_class == "gpu"; }

Result<PackingNodeType> type_of(const ClusterSpec& cluster, const NodeSpec& node) {
  PackingNodeType type;
  type.cpu = node.cpu;
  for (const DeviceSpec& device : node.devices) {
    if (!is_gpu(device)) continue;
    if (type.devices > 0 && device.model != type.model) {
      Error error = invalid(cluster.name + ": node " + node.name + " has GPUs of two models");
      error.hint = "bounds need nodes with GPUs of one model each";
      return error;
    }
    type.model = device.model;
    ++type.devices;
  }
  return type;
}

Error not_covered(const Workload& workload, const Role& role, const char* what) {
  Error error = invalid(workload.name + ": role " + role.name + " asks for " + what);
  error.hint = "bounds need one request for GPUs with a share a task";
  return error;
}

Result<PackingClass> class_of(const Workload& workload, const Role& role, std::int64_t jobs) {
  PackingClass task;
  task.cpu = role.each.cpu;
  task.tasks = jobs * role.count;
  for (const DeviceRequest& request : role.each.devices) {
    if (request.device_class != "gpu" || request.count == 0) continue;
    if (task.devices > 0) return not_covered(workload, role, "GPUs twice");
    if (request.share.value == 0) return not_covered(workload, role, "GPU memory without a share");
    task.devices = request.count;
    task.share = request.share;
    task.models = request.models;
  }
  return task;
}

}  // namespace

Result<PackingProblem> packing_problem_of(const ClusterSpec& cluster, const Workload& workload) {
  PackingProblem problem;
  for (const NodeSpec& node : cluster.nodes) {
    auto type = type_of(cluster, node);
    if (!type) return type.error();
    problem.nodes.push_back(std::move(*type));
  }
  std::vector<std::int64_t> jobs(workload.shapes.size(), 0);
  for (const TraceJob& job : workload.jobs) ++jobs[job.shape];
  for (std::size_t shape = 0; shape < jobs.size(); ++shape) {
    for (const Role& role : workload.shapes[shape].roles) {
      auto task = class_of(workload, role, jobs[shape]);
      if (!task) return task.error();
      problem.classes.push_back(std::move(*task));
    }
  }
  return problem;
}

}  // namespace gridfold
