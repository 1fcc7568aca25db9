#include "topology/fabric.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/job_traffic.h"
#include "topology/test_fabric.h"

namespace gridfold {
namespace {

struct Site {
  std::vector<NodeSpec> nodes = nodes_in_racks(2, 2);
  DomainTree tree = *DomainTree::build(nodes);
  FabricSpec spec;

  Site() {
    spec.layouts = {eight_linked(), four_on_pcie()};
    spec.layout_of_node = {0, 0, 1, 1};
  }
  DomainId rack(const char* name) const { return *tree.find(std::vector<DomainStep>{name}); }
};

TEST(Fabric, ANodesCapacityIsThatOfItsCardsUnlessALinkSaysLess) {
  Site site;
  const DomainId first = site.tree.domain_of(NodeId(0));
  site.spec.links = {{LinkKind::kLeaf, {first}, {site.rack("rack-0")}, Unknown{}, gigabits(500)}};
  const auto fabric = Fabric::build(site.tree, site.spec);
  ASSERT_TRUE(fabric) << fabric.error().describe();
  EXPECT_EQ(fabric->uplink(first).capacity, 500'000'000'000);
  EXPECT_EQ(fabric->uplink(site.tree.domain_of(NodeId(1))).capacity, 1'600'000'000'000);
  EXPECT_EQ(fabric->uplink(site.tree.domain_of(NodeId(2))).capacity, 100'000'000'000);
  EXPECT_EQ(fabric->uplink(site.rack("rack-0")).capacity, 0);
}

TEST(Fabric, KnowsUnitsAndRailDomains) {
  Site site;
  const DomainId linked = site.rack("rack-0");
  const DomainId rails = site.rack("rack-1");
  site.spec.links = {{LinkKind::kNvlink, {linked}, {linked}, Unknown{}, gigabits(3'200)},
                     {LinkKind::kSpine, {rails}, {rails}}};
  const auto fabric = Fabric::build(site.tree, site.spec);
  ASSERT_TRUE(fabric) << fabric.error().describe();
  EXPECT_EQ(fabric->unit(NodeId(1)), linked);
  EXPECT_EQ(fabric->unit(NodeId(2)), site.tree.domain_of(NodeId(2)));
  EXPECT_TRUE(fabric->rail_domain(NodeId(0)).is_none());
  EXPECT_EQ(fabric->rail_domain(NodeId(3)), rails);
  EXPECT_EQ(fabric->between_rails(rails), 0);
}

TEST(Fabric, NamesTheFieldThatIsWrong) {
  const auto field = [](const std::function<void(Site&)>& spoil) {
    Site site;
    spoil(site);
    const auto fabric = Fabric::build(site.tree, site.spec);
    return fabric ? std::string("accepted") : fabric.error().field;
  };
  EXPECT_EQ(field([](Site&) {}), "accepted");
  EXPECT_EQ(field([](Site& s) { s.spec.layout_of_node.pop_back(); }), "layout_of_node");
  EXPECT_EQ(field([](Site& s) { s.spec.layout_of_node[2] = 9; }), "layout_of_node[2]");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[1].cards.clear(); }), "layouts[1].cards");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[1].cards[0].kind = LinkKind::kSpine; }),
            "layouts[1].cards[0]");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[0].cards[3].rail = 64; }), "layouts[0].cards[3]");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[0].devices[7].card = 8; }), "layouts[0].devices[7]");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[0].devices[0].island = -2; }),
            "layouts[0].devices[0]");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[0].devices.resize(65); }), "layouts[0].devices");
  EXPECT_EQ(field([](Site& s) { s.spec.layouts[0].socket = BitsPerSecond(0); }), "layouts[0]");
  const auto link = [&](Link wrong) { return field([&](Site& s) { s.spec.links = {wrong}; }); };
  const DomainId root = DomainTree::root();
  const DomainId rack = Site().rack("rack-0");
  EXPECT_EQ(link({LinkKind::kLeaf, {rack}, {root}}), "accepted");
  EXPECT_EQ(link({LinkKind::kLeaf, {DomainId(99)}, {root}}), "links[0].a");
  EXPECT_EQ(link({LinkKind::kLeaf, {rack, 1}, {root}}), "links[0].a");
  EXPECT_EQ(link({LinkKind::kLeaf, {root}, {rack}}), "links[0].b");
  EXPECT_EQ(link({LinkKind::kPcie, {rack}, {root}}), "links[0].b");
  EXPECT_EQ(link({LinkKind::kNvlink, {rack}, {rack}}), "links[0].b");
  EXPECT_EQ(link({LinkKind::kLeaf, {rack}, {root}, Duration{-1}}), "links[0].latency");
  EXPECT_EQ(link({LinkKind::kLeaf, {rack}, {root}, Unknown{}, BitsPerSecond(0)}),
            "links[0].bandwidth");
}

