// What the bounds of packing_bound.h are asked about: how many nodes of which
// type there are, and in which proportions tasks of which kind arrive. Memory
// is left out, and so is every tie between tasks; both only widen a bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace gridfold {

struct PackingNodeType {
  MilliCores cpu;  // of one node
  std::int32_t devices = 0;
  std::string model;       // of the devices
  std::int64_t count = 1;  // nodes
};

struct PackingClass {
  MilliCores cpu;  // of one task
  std::int32_t devices = 0;
  DeviceShare share = kWholeDevice;  // of the device; less than a whole one of one only
  std::vector<std::string> models;   // any of these; empty: any model
  std::int64_t tasks = 1;            // in the workload

  // What one task asks for, in devices.
  double device_need() const {
    return devices * static_cast<double>(share.value) / static_cast<double>(kWholeDevice.value);
  }
};

struct PackingProblem {
  std::vector<PackingNodeType> nodes;
  std::vector<PackingClass> classes;

  double devices() const;        // of all nodes
  double device_demand() const;  // of all tasks of the workload
};

// The same problem with equal types and equal classes put together, in a fixed
// order. Errors kInvalid: no devices, no demand for any, a negative amount, a
// share outside 1 to 1000 thousandths, a share of several devices.
Result<PackingProblem> checked_packing_problem(PackingProblem problem);

// Could a node of this type run such a task when it is empty?
bool fits(const PackingClass& task, const PackingNodeType& node);
bool allows_model(const PackingClass& task, const PackingNodeType& node);

// Tasks of the workload that no node could run.
std::int64_t tasks_that_fit_no_node(const PackingProblem& problem);

}  // namespace gridfold
