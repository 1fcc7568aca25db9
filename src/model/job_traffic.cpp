#include "model/job_traffic.h"

#include <array>
#include <string>

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 6> kCollectives = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"};
constexpr std::array<std::string_view, kAxes> kAxisNames = {"tensor", "pipeline", "data", "expert",
                                                            "all"};

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int32_t kMostTimes = 1 << 20;
constexpr Duration kLongest = Duration::hours(24 * 366);

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

bool within_a_year(Duration time) { return time >= Duration{} && time <= kLongest; }

Result<void> check_sizes(const JobTraffic& traffic) {
  const std::pair<std::string_view, std::int32_t> sizes[] = {{"tensor", traffic.tensor},
                                                             {"pipeline", traffic.pipeline},
                                                             {"data", traffic.data},
                                                             {"expert", traffic.expert}};
  for (const auto& [field, size] : sizes) {
    if (size >= 1 && size <= kMostRanks) continue;
    return wrong(std::string(field), "a degree of parallelism is from 1 to 2^20",
                 "write 1 where there is none");
  }
  const auto some = static_cast<std::int64_t>(traffic.tensor) * traffic.pipeline;
  if (some > kMostRanks || some * traffic.data > kMostRanks) {
    return wrong("data", "a job has at most 2^20 ranks", "make a degree smaller");
  }
  if (traffic.data % traffic.expert != 0) {
    return wrong("expert", "the experts' groups do not divide the data groups",
                 "give a divisor of data");
  }
  return {};
}

}  // namespace

std::string_view to_string(Collective value) { return name_of(kCollectives, value); }
std::string_view to_string(RankAxis value) { return name_of(kAxisNames, value); }

Result<void> check_traffic(const JobTraffic& traffic) {
  if (auto checked = check_sizes(traffic); !checked) return checked;
  if (!within_a_year(traffic.compute)) {
    return wrong("compute", "a step computes for 0 to 366 days", "give the time of one step");
  }
  for (std::size_t i = 0; i < traffic.exchanges.size(); ++i) {
    const Exchange& exchange = traffic.exchanges[i];
    const std::string field = "exchanges[" + std::to_string(i) + "]";
    if (exchange.bytes < Bytes{} || exchange.bytes.value > kMostBytes) {
      return wrong(field + ".bytes", "an exchange moves 0 bytes to 1 PiB",
                   "give bytes of one step");
    }
    if (exchange.times < 1 || exchange.times > kMostTimes) {
      return wrong(field + ".times", "an exchange happens 1 to 2^20 times a step",
                   "leave out what does not happen");
    }
    if (!within_a_year(exchange.hidden)) {
      return wrong(field + ".hidden", "0 to 366 days of an exchange can be hidden",
                   "give the computing that runs beside it");
    }
  }
  return {};
}

AxisGroups groups_of(const JobTraffic& traffic, RankAxis axis) {
  const std::int64_t tensor = traffic.tensor;
  const bool data_first = traffic.order == RankOrder::kTensorDataPipeline;
  const std::int64_t data_stride = data_first ? tensor : tensor * traffic.pipeline;
  switch (axis) {
    case RankAxis::kTensor: return {1, tensor};
    case RankAxis::kPipeline: return {data_first ? tensor * traffic.data : tensor, traffic.pipeline};
    case RankAxis::kData: return {data_stride, traffic.data};
    case RankAxis::kExpert: return {data_stride, traffic.expert};
    case RankAxis::kAll: return {1, traffic.ranks()};
  }
  return {};
}

}  // namespace gridfold
