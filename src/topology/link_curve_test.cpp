#include "topology/link_curve.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace gridfold {
namespace {

constexpr BitsPerSecond kTen{10'000'000'000};

TEST(LinkCurve, RunsStraightBetweenKnotsAndOnAfterTheLast) {
  const auto curve = LinkCurve::build(Duration{5}, Duration{2},
                                      {{Bytes(100), Duration{50}}, {Bytes(200), Duration{60}}},
                                      BitsPerSecond(8'000'000'000));
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->transfer(Bytes(0)).ns, 0);
  EXPECT_EQ(curve->transfer(Bytes(50)).ns, 25);
  EXPECT_EQ(curve->transfer(Bytes(100)).ns, 50);
  EXPECT_EQ(curve->transfer(Bytes(150)).ns, 55);
  EXPECT_EQ(curve->transfer(Bytes(1'200)).ns, 1'060);
  EXPECT_EQ(curve->start().ns, 5);
  EXPECT_EQ(curve->hop().ns, 2);
}

TEST(LinkCurve, NamesTheKnotThatIsWrong) {
  const auto field = [](std::vector<CurveKnot> knots) {
    const auto curve = LinkCurve::build({}, {}, std::move(knots), kTen);
    return curve ? std::string("accepted") : curve.error().field;
  };
  EXPECT_EQ(field({{Bytes(1), Duration{0}}, {Bytes(2), Duration{0}}}), "accepted");
  EXPECT_EQ(field({{Bytes(0), Duration{0}}}), "knots[0]");
  EXPECT_EQ(field({{Bytes(5), Duration{9}}, {Bytes(5), Duration{9}}}), "knots[1]");
  EXPECT_EQ(field({{Bytes(5), Duration{9}}, {Bytes(6), Duration{8}}}), "knots[1]");
  EXPECT_EQ(field({{Bytes(std::int64_t{1} << 51), Duration{9}}}), "knots[0]");
  EXPECT_FALSE(LinkCurve::build(Duration{-1}, {}, {}, kTen));
  EXPECT_FALSE(LinkCurve::build({}, {}, {}, BitsPerSecond(0)));
}

TEST(LinkCurve, NeverWrapsRound) {
  const auto slow = LinkCurve::linear({}, {}, BitsPerSecond(1));
  EXPECT_EQ(slow.transfer(Bytes::max()).ns, Bytes::max().value);
}

RC_GTEST_PROP(LinkCurveProperty, TransferNeverFallsAsBytesGrow, ()) {
  const auto sizes =
      *rc::gen::container<std::set<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 1 << 30));
  std::vector<CurveKnot> knots;
  Duration time;
  for (const std::int64_t size : sizes) {
    time.ns += *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    knots.push_back({Bytes(size), time});
  }
  const auto curve = LinkCurve::build({}, {}, knots, kTen);
  RC_ASSERT(static_cast<bool>(curve));
  const auto less = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 32);
  const auto more = less + *rc::gen::inRange<std::int64_t>(0, 1 << 20);
  RC_ASSERT(curve->transfer(Bytes(less)) <= curve->transfer(Bytes(more)));
}

TEST(LinkCurve, ReadsTheCurvesOfOneMachine) {
  const std::string table =
      "machine,kind,start_ns,hop_ns,bits_per_second,knots\n"
      "# a comment\n"
      "mine,nvlink,7000,500,800000000000,1024:100 2048:150\n"
      "other,nvlink,1,1,1,\n"
      "mine,roce,9000,9000,100000000000,\n";
  const auto curves = read_link_curves(table, "mine");
  ASSERT_TRUE(curves) << curves.error().describe();
  const auto& nvlink = (*curves)[static_cast<std::size_t>(LinkKind::kNvlink)];
  EXPECT_EQ(nvlink.start().ns, 7'000);
  EXPECT_EQ(nvlink.transfer(Bytes(2'048)).ns, 150);
  EXPECT_EQ((*curves)[static_cast<std::size_t>(LinkKind::kRoce)].bandwidth().value,
            100'000'000'000);
  EXPECT_EQ((*curves)[static_cast<std::size_t>(LinkKind::kWan)].bandwidth(),
            typical_curves()[static_cast<std::size_t>(LinkKind::kWan)].bandwidth());
  EXPECT_EQ(read_link_curves(table, "nobody's").error().kind, ErrorKind::kNotFound);
}

TEST(LinkCurve, NamesTheLineThatCannotBeRead) {
  const auto line = [](const std::string& text) {
    return read_link_curves("machine,kind\n" + text, "m").error().position.line;
  };
  EXPECT_EQ(line("m,tube,1,1,1,\n"), 2);
  EXPECT_EQ(line("\nm,pcie,x,1,1,\n"), 3);
  EXPECT_EQ(line("m,pcie,1,1,1,10:\n"), 2);
  EXPECT_EQ(line("m,pcie,1,1,1,10:5 10:6\n"), 2);
  EXPECT_EQ(line("m,pcie,1,1,0,\n"), 2);
  EXPECT_EQ(line("m,pcie,-1,1,1,\n"), 2);
}

TEST(LinkCurve, KindsAreReadAsTheyArePrinted) {
  for (std::size_t i = 0; i < kLinkKinds; ++i) {
    const auto kind = static_cast<LinkKind>(i);
    EXPECT_EQ(parse_link_kind(to_string(kind)), kind);
  }
  EXPECT_FALSE(parse_link_kind("rail"));
}

}  // namespace
}  // namespace gridfold
