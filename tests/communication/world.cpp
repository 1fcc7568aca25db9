#include "tests/communication/world.h"

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace gridfold {
namespace {

template <class T>
T one_of(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

BitsPerSecond giga(std::int64_t value) { return BitsPerSecond(value * 1'000'000'000); }

// Eight devices, all or four by four on NVLink or on PCIe only; four on PCIe;
// or four in two linked pairs.
NodeWiring draw_layout(RandomStream& random, LinkKind network) {
  const auto form = random.below(5);
  const std::int32_t devices = form < 3 ? 8 : 4;
  const auto cards = static_cast<std::int32_t>(one_of<std::int64_t>(random, {1, 2, devices}));
  const auto card = one_of<std::int64_t>(random, {100, 200, 400});
  NodeWiring layout;
  for (std::int32_t i = 0; i < devices; ++i) {
    DeviceSeat seat;
    if (form == 0) seat.island = 0;
    if (form == 1) seat.island = i / 4;
    if (form == 4) seat.island = i / 2;
    seat.pcie_switch = i / 2;
    seat.socket = i / (devices / 2);
    seat.card = i * cards / devices;
    layout.devices.push_back(seat);
  }
  for (std::int32_t i = 0; i < cards; ++i) layout.cards.push_back({i, network, giga(card)});
  layout.nvlink = giga(one_of<std::int64_t>(random, {800, 1'600, 3'200}));
  layout.pcie = layout.numa = giga(one_of<std::int64_t>(random, {100, 200}));
  layout.socket = giga(one_of<std::int64_t>(random, {80, 160}));
  layout.host_network = giga(25);
  return layout;
}

struct Builder {
  explicit Builder(std::uint64_t seed) : random(seed, "communication world") { world.seed = seed; }

  RandomStream random;
  World world;

  void draw_nodes() {
    const auto spines = random.chance(1, 3) ? 2u : 1u;
    const auto racks = random.between(2, spines == 2 ? 3 : 4);
    const bool two_networks = random.chance(1, 6);
    const bool two_layouts = random.chance(1, 3);
    const auto network = one_of(random, {LinkKind::kRoce, LinkKind::kInfiniband});
    world.layouts.push_back(draw_layout(random, network));
    if (two_layouts || two_networks) {
      const auto other = network == LinkKind::kRoce ? LinkKind::kInfiniband : LinkKind::kRoce;
      world.layouts.push_back(draw_layout(random, two_networks ? other : network));
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      for (std::int64_t r = 0; r < racks; ++r) {
        const auto layout = static_cast<std::uint32_t>(random.below(world.layouts.size()));
        const auto count = random.between(2, 5);
        for (std::int64_t i = 0; i < count; ++i) {
          NodeSpec node;
          node.name = "n" + std::to_string(100 + world.nodes.size());
          if (spines == 2) node.domains.push_back("spine-" + std::to_string(s));
          node.domains.push_back("rack-" + std::to_string(r));
          world.nodes.push_back(std::move(node));
          world.layout_of_node.push_back(layout);
        }
      }
    }
  }

  // Racks oversubscribed by 1 to 8, a few of them one NVLink domain or
  // rail-optimised; spines by 1 to 4.
  void draw_links() {
    const auto tree = *DomainTree::build(world.nodes);
    for (std::uint32_t d = 1; d < tree.size(); ++d) {
      const DomainId domain(d);
      if (tree.is_node(domain)) continue;
      std::int64_t cards = 0;
      for (const NodeId node : tree.nodes_beneath(domain)) {
        for (const NetworkCard& card : layout_of(node).cards) cards += card.bandwidth.value;
      }
      const bool is_rack = tree.is_node(DomainId(d + 1));
      const auto over = is_rack ? one_of<std::int64_t>(random, {1, 2, 4, 8})
                                : one_of<std::int64_t>(random, {2, 4, 8});
      world.links.push_back({is_rack ? LinkKind::kLeaf : LinkKind::kSpine,
                             {domain},
                             {tree.parent(domain)},
                             Unknown{},
                             BitsPerSecond(cards / over)});
      if (!is_rack) continue;
      if (random.chance(1, 12)) {
        world.links.push_back({LinkKind::kNvlink, {domain}, {domain}, Unknown{}, giga(3'200)});
      } else if (random.chance(1, 6)) {
        world.links.push_back(
            {LinkKind::kSpine, {domain}, {domain}, Unknown{}, BitsPerSecond(cards / 4)});
      }
    }
  }

  const NodeWiring& layout_of(NodeId node) const {
    return world.layouts[world.layout_of_node[node.value]];
  }

  // Some devices of most nodes are taken, by jobs of one node or of two.
  void draw_others() {
    for (std::uint32_t n = 0; n < world.nodes.size(); ++n) {
      const auto devices = layout_of(NodeId(n)).devices.size();
      std::uint64_t free = (std::uint64_t{1} << devices) - 1;
      if (random.chance(2, 3)) {
        for (auto taken = random.below(devices + 1); taken > 0; --taken) {
          free &= ~(std::uint64_t{1} << random.below(devices));
        }
      }
      world.free.push_back(free);
    }
    const auto jobs = random.below(world.nodes.size());
    for (std::uint64_t i = 0; i < jobs; ++i) draw_foreign_ring();
  }

  void draw_foreign_ring() {
    const NodeId a(static_cast<std::uint32_t>(random.below(world.nodes.size())));
    const NodeId b(static_cast<std::uint32_t>(random.below(world.nodes.size())));
    if (a == b || layout_of(a).cards[0].kind != layout_of(b).cards[0].kind) return;
    const auto card = [&](NodeId node) {
      return static_cast<std::int32_t>(random.below(layout_of(node).cards.size()));
    };
    const std::int32_t card_a = card(a);
    const std::int32_t card_b = card(b);
    const auto slower =
        std::min(layout_of(a).cards[0].bandwidth.value, layout_of(b).cards[0].bandwidth.value);
    const double rate = static_cast<double>(slower) * (0.2 + 0.7 * random.uniform());
    world.foreign.push_back({a, card_a, b, card_b, rate});
    world.foreign.push_back({b, card_b, a, card_a, rate});
  }

  std::int64_t slots(std::int32_t each) const {
    std::int64_t sum = 0;
    for (const std::uint64_t free : world.free) sum += std::popcount(free) / each;
    return sum;
  }

  bool draw_shape() {
    const auto each = one_of(random, {1, 2, 4, 8});
    const auto tasks = one_of(random, {2, 3, 4, 6, 8, 12, 16});
    if (tasks * each > 64 || tasks * each < 2 || slots(each) < tasks) return false;
    JobTraffic& job = world.job.traffic;
    world.job.tasks = tasks;
    world.job.devices_per_task = each;
    const std::int32_t ranks = tasks * each;
    job.tensor = one_of(random, {1, 1, 2, 4, 8});
    job.pipeline = one_of(random, {1, 1, 2, 4});
    if (ranks % (job.tensor * job.pipeline) != 0) return false;
    job.data = ranks / job.tensor / job.pipeline;
    job.order = one_of(random, {RankOrder::kTensorPipelineData, RankOrder::kTensorDataPipeline});
    return true;
  }

  void draw_exchanges() {
    JobTraffic& job = world.job.traffic;
    const auto mega = [&](std::int64_t low, std::int64_t high) {
      return Bytes(random.between(low, high) << 20);
    };
    if (job.tensor > 1) {
      job.exchanges.push_back({Collective::kAllReduce, RankAxis::kTensor, mega(4, 64),
                               static_cast<std::int32_t>(random.between(8, 64))});
    }
    if (job.pipeline > 1) {
      job.exchanges.push_back({Collective::kSendReceive, RankAxis::kPipeline, mega(4, 64),
                               static_cast<std::int32_t>(random.between(4, 32))});
    }
    if (job.data > 1) {
      if (job.data % 2 == 0 && random.chance(1, 5)) {
        job.expert = job.data % 4 == 0 ? 4 : 2;
        job.exchanges.push_back({Collective::kAllToAll, RankAxis::kExpert, mega(8, 64),
                                 static_cast<std::int32_t>(random.between(4, 32))});
      }
      if (random.chance(1, 3)) {
        const Bytes bytes = mega(64, 2'048);
        job.exchanges.push_back({Collective::kReduceScatter, RankAxis::kData, bytes});
        job.exchanges.push_back({Collective::kAllGather, RankAxis::kData, bytes, 2});
      } else {
        job.exchanges.push_back({Collective::kAllReduce, RankAxis::kData, mega(64, 2'048)});
      }
    }
  }

  // How long the computing is beside what all exchanges would take over one
  // card of 200 Gb/s a rank.
  void draw_compute() {
    JobTraffic& job = world.job.traffic;
    double bytes = 0;
    for (const Exchange& exchange : job.exchanges) {
      const double whole = static_cast<double>(exchange.bytes.value) * exchange.times;
      bytes += exchange.collective == Collective::kAllReduce ? 2 * whole : whole;
    }
    world.bandwidth_bound = random.chance(1, 2);
    const double ratio =
        world.bandwidth_bound ? 0.02 + 0.2 * random.uniform() : 1 + 9 * random.uniform();
    job.compute = Duration{static_cast<std::int64_t>(bytes * 8 / 200e9 * ratio * 1e9)};
  }
};

}  // namespace

World draw_world(std::uint64_t seed) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Builder builder(seed * 1'000 + attempt);
    builder.world.seed = seed;
    builder.draw_nodes();
    builder.draw_links();
    builder.draw_others();
    if (!builder.draw_shape()) continue;
    builder.draw_exchanges();
    if (builder.world.job.traffic.exchanges.empty()) continue;
    builder.draw_compute();
    return builder.world;
  }
}

}  // namespace gridfold
