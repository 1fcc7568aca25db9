// The environment of a task: a pure function of its order and its node.
//
// Who wins, last first: what Gridfold says of itself (GRIDFOLD_*), the role's
// env, the job's env, the names that torchrun, Slurm-aware programs and device
// libraries know, a few names of the host (PATH, HOME, LANG, …).
//
//   GRIDFOLD_JOB_ID, _JOB_NAME, _TASK_INDEX, _ATTEMPT, _ARRAY_INDEX
//   GRIDFOLD_ROLE, _ROLE_RANK         the role, and the place among its tasks
//   GRIDFOLD_RANK, _WORLD_SIZE        the place among the tasks that run
//   GRIDFOLD_NODE_RANK, _NUM_NODES    of the nodes, in order of first rank
//   GRIDFOLD_LOCAL_RANK               the place among the tasks on this node
//   GRIDFOLD_DEVICES   "0:gpu:H100-SXM5-80GB,5:npu:910B:emulated": the node's
//                      device number, class, model, and a mark when emulated
//   GRIDFOLD_PARTITION "3g.40gb@4": its profile and first slot, where it has one
//   GRIDFOLD_REPORT    a file to which the job may append JSON lines
//
// MASTER_PORT is 20000 + job id modulo 10000: the same for all tasks of a job
// without asking anyone, and below the ports that the kernel hands out
// (32768 on). It is not reserved: two jobs whose ids are 10000 apart may meet.
//
// LOCAL_RANK is an index into the devices that the task sees, since programs
// use it so: 0 when it holds real devices, of which it sees its own only; else
// GRIDFOLD_LOCAL_RANK.
//
// CUDA_VISIBLE_DEVICES and ASCEND_RT_VISIBLE_DEVICES name the real devices
// held, and are empty when there are none, emulated ones included: a program
// must not take cards that are not its own. Of a partition it is named instead,
// once it is made (partition_keeper.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "control/backend.h"
#include "model/node.h"

namespace gridfold::local {

using Environment = std::map<std::string, std::string>;

// The names of the host's environment that tasks get.
Environment host_environment(char** environ);

// The variable by which a vendor's library picks devices of this class, or "".
std::string_view device_variable(std::string_view device_class);

// `report` is the value of GRIDFOLD_REPORT; `host` comes from
// host_environment(), `slice_library` from find_slice_library()
// (slice_limits.h says what a slice of a device gets).
Environment task_environment(const LaunchOrder& order, const NodeSpec& node,
                             const std::string& report, const Environment& host,
                             const std::string& slice_library = "");

}  // namespace gridfold::local
