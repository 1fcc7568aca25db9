// What the control groups around this process allow it: version 1, 2 or both at
// once, at every level from the process's own group up to the mount.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"

namespace gridfold {

struct CgroupLimits {
  Limit<MilliCores> cpu;
  Limit<Bytes> memory;
};

// `root` is put before every path read; it is empty but in tests. A system
// without control groups sets no limit. Error kInternal when a limit is there
// and does not read as one.
Result<CgroupLimits> read_cgroup_limits(const std::string& root = {});

}  // namespace gridfold
