// What a job sends among its ranks in one step.
//
//   JobTraffic traffic;
//   traffic.tensor = 8;
//   traffic.data = 16;
//   traffic.compute = Duration::milliseconds(400);
//   traffic.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(64 << 20), 160},
//                        {Collective::kAllReduce, RankAxis::kData, Bytes(2 << 30)}};
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace gridfold {

enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendReceive,  // each rank of a group to the next, not from the last to the first
};
std::string_view to_string(Collective value);  // "all_reduce", …

// Which ranks exchange: those that differ in this coordinate only.
enum class RankAxis : std::uint8_t {
  kTensor,
  kPipeline,
  kData,
  kExpert,  // `expert` neighbours along data
  kAll,
};
inline constexpr std::size_t kAxes = 5;
std::string_view to_string(RankAxis value);  // "tensor", …

struct Exchange {
  Collective collective = Collective::kAllReduce;
  RankAxis axis = RankAxis::kAll;
  // All-reduce: the buffer of each rank. All-gather, reduce-scatter: the whole.
  // All-to-all: what each rank sends, its own part included. Else: the message.
  Bytes bytes;
  std::int32_t times = 1;  // a step, one after another
  Duration hidden;         // so much of it runs beside the computing
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

// How a rank's number counts its coordinates, the fastest first.
enum class RankOrder : std::uint8_t { kTensorPipelineData, kTensorDataPipeline };

struct JobTraffic {
  std::int32_t tensor = 1;
  std::int32_t pipeline = 1;
  std::int32_t data = 1;
  std::int32_t expert = 1;  // divides data
  RankOrder order = RankOrder::kTensorPipelineData;
  Duration compute;  // of a step, without communication
  std::vector<Exchange> exchanges;

  std::int64_t ranks() const { return static_cast<std::int64_t>(tensor) * pipeline * data; }
  friend bool operator==(const JobTraffic&, const JobTraffic&) = default;
};

// At most 2^20 ranks, 1 PiB an exchange, 2^20 exchanges of one kind a step, a
// year of computing. kInvalid with the field that is wrong.
Result<void> check_traffic(const JobTraffic& traffic);

// Group and position of rank r: (r / (stride·size))·stride + r % stride, and
// (r / stride) % size.
struct AxisGroups {
  std::int64_t stride = 1;
  std::int64_t size = 1;
  std::int64_t group_of(std::int64_t rank) const {
    return rank / (stride * size) * stride + rank % stride;
  }
  std::int64_t position_of(std::int64_t rank) const { return rank / stride % size; }
};
AxisGroups groups_of(const JobTraffic& traffic, RankAxis axis);

}  // namespace gridfold
