// The class of a job that names none, by its features.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/job.h"

namespace gridfold {

// What decided, first of these that holds.
enum class ClassRule : std::uint8_t {
  kTraining,       // train: it declares its training
  kCommunication,  // train: it says what its tasks exchange, or how they are to lie
  kPorts,          // infer: it says on which ports it answers
  kOther,          // train
};
// "training", "communication", "ports", "other".
std::string_view to_string(ClassRule rule);

// What is looked at, for who is told of it.
struct ClassFeatures {
  ClassRule rule = ClassRule::kOther;
  std::int64_t tasks = 0;    // at most
  std::int64_t devices = 0;  // of all tasks, shared ones too
  std::int64_t ports = 0;
  bool is_elastic = false;
};
ClassFeatures class_features(const JobSpec& spec);

// Never a filler: work that gives up its right to its place says so.
WorkloadClass class_by(ClassRule rule);

}  // namespace gridfold
