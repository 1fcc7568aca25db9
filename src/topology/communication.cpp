#include "topology/communication.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <map>

namespace gridfold {
namespace {

using Wide = __int128;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Duration clamped(Wide ns) { return {static_cast<std::int64_t>(std::min<Wide>(ns, kMost))}; }
Duration times(Duration time, std::int64_t n) { return clamped(static_cast<Wide>(time.ns) * n); }
Duration plus(Duration a, Duration b) { return clamped(static_cast<Wide>(a.ns) + b.ns); }

Flow flow_of(Collective collective) {
  switch (collective) {
    case Collective::kSendReceive: return Flow::kChain;
    case Collective::kAllToAll: return Flow::kAll;
    default: return Flow::kRing;
  }
}

// bytes · numerator / denominator, rounded up.
Bytes part(Bytes bytes, std::int64_t numerator, std::int64_t denominator) {
  const Wide wide = static_cast<Wide>(bytes.value) * numerator + denominator - 1;
  return Bytes(static_cast<std::int64_t>(wide / denominator));
}

// What each rank passes on in all, when data goes round.
Bytes volume(Collective collective, Bytes bytes, std::int64_t n) {
  switch (collective) {
    case Collective::kAllReduce: return part(bytes, 2 * (n - 1), n);
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll: return part(bytes, n - 1, n);
    default: return bytes;
  }
}

constexpr bool is_inner(std::size_t kind) {
  return kind <= static_cast<std::size_t>(LinkKind::kSocket);
}

// One kind of link: `flows` flows of so many bytes through its most loaded link.
Duration passing(const Fabric& fabric, const ExchangeLoad& load, std::size_t kind, Bytes bytes,
                 std::int64_t flows) {
  if (load.pressure[kind] == 0) return {};
  const Duration alone = fabric.curve(static_cast<LinkKind>(kind)).transfer(bytes);
  const Wide pressed = static_cast<Wide>(alone.ns) * load.pressure[kind] >> LoadCounter::kFlowBits;
  return clamped(std::min<Wide>(pressed, kMost) * flows);
}

// What each rank passes on takes so long on links of this kind.
Duration passing(const Fabric& fabric, const ExchangeLoad& load, std::size_t kind, Bytes bytes) {
  if (is_inner(kind)) return passing(fabric, load, kind, bytes, 1);
  return passing(fabric, load, kind, part(bytes, 1, load.channels), load.channels);
}

Duration bottleneck(const Fabric& fabric, const ExchangeLoad& load, Bytes bytes) {
  Duration most;
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    most = std::max(most, passing(fabric, load, kind, bytes));
  }
  return most;
}

Duration ring_time(const Fabric& fabric, const ExchangeLoad& load, Collective collective,
                   Bytes bytes) {
  const std::int64_t n = load.size;
  const std::int64_t turns = collective == Collective::kAllReduce ? 2 : 1;
  Duration hops = clamped(static_cast<Wide>(load.round.ns) * turns * (n - 1) / n);
  const Duration longest = std::max(load.inner_hop, load.outer_hop);
  if (collective == Collective::kAllToAll) hops = times(longest, n - 1);
  if (collective == Collective::kSendReceive) hops = longest;
  return plus(plus(load.start, hops), bottleneck(fabric, load, volume(collective, bytes, n)));
}

// A chain through each unit and two binary trees over the units, each with
// half of the data (Sanders, Speck and Träff, Parallel Computing 35, 2009).
// Trees reach nine tenths of a link's bandwidth (NCCL's own model).
Duration tree_time(const Fabric& fabric, const ExchangeLoad& load, Collective collective,
                   Bytes bytes) {
  const std::int64_t turns = collective == Collective::kAllReduce ? 2 : 1;
  const auto depth = std::bit_width(static_cast<std::uint64_t>(load.most_outer - 1));
  const Duration down = plus(times(load.inner_hop, load.most_inner - 1),
                             times(load.outer_hop, static_cast<std::int64_t>(depth)));
  return plus(plus(load.start, times(down, turns)),
              bottleneck(fabric, load, part(bytes, 10 * turns, 9)));
}

// Reduce-scatter in each unit, all-reduce of each part between units, all
// parts at once, all-gather in each unit.
std::optional<Duration> hierarchical_time(const Fabric& fabric, const ExchangeLoad& load,
                                          Bytes bytes) {
  const std::int64_t inner = load.most_inner;
  const std::int64_t outer = load.most_outer;
  if (!load.alike || inner < 2 || outer < 2) return std::nullopt;
  const Bytes inside = part(bytes, 2 * (inner - 1), inner);
  const Bytes between = part(bytes, 2 * (outer - 1), outer * inner);
  Duration near;
  Duration far;
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    if (is_inner(kind)) {
      near = std::max(near, passing(fabric, load, kind, inside, 1));
    } else {
      far = std::max(far, passing(fabric, load, kind, between, inner));
    }
  }
  const Duration hops =
      plus(times(load.inner_hop, 2 * (inner - 1)), times(load.outer_hop, 2 * (outer - 1)));
  return plus(plus(load.start, hops), plus(near, far));
}

std::optional<Duration> time_of(const Fabric& fabric, const ExchangeLoad& load,
                                const Exchange& exchange, Algorithm algorithm) {
  const bool reduces = exchange.collective == Collective::kAllReduce;
  const bool has_tree = reduces || exchange.collective == Collective::kBroadcast;
  if (load.size == 1) return Duration{};
  const auto ring = [&] { return ring_time(fabric, load, exchange.collective, exchange.bytes); };
  const auto tree = [&] { return tree_time(fabric, load, exchange.collective, exchange.bytes); };
  switch (algorithm) {
    case Algorithm::kRing: return ring();
    case Algorithm::kTree: return has_tree ? std::optional(tree()) : std::nullopt;
    case Algorithm::kHierarchical:
      return reduces ? hierarchical_time(fabric, load, exchange.bytes) : std::nullopt;
    case Algorithm::kBest: break;
  }
  Duration best = ring();
  if (has_tree) best = std::min(best, tree());
  if (reduces)
    best = std::min(best, hierarchical_time(fabric, load, exchange.bytes).value_or(best));
  return best;
}

