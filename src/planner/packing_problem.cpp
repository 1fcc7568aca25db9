#include "planner/packing_problem.h"

#include <algorithm>
#include <tuple>

namespace gridfold {
namespace {

auto key_of(const PackingNodeType& node) { return std::tie(node.cpu, node.devices, node.model); }
auto key_of(const PackingClass& task) {
  return std::tie(task.cpu, task.devices, task.share, task.models);
}
void absorb(PackingNodeType& node, const PackingNodeType& equal) { node.count += equal.count; }
void absorb(PackingClass& task, const PackingClass& equal) { task.tasks += equal.tasks; }

template <class T>
void put_equals_together(std::vector<T>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const T& a, const T& b) { return key_of(a) < key_of(b); });
  std::vector<T> merged;
  for (T& one : all) {
    if (!merged.empty() && key_of(merged.back()) == key_of(one)) {
      absorb(merged.back(), one);
    } else {
      merged.push_back(std::move(one));
    }
  }
  all = std::move(merged);
}

Result<void> check(const PackingNodeType& node) {
  if (node.cpu.value >= 0 && node.devices >= 0 && node.count >= 0) return {};
  return invalid("a node type has a negative amount");
}

Result<void> check(const PackingClass& task) {
  if (task.cpu.value < 0 || task.devices < 0 || task.tasks < 0) {
    return invalid("a class of tasks has a negative amount");
  }
  if (task.share.value < 1 || task.share > kWholeDevice) {
    Error error = invalid("a class of tasks asks for a share of " +
                          std::to_string(task.share.value) + " thousandths of a device");
    error.hint = "give 1 to 1000";
    return error;
  }
  if (task.devices > 1 && task.share != kWholeDevice) {
    return invalid("a class of tasks asks for a share of several devices");
  }
  return {};
}

}  // namespace

double PackingProblem::devices() const {
  double sum = 0;
  for (const auto& node : nodes) sum += static_cast<double>(node.devices * node.count);
  return sum;
}

double PackingProblem::device_demand() const {
  double sum = 0;
  for (const auto& task : classes) sum += task.device_need() * static_cast<double>(task.tasks);
  return sum;
}

Result<PackingProblem> checked_packing_problem(PackingProblem problem) {
  for (const auto& node : problem.nodes) {
    if (const auto checked = check(node); !checked) return checked.error();
  }
  for (auto& task : problem.classes) {
    if (const auto checked = check(task); !checked) return checked.error();
    if (task.devices == 0) task.models.clear();
    std::sort(task.models.begin(), task.models.end());
    task.models.erase(std::unique(task.models.begin(), task.models.end()), task.models.end());
  }
  std::erase_if(problem.nodes, [](const auto& node) { return node.count == 0; });
  std::erase_if(problem.classes, [](const auto& task) { return task.tasks == 0; });
  put_equals_together(problem.nodes);
  put_equals_together(problem.classes);
  if (problem.devices() <= 0) {
    Error error = invalid("there is no device on any node");
    error.hint = "a bound on the devices allocated needs a cluster with devices";
    return error;
  }
  if (problem.device_demand() <= 0) {
    Error error = invalid("no task asks for a device");
    error.hint = "a bound on the devices allocated needs tasks that ask for devices";
    return error;
  }
  return problem;
}

bool allows_model(const PackingClass& task, const PackingNodeType& node) {
  return task.models.empty() ||
         std::find(task.models.begin(), task.models.end(), node.model) != task.models.end();
}

bool fits(const PackingClass& task, const PackingNodeType& node) {
  return task.cpu <= node.cpu && task.devices <= node.devices &&
         (task.devices == 0 || allows_model(task, node));
}

std::int64_t tasks_that_fit_no_node(const PackingProblem& problem) {
  std::int64_t tasks = 0;
  for (const auto& task : problem.classes) {
    const bool somewhere = std::any_of(problem.nodes.begin(), problem.nodes.end(),
                                       [&](const auto& node) { return fits(task, node); });
    if (!somewhere) tasks += task.tasks;
  }
  return tasks;
}

}  // namespace gridfold
