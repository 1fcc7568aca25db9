#include "apps/gridfold/bench_streams.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace gridfold {
namespace {

TaskRequest task(std::int64_t millicores, std::int64_t mebibytes, std::int32_t gpus,
                 std::int64_t thousandths) {
  TaskRequest request;
  request.cpu = MilliCores(millicores);
  request.memory = Bytes(mebibytes << 20);
  if (gpus > 0) request.devices.push_back({"gpu", gpus, DeviceShare(thousandths)});
  return request;
}

}  // namespace

Result<TaskStream> TaskStream::of(std::string_view name) {
  TaskStream stream;
  if (name == "single") {
    stream.add(task(8000, 65'536, 1, 1000), 1);
  } else if (name == "eight") {
    stream.add(task(64'000, 524'288, 8, 1000), 1);
  } else if (name == "fraction") {
    for (const std::int64_t share : {100, 200, 250, 300, 500, 700})
      stream.add(task(10 * share, 64 * share, 1, share), 1);
  } else if (name == "openb") {
    for (const OpenbKind& kind : kOpenbKinds) {
      const std::int64_t share = kind.gpus > 0 ? kind.gpu_thousandths : 0;
      stream.add(task(kind.millicores, kind.mebibytes, kind.gpus, share), kind.pods);
    }
  } else {
    Error error = invalid("stream \"" + std::string(name) + "\" is not known");
    error.hint = "one of single, eight, fraction, openb";
    return error;
  }
  return stream;
}

void TaskStream::add(TaskRequest request, std::int64_t weight) {
  kinds_.push_back(std::move(request));
  weights_.push_back(weight);
  sums_.push_back((sums_.empty() ? 0 : sums_.back()) + weight);
}

std::size_t TaskStream::draw(RandomStream& random) const {
  const auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sums_.back())));
  const auto it = std::upper_bound(sums_.begin(), sums_.end(), at);
  return static_cast<std::size_t>(std::distance(sums_.begin(), it));
}

NodeRecord bench_node(std::uint32_t number) {
  NodeRecord record;
  char name[16];
  std::snprintf(name, sizeof name, "n%07u", number);
  record.spec.name = name;
  record.spec.cpu = MilliCores(128'000);
  record.spec.memory = Bytes(std::int64_t{1} << 40);
  for (std::int64_t i = 0; i < kBenchDevices; ++i)
    record.spec.devices.push_back({"gpu", "H100", Bytes(std::int64_t{80} << 30)});
  record.up = true;
  return record;
}

}  // namespace gridfold
