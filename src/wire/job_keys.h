// The keys of a job file, object by object: what the reader takes, what the
// errors suggest, and what docs/job.schema.json is tested against.
#pragma once

#include <array>
#include <string_view>

#include "base/time.h"

namespace gridfold {

using std::string_view_literals::operator""sv;

inline constexpr std::array kJobKeys = {
    "name"sv,     "class"sv,      "queue"sv,    "priority"sv,      "roles"sv, "run"sv,
    "count"sv,    "each"sv,       "topology"sv, "communication"sv, "env"sv,   "workdir"sv,
    "files"sv,    "retry"sv,      "after"sv,    "array"sv,         "stop"sv,  "checkpoint"sv,
    "training"sv, "time_limit"sv, "ports"sv};
inline constexpr std::array kRoleKeys = {"name"sv, "count"sv, "each"sv,
                                         "run"sv,  "env"sv,   "start_after"sv};
inline constexpr std::array kCountKeys = {"min"sv, "max"sv, "multiple_of"sv, "preferred"sv};
// Classes of devices that have keys of their own; any other class is asked for
// under `devices`. An open set of keys would let `gpus: 8` pass as a class.
inline constexpr std::array kDeviceClasses = {"gpu"sv, "npu"sv, "tpu"sv, "fpga"sv,
                                              "neuromorphic"sv};
inline constexpr std::array kEachKeys = {"cpu"sv,
                                         "memory"sv,
                                         "devices"sv,
                                         "gpu"sv,
                                         "gpu_model"sv,
                                         "gpu_memory"sv,
                                         "gpu_place"sv,
                                         "gpu_partition"sv,
                                         "npu"sv,
                                         "npu_model"sv,
                                         "npu_memory"sv,
                                         "npu_place"sv,
                                         "npu_partition"sv,
                                         "tpu"sv,
                                         "tpu_model"sv,
                                         "tpu_memory"sv,
                                         "tpu_place"sv,
                                         "tpu_partition"sv,
                                         "fpga"sv,
                                         "fpga_model"sv,
                                         "fpga_memory"sv,
                                         "fpga_place"sv,
                                         "fpga_partition"sv,
                                         "neuromorphic"sv,
                                         "neuromorphic_model"sv,
                                         "neuromorphic_memory"sv,
                                         "neuromorphic_place"sv,
                                         "neuromorphic_partition"sv};
inline constexpr std::array kDeviceKeys = {"class"sv,  "amount"sv, "model"sv,
                                           "memory"sv, "place"sv,  "partition"sv};
inline constexpr std::array kTopologyKeys = {"prefer"sv, "require"sv, "spread"sv, "segments"sv};
inline constexpr std::array kSegmentKeys = {"size"sv, "within"sv};
inline constexpr std::array kExchangeKeys = {"collective"sv, "among"sv, "bytes"sv, "times"sv,
                                             "hidden"sv};
// Those of one exchange may stand beside the others.
inline constexpr std::array kCommunicationKeys = {
    "compute"sv,    "tensor"sv, "pipeline"sv, "expert"sv, "exchanges"sv,
    "collective"sv, "among"sv,  "bytes"sv,    "times"sv,  "hidden"sv};
inline constexpr std::size_t kMostExchanges = 64;
inline constexpr std::array kFileKeys = {"path"sv, "content"sv, "content_base64"sv, "executable"sv};
inline constexpr std::array kRetryKeys = {"max"sv, "backoff"sv, "on"sv};
inline constexpr std::array kDependencyKeys = {"job"sv, "on"sv};
inline constexpr std::array kArrayKeys = {"from"sv, "to"sv, "step"sv, "limit"sv};
inline constexpr std::array kStopKeys = {"signal"sv, "grace"sv};
inline constexpr std::array kCheckpointKeys = {"signal"sv, "grace"sv, "interval"sv, "cost"sv};
inline constexpr std::array kTrainingKeys = {
    "program"sv,         "initial_batch"sv,   "batch"sv,  "max_batch"sv, "steps"sv,
    "min_local_batch"sv, "max_local_batch"sv, "epochs"sv, "deadline"sv,  "rates"sv};
inline constexpr std::array kRateKeys = {"model"sv, "nodes"sv, "tasks"sv, "steps_per_second"sv};

// Of any duration that a job gives: ten years.
inline constexpr Duration kLongest = Duration::hours(24 * 3650);

inline constexpr std::size_t kMostPorts = 64;

// In stored jobs only: set by the server.
inline constexpr std::array kStoredKeys = {"tenant"sv, "class_source"sv, "array_index"sv,
                                           "array_position"sv, "array_limit"sv};

// Planned, and refused until they do something.
inline constexpr std::array kLaterJobKeys = {"parallelism"sv, "serve"sv, "data"sv,   "network"sv,
                                             "energy"sv,      "image"sv, "mounts"sv, "secrets"sv};

inline constexpr std::array kSignals = {"TERM"sv, "INT"sv,  "HUP"sv,  "QUIT"sv,
                                        "USR1"sv, "USR2"sv, "ALRM"sv, "KILL"sv};

}  // namespace gridfold
