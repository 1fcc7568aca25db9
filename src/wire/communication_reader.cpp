#include "wire/communication_reader.h"

#include <algorithm>
#include <array>

#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostTimes = 1 << 20;
constexpr Bytes kMostBytes{std::int64_t{1} << 50};
constexpr Duration kLongestExchange = Duration::hours(24 * 366);

constexpr std::array kCollectiveValues = {Collective::kAllReduce,     Collective::kAllGather,
                                          Collective::kReduceScatter, Collective::kAllToAll,
                                          Collective::kBroadcast,     Collective::kSendReceive};
constexpr std::array kAxisValues = {RankAxis::kTensor, RankAxis::kPipeline, RankAxis::kData, RankAxis::kExpert,
                                    RankAxis::kAll};

template <class Enum, std::size_t N>
Enum read_value(const Field& field, const std::array<Enum, N>& values) {
  std::array<std::string_view, N> words;
  std::transform(values.begin(), values.end(), words.begin(),
                 [](Enum value) { return to_string(value); });
  return values[read_word(field, words)];
}

std::int32_t read_degree(const Field& field) {
  return static_cast<std::int32_t>(read_integer(field, 1, kMostRanks));
}

Exchange read_exchange(const Field& field) {
  Exchange exchange;
  const auto collective = field.find("collective");
  const auto bytes = field.find("bytes");
  if (!collective || !bytes) {
    field.fail("an exchange needs collective and bytes",
               "write {collective: all_reduce, bytes: 2GiB}");
    return exchange;
  }
  exchange.collective = read_value(*collective, kCollectiveValues);
  exchange.bytes = read_quantity(*bytes, parse_bytes);
  if (exchange.bytes == Bytes(0) || exchange.bytes > kMostBytes)
    bytes->fail("an exchange moves 1 byte to 1 PiB", "give the bytes of one exchange");
  if (const auto among = field.find("among")) exchange.axis = read_value(*among, kAxisValues);
  if (const auto times = field.find("times"))
    exchange.times = static_cast<std::int32_t>(read_integer(*times, 1, kMostTimes));
  if (const auto hidden = field.find("hidden"))
    exchange.hidden = read_duration(*hidden, {}, kLongestExchange);
  return exchange;
}

std::vector<Exchange> read_exchanges(const Field& field) {
  std::vector<Exchange> exchanges;
  const auto list = field.find("exchanges");
  const bool has_own = std::any_of(kExchangeKeys.begin(), kExchangeKeys.end(),
                                   [&](std::string_view key) { return field.find(key); });
  if (!list) {
    exchanges.push_back(read_exchange(field));
    return exchanges;
  }
  if (has_own) {
    list->fail("exchanges stands beside the keys of one exchange", "move them into the list");
  } else if (!list->is_list()) {
    list->fail_kind("a list", "such as [{collective: all_reduce, bytes: 2GiB}]");
  } else if (list->size() == 0 || list->size() > kMostExchanges) {
    list->fail(std::to_string(list->size()) + " exchanges are out of range",
               "give 1 to " + std::to_string(kMostExchanges));
  } else {
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (check_map(list->item(i), kExchangeKeys))
        exchanges.push_back(read_exchange(list->item(i)));
    }
  }
  return exchanges;
}

// Whole devices of one task; 0 where it has none.
std::int64_t ranks_of(const Field& field, const Role& role) {
  std::int64_t ranks = 0;
  for (const DeviceRequest& device : role.each.devices) {
    if (!device.is_whole())
      field.fail("ranks are whole devices, and role " + role.name + " asks for a part of one",
                 "ask for whole devices, or remove communication");
    ranks += device.count;
  }
  return ranks;
}

// The job's ranks with all its tasks, after a look at those with the least.
std::int64_t count_ranks(const Field& field, const std::vector<Role>& roles,
                         const JobTraffic& traffic) {
  std::int64_t most = 0;
  std::int64_t least = 0;
  std::int64_t each = 0;
  for (const Role& role : roles) {
    const std::int64_t ranks = ranks_of(field, role);
    if (ranks == 0) continue;
    if (each != 0 && ranks != each)
      field.fail("tasks have " + std::to_string(each) + " and " + std::to_string(ranks) +
                     " devices, and all that exchange need the same number",
                 "give the roles equal devices");
    each = ranks;
    most += ranks * role.count;
    least += ranks * role.min;
  }
  if (most < 2) {
    field.fail(
        "a job of " + std::to_string(most) + " devices exchanges nothing",
        "its ranks are the whole devices of all tasks; ask for them, or remove communication");
    return 1;
  }
  if (most > kMostRanks)
    field.fail("a job has at most 2^20 ranks", "remove communication, or ask for fewer devices");
  const std::int64_t model = static_cast<std::int64_t>(traffic.tensor) * traffic.pipeline;
  for (const std::int64_t ranks : {most, least}) {
    if (ranks % model == 0 && ranks / model % traffic.expert == 0) continue;
    field.fail(std::to_string(ranks) +
                   " devices cannot be divided into tensor x pipeline x expert = " +
                   std::to_string(traffic.tensor) + " x " + std::to_string(traffic.pipeline) +
                   " x " + std::to_string(traffic.expert),
               "choose degrees whose product divides the number of devices, at most and at least");
    break;
  }
  return most;
}

}  // namespace

JobTraffic read_communication(const Field& field, const std::vector<Role>& roles) {
  JobTraffic traffic;
  if (!check_map(field, kCommunicationKeys)) return traffic;
  if (const auto compute = field.find("compute"))
    traffic.compute = read_duration(*compute, {}, kLongestExchange);
  else
    field.fail("compute is missing", "say how long a step computes, such as compute: 300ms");
  if (const auto tensor = field.find("tensor")) traffic.tensor = read_degree(*tensor);
  if (const auto pipeline = field.find("pipeline")) traffic.pipeline = read_degree(*pipeline);
  if (const auto expert = field.find("expert")) traffic.expert = read_degree(*expert);
  traffic.exchanges = read_exchanges(field);
  const std::int64_t ranks = count_ranks(field, roles, traffic);
  const std::int64_t model = static_cast<std::int64_t>(traffic.tensor) * traffic.pipeline;
  traffic.data = static_cast<std::int32_t>(std::clamp<std::int64_t>(ranks / model, 1, kMostRanks));
  return traffic;
}

}  // namespace gridfold