Duration work_of(const Fabric& fabric, const ExchangeLoad& load, Bytes bytes) {
  Wide sum = 0;
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    if (load.work[kind] == 0) continue;
    const Duration alone = fabric.curve(static_cast<LinkKind>(kind)).transfer(bytes);
    sum += static_cast<Wide>(alone.ns) * load.work[kind] >> LoadCounter::kFlowBits;
  }
  return clamped(sum);
}

// By one job over one link in a step.
struct Sent {
  Wide bytes = 0;
  std::int64_t flows = 0;
};

LinkKind slowest_kind(const Fabric& fabric, const ExchangeLoad& load, Bytes bytes) {
  std::size_t slowest = 0;
  for (std::size_t kind = 1; kind < kLinkKinds; ++kind) {
    if (passing(fabric, load, kind, bytes) > passing(fabric, load, slowest, bytes)) slowest = kind;
  }
  return static_cast<LinkKind>(slowest);
}

}  // namespace

// Near ranks next to one another: by the tree's order of nodes, then as the
// devices follow one another in the node.
void ExpectedTime::seat(std::span<const Place> places) {
  const Fabric& fabric = traffic_.fabric();
  seats_.clear();
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    const Place& place = places[rank];
    const auto position =
        fabric.layout(place.node).ring_position[static_cast<std::size_t>(place.device)];
    const std::uint64_t key =
        (static_cast<std::uint64_t>(fabric.tree().domain_of(place.node).value) << 8) | position;
    seats_.push_back({key, rank, 0, place.device, place.node, fabric.unit(place.node)});
  }
  const auto by_key = [](const RankSeat& a, const RankSeat& b) { return a.key < b.key; };
  if (!std::is_sorted(seats_.begin(), seats_.end(), by_key)) {
    std::sort(seats_.begin(), seats_.end(), by_key);
  }
  for (std::size_t i = 1; i < seats_.size(); ++i) {
    const bool same = seats_[i].node == seats_[i - 1].node;
    seats_[i].local_node = seats_[i - 1].local_node + (same ? 0 : 1);
  }
  for (auto& axis : loads_) {
    for (Cached& cached : axis) cached.known = false;
  }
}

const ExchangeLoad& ExpectedTime::load(const JobTraffic& job, const Exchange& exchange) {
  const Flow flow = flow_of(exchange.collective);
  Cached& cached = loads_[static_cast<std::size_t>(exchange.axis)][static_cast<std::size_t>(flow)];
  if (!cached.known) {
    cached.load = counter_.count(seats_, groups_of(job, exchange.axis), flow);
    cached.known = true;
  }
  return cached.load;
}

StepTime ExpectedTime::step(const JobTraffic& job, std::span<const Place> places) {
  assert(static_cast<std::int64_t>(places.size()) == job.ranks());
  seat(places);
  const Fabric& fabric = traffic_.fabric();
  StepTime result;
  Duration longest;
  for (const Exchange& exchange : job.exchanges) {
    const ExchangeLoad& counted = load(job, exchange);
    const Duration once = *time_of(fabric, counted, exchange, Algorithm::kBest);
    const Duration all = times(once, exchange.times);
    const Duration shown = all > exchange.hidden ? all - exchange.hidden : Duration{};
    const Bytes passed = volume(exchange.collective, exchange.bytes, counted.size);
    result.communication = plus(result.communication, shown);
    result.work = plus(result.work, times(work_of(fabric, counted, passed), exchange.times));
    if (shown <= longest) continue;
    longest = shown;
    result.slowest = slowest_kind(fabric, counted, passed);
  }
  result.step = plus(job.compute, result.communication);
  return result;
}

std::optional<Duration> ExpectedTime::exchange(const JobTraffic& job, const Exchange& exchange,
                                               std::span<const Place> places, Algorithm algorithm) {
  seat(places);
  return time_of(traffic_.fabric(), load(job, exchange), exchange, algorithm);
}

std::vector<LinkRate> ExpectedTime::rates(const JobTraffic& job, std::span<const Place> places) {
  const Duration step = this->step(job, places).step;
  std::map<std::pair<DomainId, std::int32_t>, Sent> sent;
  for (const Exchange& exchange : job.exchanges) {
    const AxisGroups groups = groups_of(job, exchange.axis);
    const std::int64_t channels =
        counter_.count(seats_, groups, flow_of(exchange.collective)).channels;
    const Wide each =
        static_cast<Wide>(volume(exchange.collective, exchange.bytes, groups.size).value) *
        exchange.times;
    for (const LinkFlow& link : counter_.links()) {
      Sent& at = sent[{link.domain, link.card}];
      at.bytes += each * link.flows >> LoadCounter::kFlowBits;
      at.flows = std::max(at.flows, link.flows * channels >> LoadCounter::kFlowBits);
    }
  }
  std::vector<LinkRate> rates;
  for (const auto& [link, at] : sent) {
    const Wide rate = at.bytes * 8'000'000'000 / std::max<std::int64_t>(step.ns, 1);
    if (rate == 0) continue;
    rates.push_back({link.first, link.second, BitsPerSecond(clamped(rate).ns),
                     static_cast<std::int32_t>(std::max<std::int64_t>(at.flows, 1))});
  }
  return rates;
}

}  // namespace gridfold
