// What a trace says: which jobs came when, how long they ran, and on which
// nodes. Plain values, filled by the readers, used by the drivers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "model/job.h"
#include "model/node.h"

namespace gridfold {

struct TraceJob {
  std::string name;
  std::uint32_t shape = 0;   // index in Workload::shapes
  Known<Duration> arrives;   // since the workload's origin
  Known<Duration> duration;  // of every task once it runs; the engine never sees it
  std::string user;          // as far as the trace says; may be empty
  std::string program;       // likewise
  bool best_effort = false;  // the trace says that it has no right to its place
};

// Many jobs of a trace ask for the same thing; what they ask is kept once.
struct Workload {
  std::string name;
  std::vector<JobSpec> shapes;  // without names
  std::vector<TraceJob> jobs;   // in the order of the file
};

// Thousandths of devices of a class that all tasks of the spec ask for
// together, and millicores.
std::int64_t device_thousandths(const JobSpec& spec, std::string_view device_class);
std::int64_t millicores(const JobSpec& spec);

// Collects shapes under a key of the reader's choice.
template <class Key>
class ShapeTable {
 public:
  explicit ShapeTable(Workload& workload) : workload_(workload) {}

  // The shape's index; `make` builds it when the key is new.
  template <class Make>
  std::uint32_t find_or_add(const Key& key, Make make) {
    const auto next = static_cast<std::uint32_t>(workload_.shapes.size());
    const auto [entry, added] = index_.emplace(key, next);
    if (added) workload_.shapes.push_back(make());
    return entry->second;
  }

 private:
  Workload& workload_;
  std::unordered_map<Key, std::uint32_t> index_;
};

struct ClusterSpec {
  std::string name;
  std::vector<NodeSpec> nodes;
  std::vector<LevelLinks> fabric;  // checked
};

struct ClusterCapacity {
  std::int64_t nodes = 0;
  std::int64_t millicores = 0;
  std::int64_t gpu_thousandths = 0;
  std::int32_t largest_gpu_node = 0;  // GPUs
  std::int64_t largest_cpu_node = 0;  // millicores
};
ClusterCapacity capacity_of(const ClusterSpec& cluster);

}  // namespace gridfold
