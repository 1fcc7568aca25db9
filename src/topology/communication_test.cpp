#include "topology/communication.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "topology/rank_map.h"
#include "topology/test_fabric.h"

namespace gridfold {
namespace {

constexpr Bytes kMega{1 << 20};

JobTraffic over_all(std::int32_t ranks, Collective collective, Bytes bytes) {
  JobTraffic job;
  job.data = ranks;
  job.exchanges = {{collective, RankAxis::kAll, bytes}};
  return job;
}

std::vector<Place> whole_nodes(std::initializer_list<std::uint32_t> nodes, std::int32_t devices) {
  std::vector<Place> places;
  for (const std::uint32_t node : nodes) {
    for (std::int32_t d = 0; d < devices; ++d) places.push_back({NodeId(node), d});
  }
  return places;
}

Duration time_of(const Machine& machine, Collective collective, Bytes bytes,
                 const std::vector<Place>& places, Algorithm algorithm = Algorithm::kBest) {
  ExpectedTime expected(*machine.traffic);
  const JobTraffic job = over_all(static_cast<std::int32_t>(places.size()), collective, bytes);
  return *expected.exchange(job, job.exchanges[0], places, algorithm);
}

TEST(Communication, RingOfTwoEqualsSendingHalfBothWaysTwice) {
  const Machine machine = racks_of(1, 2, eight_linked(), 1'600);
  for (const auto& places : {whole_nodes({0}, 2), whole_nodes({0, 1}, 1)}) {
    const Duration ring = time_of(machine, Collective::kAllReduce, kMega, places, Algorithm::kRing);
    const Duration send =
        time_of(machine, Collective::kSendReceive, Bytes(kMega.value / 2), places);
    const Duration start = machine.fabric->curve(LinkKind::kRoce).start();
    EXPECT_NEAR(static_cast<double>((ring - start).ns),
                2.0 * static_cast<double>((send - start).ns), 4.0);
  }
}

TEST(Communication, AllReduceMovesWhatReduceScatterAndAllGatherMove) {
  const Machine machine = racks_of(2, 4, eight_linked(), 400);
  const auto places = whole_nodes({0, 3, 5}, 8);
  const Duration whole = time_of(machine, Collective::kAllReduce, kMega, places, Algorithm::kRing);
  const Duration scatter = time_of(machine, Collective::kReduceScatter, kMega, places);
  const Duration gather = time_of(machine, Collective::kAllGather, kMega, places);
  const Duration start = machine.fabric->curve(LinkKind::kRoce).start();
  EXPECT_NEAR(static_cast<double>((whole + start).ns), static_cast<double>((scatter + gather).ns),
              8.0);
}

TEST(Communication, FiguresOfTheRingByHand) {
  const Machine machine = racks_of(2, 2, four_on_pcie(), 50);
  // Two devices of a switch: 8.4 us + 2 * 5.7 us + 1 MB at 100 Gb/s.
  const Duration near = time_of(machine, Collective::kAllReduce, Bytes(1'000'000),
                                whole_nodes({0}, 2), Algorithm::kRing);
  EXPECT_NEAR(static_cast<double>(near.ns), 8'400 + 2 * 5'700 + 80'000, 2);
  // Two racks: twice (the card's 9.6 us and the rack's 0.6), at the 50 Gb/s of the racks.
  const Duration far = time_of(machine, Collective::kAllReduce, Bytes(1'000'000),
                               whole_nodes({0, 2}, 1), Algorithm::kRing);
  EXPECT_NEAR(static_cast<double>(far.ns), 8'400 + 2 * 10'200 + 160'000, 2);
}

TEST(Communication, RanksOfOneCardShareIt) {
  const Machine machine = racks_of(1, 2, four_on_pcie(), 1'000);
  JobTraffic job;
  job.tensor = 2;  // two data groups, both between the nodes, through one card
  job.data = 2;
  job.exchanges = {{Collective::kAllReduce, RankAxis::kData, Bytes(100'000'000)}};
  ExpectedTime expected(*machine.traffic);
  const Duration two = expected.step(job, whole_nodes({0, 1}, 2)).communication;
  EXPECT_NEAR(static_cast<double>(two.ns), 16e6, 0.1e6);
}

TEST(Communication, TheFastestAlgorithmDependsOnTheSize) {
  const Machine machine = racks_of(2, 8, eight_linked(), 1'600);
  const auto places = whole_nodes({0, 1, 2, 3, 4, 5, 6, 7}, 8);
  const auto with = [&](Bytes bytes, Algorithm algorithm) {
    return time_of(machine, Collective::kAllReduce, bytes, places, algorithm);
  };
  EXPECT_LT(with(kMega, Algorithm::kHierarchical), with(kMega, Algorithm::kRing));
  EXPECT_LT(with(Bytes(1'000), Algorithm::kTree), with(Bytes(1'000), Algorithm::kRing));
  EXPECT_LT(with(Bytes(1 << 30), Algorithm::kRing), with(Bytes(1 << 30), Algorithm::kTree));
}

TEST(Communication, AlgorithmsThatDoNotExistAreEmpty) {
  const Machine machine = racks_of(1, 3, eight_linked(), 800);
  ExpectedTime expected(*machine.traffic);
  const auto uneven = [&] {
    auto places = whole_nodes({0}, 4);
    places.push_back({NodeId(1), 0});
    return places;
  }();
  const JobTraffic job = over_all(5, Collective::kAllReduce, kMega);
  EXPECT_FALSE(expected.exchange(job, job.exchanges[0], uneven, Algorithm::kHierarchical));
  const JobTraffic gather = over_all(5, Collective::kAllGather, kMega);
  EXPECT_FALSE(expected.exchange(gather, gather.exchanges[0], uneven, Algorithm::kTree));
}

TEST(Communication, AnNvlinkDomainLargerThanANodeNeedsNoCards) {
  const auto nodes = nodes_in_racks(2, 2);
  const auto tree = *DomainTree::build(nodes);
  FabricSpec spec;
  spec.layouts = {four_on_pcie()};
  spec.layout_of_node.assign(4, 0);
  const auto rack = *tree.find(std::vector<DomainStep>{"rack-0"});
  spec.links = {{LinkKind::kNvlink, {rack}, {rack}, Unknown{}, gigabits(7'200)}};
  const Machine machine = machine_of(nodes, spec);
  const Bytes bytes(1'000'000'000);
  const Duration linked = time_of(machine, Collective::kAllReduce, bytes, whole_nodes({0, 1}, 4));
  const Duration apart = time_of(machine, Collective::kAllReduce, bytes, whole_nodes({2, 3}, 4));
  EXPECT_LT(linked.ns * 20, apart.ns);
}

TEST(Communication, MixedNetworksMeetOnTheHostsNetwork) {
  const auto nodes = nodes_in_racks(1, 3);
  FabricSpec spec;
  spec.layouts = {eight_linked(LinkKind::kRoce), eight_linked(LinkKind::kInfiniband)};
  spec.layout_of_node = {0, 0, 1};
  const Machine machine = machine_of(nodes, spec);
  const Bytes bytes(100'000'000);
  const Duration alike = time_of(machine, Collective::kAllReduce, bytes, whole_nodes({0, 1}, 8));
  const Duration mixed = time_of(machine, Collective::kAllReduce, bytes, whole_nodes({0, 2}, 8));
  EXPECT_GT(mixed.ns, alike.ns * 20);
}

TEST(Communication, OtherRailsGoOverTheSpine) {
  const auto nodes = nodes_in_racks(1, 2);
  const auto tree = *DomainTree::build(nodes);
  FabricSpec spec;
  spec.layouts = {eight_linked()};
  spec.layout_of_node.assign(2, 0);
  const auto pod = *tree.find(std::vector<DomainStep>{"rack-0"});
  spec.links = {{LinkKind::kSpine, {pod}, {pod}, Unknown{}, gigabits(100)}};
  const Machine machine = machine_of(nodes, spec);
  const Bytes bytes(10'000'000);
  const auto pair = [](std::int32_t a, std::int32_t b) {
    return std::vector<Place>{{NodeId(0), a}, {NodeId(1), b}};
  };
  const Duration same = time_of(machine, Collective::kAllReduce, bytes, pair(3, 3));
  const Duration other = time_of(machine, Collective::kAllReduce, bytes, pair(3, 4));
  EXPECT_GT(other.ns * 10, same.ns * 15);
}

TEST(Communication, AStepIsComputingAndWhatIsNotHidden) {
  const Machine machine = racks_of(1, 2, eight_linked(), 800);
  ExpectedTime expected(*machine.traffic);
  JobTraffic job = over_all(16, Collective::kAllReduce, Bytes(1 << 28));
  job.compute = Duration::milliseconds(50);
  const auto places = whole_nodes({0, 1}, 8);
  const StepTime shown = expected.step(job, places);
  EXPECT_EQ(shown.step, shown.communication + job.compute);
  job.exchanges[0].hidden = Duration::milliseconds(1);
  EXPECT_EQ(expected.step(job, places).step, shown.step - Duration::milliseconds(1));
  job.exchanges[0].hidden = Duration::seconds(10);
  EXPECT_EQ(expected.step(job, places).step, job.compute);
}

TEST(Communication, RatesOfARunningJobSlowTheNext) {
  Machine machine = racks_of(2, 4, eight_linked(), 200);
  ExpectedTime expected(*machine.traffic);
  const JobTraffic job = over_all(16, Collective::kAllReduce, Bytes(1 << 28));
  const auto first = whole_nodes({0, 4}, 8);
  const auto second = whole_nodes({1, 5}, 8);
  const StepTime alone = expected.step(job, second);
  const auto rates = expected.rates(job, first);
  EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end(),
                             [](const auto& a, const auto& b) { return a.domain < b.domain; }));
  ASSERT_FALSE(rates.empty());
  for (const LinkRate& rate : rates) machine.traffic->add(rate);
  EXPECT_GT(expected.step(job, second).step.ns, alone.step.ns * 3 / 2);
  for (const LinkRate& rate : rates) machine.traffic->remove(rate);
  EXPECT_EQ(expected.step(job, second).step, alone.step);
}

// A machine, a job and places, all drawn.
struct Drawn {
  std::int64_t slow = 1;  // bandwidths of the machine are divided by it
  std::size_t layout = 0;
  JobTraffic job;
  std::vector<Place> places;
};

Machine machine_for(const Drawn& drawn, std::int64_t slow) {
  NodeWiring layout = drawn.layout == 0 ? eight_linked() : four_on_pcie();
  for (NetworkCard& card : layout.cards) card.bandwidth.value /= slow;
  for (BitsPerSecond* at : {&layout.nvlink, &layout.pcie, &layout.numa, &layout.socket}) {
    at->value /= slow;
  }
  return racks_of(3, 4, layout, 400 / slow);
}

Drawn draw() {
  Drawn drawn;
  drawn.layout = *rc::gen::inRange<std::size_t>(0, 2);
  const std::int32_t devices = drawn.layout == 0 ? 8 : 4;
  drawn.job.tensor = *rc::gen::element(1, 2, 4);
  drawn.job.pipeline = *rc::gen::element(1, 2, 3);
  drawn.job.expert = *rc::gen::element(1, 2);
  drawn.job.data = drawn.job.expert * *rc::gen::element(1, 2);
  drawn.job.order =
      *rc::gen::element(RankOrder::kTensorPipelineData, RankOrder::kTensorDataPipeline);
  drawn.job.compute = Duration::microseconds(*rc::gen::inRange<std::int64_t>(0, 10'000));
  drawn.job.exchanges = *rc::gen::container<std::vector<Exchange>>(rc::gen::exec([] {
    Exchange exchange;
    exchange.collective = static_cast<Collective>(*rc::gen::inRange(0, 6));
    exchange.axis = static_cast<RankAxis>(*rc::gen::inRange(0, 5));
    exchange.bytes = Bytes(*rc::gen::inRange<std::int64_t>(0, 1 << 28));
    exchange.times = *rc::gen::inRange(1, 5);
    return exchange;
  }));
  std::vector<Place> all;
  for (std::uint32_t node = 0; node < 12; ++node) {
    for (std::int32_t d = 0; d < devices; ++d) all.push_back({NodeId(node), d});
  }
  for (std::int64_t left = drawn.job.ranks(); left > 0; --left) {
    const auto at = *rc::gen::inRange<std::size_t>(0, all.size());
    drawn.places.push_back(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return drawn;
}

RC_GTEST_PROP(CommunicationProperty, TimeNeverFallsWhenBytesGrow, ()) {
  const Drawn drawn = draw();
  const Machine machine = machine_for(drawn, 1);
  ExpectedTime expected(*machine.traffic);
  JobTraffic more = drawn.job;
  for (Exchange& exchange : more.exchanges) {
    exchange.bytes.value += *rc::gen::inRange<std::int64_t>(0, 1 << 20);
  }
  RC_ASSERT(expected.step(more, drawn.places).step >= expected.step(drawn.job, drawn.places).step);
}

RC_GTEST_PROP(CommunicationProperty, TimeNeverFallsWhenLinksGetSlower, ()) {
  const Drawn drawn = draw();
  const Machine fast = machine_for(drawn, 1);
  const Machine slow = machine_for(drawn, *rc::gen::inRange<std::int64_t>(2, 50));
  ExpectedTime by_fast(*fast.traffic);
  ExpectedTime by_slow(*slow.traffic);
  RC_ASSERT(by_slow.step(drawn.job, drawn.places).step >=
            by_fast.step(drawn.job, drawn.places).step);
}

RC_GTEST_PROP(CommunicationProperty, TimeNeverFallsWhenOthersSendMore, ()) {
  const Drawn drawn = draw();
  Machine machine = machine_for(drawn, 1);
  ExpectedTime expected(*machine.traffic);
  Duration before = expected.step(drawn.job, drawn.places).step;
  for (int i = 0; i < 4; ++i) {
    const DomainId domain(*rc::gen::inRange<std::uint32_t>(1, machine.tree->size()));
    machine.traffic->add({domain, machine.tree->is_node(domain) ? *rc::gen::inRange(-1, 1) : -1,
                          gigabits(*rc::gen::inRange<std::int64_t>(1, 500))});
    const Duration after = expected.step(drawn.job, drawn.places).step;
    RC_ASSERT(after >= before);
    before = after;
  }
}

RC_GTEST_PROP(CommunicationProperty, TheSameQuestionHasTheSameAnswerAgain, ()) {
  const Drawn drawn = draw();
  const Drawn other = draw();
  const Machine machine = machine_for(drawn, 1);
  const Machine otherwise = machine_for(other, 1);
  ExpectedTime expected(*machine.traffic);
  const Duration first = expected.step(drawn.job, drawn.places).step;
  if (drawn.layout == other.layout) expected.step(other.job, other.places);
  RC_ASSERT(expected.step(drawn.job, drawn.places).step == first);
  ExpectedTime fresh(*machine.traffic);
  RC_ASSERT(fresh.step(drawn.job, drawn.places).step == first);
}

}  // namespace
}  // namespace gridfold