TEST(LinkTraffic, ANewcomerGetsWhatIsLeftOrItsFairShare) {
  Machine machine = racks_of(2, 2, eight_linked(), 400);
  LinkTraffic& traffic = *machine.traffic;
  const DomainId rack = machine.rack("rack-0");
  EXPECT_EQ(traffic.available(rack), 400'000'000'000);
  traffic.add({rack, -1, gigabits(100)});
  EXPECT_EQ(traffic.available(rack), 300'000'000'000);
  traffic.add({rack, -1, gigabits(290), 3});
  EXPECT_EQ(traffic.available(rack), 80'000'000'000);
  EXPECT_EQ(traffic.shared(rack).others, 4);
  traffic.remove({rack, -1, gigabits(290), 3});
  traffic.remove({rack, -1, gigabits(100)});
  EXPECT_EQ(traffic.available(rack), 400'000'000'000);
}

TEST(LinkTraffic, CardsAreCountedByThemselves) {
  Machine machine = racks_of(2, 2, eight_linked(), 400);
  LinkTraffic& traffic = *machine.traffic;
  const LinkRate rate{machine.tree->domain_of(NodeId(1)), 3, gigabits(150)};
  traffic.add(rate);
  EXPECT_EQ(traffic.shared_card(NodeId(1), 3).others, 1);
  EXPECT_EQ(traffic.shared_card(NodeId(1), 2).others, 0);
  EXPECT_EQ(traffic.shared_card(NodeId(1), 3).left, 4 * traffic.shared_card(NodeId(1), 2).left);
  traffic.remove(rate);
  EXPECT_EQ(traffic.shared_card(NodeId(1), 3).others, 0);
}

TEST(JobTraffic, NamesTheFieldThatIsWrong) {
  const auto field = [](const std::function<void(JobTraffic&)>& spoil) {
    JobTraffic job;
    job.exchanges.resize(1);
    spoil(job);
    const auto checked = check_traffic(job);
    return checked ? std::string("accepted") : checked.error().field;
  };
  EXPECT_EQ(field([](JobTraffic&) {}), "accepted");
  EXPECT_EQ(field([](JobTraffic& j) { j.tensor = 0; }), "tensor");
  EXPECT_EQ(field([](JobTraffic& j) { j.pipeline = -1; }), "pipeline");
  EXPECT_EQ(field([](JobTraffic& j) { j.tensor = j.data = 1 << 20; }), "data");
  EXPECT_EQ(field([](JobTraffic& j) { j.tensor = j.pipeline = j.data = 1 << 20; }), "data");
  EXPECT_EQ(field([](JobTraffic& j) { j.data = 6, j.expert = 4; }), "expert");
  EXPECT_EQ(field([](JobTraffic& j) { j.compute = Duration{-1}; }), "compute");
  EXPECT_EQ(field([](JobTraffic& j) { j.exchanges[0].bytes = Bytes(-1); }), "exchanges[0].bytes");
  EXPECT_EQ(field([](JobTraffic& j) { j.exchanges[0].bytes = Bytes::max(); }),
            "exchanges[0].bytes");
  EXPECT_EQ(field([](JobTraffic& j) { j.exchanges[0].times = 0; }), "exchanges[0].times");
  EXPECT_EQ(field([](JobTraffic& j) { j.exchanges[0].hidden = Duration{-1}; }),
            "exchanges[0].hidden");
}

TEST(JobTraffic, EveryAxisCutsTheRanksIntoWholeGroups) {
  JobTraffic job;
  job.tensor = 2;
  job.pipeline = 3;
  job.data = 4;
  job.expert = 2;
  for (const auto order : {RankOrder::kTensorPipelineData, RankOrder::kTensorDataPipeline}) {
    job.order = order;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const AxisGroups groups = groups_of(job, static_cast<RankAxis>(axis));
      std::vector<std::vector<bool>> seen(static_cast<std::size_t>(job.ranks() / groups.size),
                                          std::vector<bool>(static_cast<std::size_t>(groups.size)));
      for (std::int64_t rank = 0; rank < job.ranks(); ++rank) {
        const auto group = static_cast<std::size_t>(groups.group_of(rank));
        const auto position = static_cast<std::size_t>(groups.position_of(rank));
        ASSERT_LT(group, seen.size());
        ASSERT_FALSE(seen[group][position]);
        seen[group][position] = true;
      }
    }
  }
}

TEST(JobTraffic, NamesOfCollectivesAndAxes) {
  EXPECT_EQ(to_string(Collective::kReduceScatter), "reduce_scatter");
  EXPECT_EQ(to_string(RankAxis::kExpert), "expert");
}

}  // namespace
}  // namespace gridfold
