#include "policies/fgd.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "policies/test_room.h"

namespace gridfold {
namespace {

struct Kind {
  Request request;
  std::int64_t count = 0;
};

// The paper's formula (Weng et al., §4.1 and 4.2), word for word: a task that
// the node cannot take leaves everything a fragment, else what lies on devices
// with too little for it does.
double naive_fragmentation(const NodeRoom& node, const std::vector<Kind>& mix) {
  double total = 0;
  for (const Kind& kind : mix) total += static_cast<double>(kind.count);
  double sum = 0;
  for (const Kind& kind : mix) {
    double all = 0;
    double unusable = 0;
    std::int32_t usable_devices = 0;
    const bool wants_devices = !kind.request.devices.empty();
    for (const DeviceRoom& device : node.devices) {
      all += device.free_share;
      if (!wants_devices) continue;
      const DeviceNeed& need = kind.request.devices[0];
      if (device.free_share >= need.share && need.accepts(device.model)) {
        ++usable_devices;
      } else {
        unusable += device.free_share;
      }
    }
    const bool takes = wants_devices && node.cpu >= kind.request.cpu &&
                       usable_devices >= kind.request.devices[0].count;
    sum += static_cast<double>(kind.count) / total * (takes ? unusable : all);
  }
  return sum;
}

TestNode after(TestNode node, const Request& request, std::uint64_t devices) {
  node.cpu -= request.cpu;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (!(devices >> i & 1)) continue;
    node.devices[i].free_share -= request.devices[0].share;
    node.devices[i].holders = 1;
  }
  return node;
}

// A policy that has learned exactly this mix.
Fgd learned(const std::vector<Kind>& mix, FgdOptions options) {
  Fgd policy(options, {});
  std::int64_t arrivals = 0;
  for (const Kind& kind : mix) {
    for (std::int64_t i = 0; i < kind.count; ++i) policy.observe(kind.request), ++arrivals;
  }
  // Plans are made at powers of two, so the whole mix is repeated up to one.
  while ((arrivals & (arrivals - 1)) != 0) {
    ADD_FAILURE() << "the mix must have a power of two of tasks";
    break;
  }
  return policy;
}

const FgdOptions kAllExact{.rounding = Rounding::kExact, .coverage_percent = 100};

TEST(FgdTest, SmallNodeByHand) {
  // Three tasks of 0.4 and one of two whole devices, one core each.
  const std::vector<Kind> mix = {{request_for(1000, 1, 400, 0), 3},
                                 {request_for(1000, 2, 1000, 1), 1}};
  const Fgd policy = learned(mix, kAllExact);
  // Before: 0.4s can use 0.6 and 1 and 1, the pair 1 and 1: 4 * 2.6 - 3 * 2.6 - 2 = 0.6.
  // A 0.4 on the 0.6 leaves 0.2: 4 * 2.2 - 3 * 2 - 2 = 0.8, 0.2 worse.
  // A 0.4 on an idle one: 4 * 2.2 - 3 * 2.2 - 0 = 2.2, 1.6 worse.
  const TestNode node = node_with(8000, {1000, 600, 1000});
  const Choice choice = policy.choose(node.room(), mix[0].request);
  EXPECT_EQ(choice.devices, 0b010u);
  EXPECT_EQ(choice.score, -200);
}

TEST(FgdTest, CpuThatRunsOutMakesAllAFragment) {
  const std::vector<Kind> mix = {{request_for(4000, 1, 1000, 0), 1}};
  const Fgd policy = learned(mix, kAllExact);
  const TestNode node = node_with(7000, {1000, 1000});
  EXPECT_EQ(policy.choose(node.room(), request_for(3000, 0, 0, 1)).score, 0);
  EXPECT_EQ(policy.choose(node.room(), request_for(4000, 0, 0, 2)).score, -2000);
}

TEST(FgdTest, PublishedRoundingIsASigmoidInPercent) {
  const std::vector<Kind> mix = {{request_for(4000, 1, 1000, 0), 1}};
  const Fgd policy = learned(mix, {.coverage_percent = 100});
  const TestNode node = node_with(7000, {1000, 1000});
  EXPECT_EQ(policy.choose(node.room(), request_for(3000, 0, 0, 1)).score, 50);
  EXPECT_EQ(policy.choose(node.room(), request_for(4000, 0, 0, 2)).score, 11);  // sigmoid(-2)
}

TEST(FgdTest, LearnsAtPowersOfTwo) {
  Fgd policy({}, {});
  const Request request = request_for(1000, 1, 500);
  std::vector<int> plans;
  for (int arrival = 1; arrival <= 9000; ++arrival) {
    if (policy.observe(request)) plans.push_back(arrival);
  }
  EXPECT_EQ(plans, (std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144,
                                     8192}));
}

TEST(FgdTest, KnownMixIsNotLearnedOver) {
  TaskRequest task{MilliCores(4000), Bytes(), {{.device_class = "gpu", .count = 1}}};
  Fgd policy(kAllExact, {{task, 5}});
  Cluster cluster;
  policy.prepare(cluster);
  EXPECT_FALSE(policy.observe(request_for(1000, 1, 500, 1)));
  EXPECT_EQ(policy.choose(node_with(7000, {1000, 1000}).room(), request_for(4000, 0, 0, 2)).score,
            -5 * 2000);
}

TEST(FgdTest, BeforeAnythingIsKnownAllScoresAreAlike) {
  const Fgd policy({}, {});
  const Request slice = request_for(1000, 1, 500);
  EXPECT_EQ(policy.choose(node_with(7000, {1000, 700}).room(), slice).score,
            policy.choose(node_with(9000, {500}).room(), slice).score);
}

rc::Gen<Kind> any_kind() {
  return rc::gen::exec([] {
    const auto shape = *rc::gen::inRange(0, 4);
    const std::int64_t cpu = 1000 * *rc::gen::inRange(0, 9);
    Kind kind;
    if (shape == 0) kind.request = request_for(cpu);
    if (shape == 1) kind.request = request_for(cpu, 1, 50 * *rc::gen::inRange(1, 20));
    if (shape == 2) kind.request = request_for(cpu, 1);
    if (shape == 3) kind.request = request_for(cpu, *rc::gen::inRange(2, 5));
    if (shape > 0 && *rc::gen::inRange(0, 3) == 0)
      kind.request.devices[0].models = {static_cast<std::uint16_t>(*rc::gen::inRange(0, 3))};
    kind.count = 1;
    return kind;
  });
}

TestNode any_node() {
  TestNode node{1000 * *rc::gen::inRange(0, 17), {}};
  const auto model = static_cast<std::uint16_t>(*rc::gen::inRange(0, 4));
  const int devices = *rc::gen::inRange(0, 9);
  for (int i = 0; i < devices; ++i) {
    const int kind = *rc::gen::inRange(0, 3);
    const std::int32_t share = kind == 0 ? 1000 : kind == 1 ? 0 : 50 * *rc::gen::inRange(1, 20);
    node.devices.push_back(device_with(share, model));
  }
  return node;
}

// On nodes of one model the tables give the paper's sum, and the slice goes to
// a device that no other beats.
RC_GTEST_PROP(FgdProperty, AgreesWithTheFormula, ()) {
  std::vector<Kind> mix;
  const int kinds = 1 << *rc::gen::inRange(0, 6);
  for (int i = 0; i < kinds; ++i) {
    mix.push_back(*any_kind());
    mix.back().request.id = static_cast<std::uint32_t>(i);
  }
  const Fgd policy = learned(mix, kAllExact);
  const Fgd rounding = learned(mix, {.coverage_percent = 100});
  const TestNode node = any_node();
  const Request request = (*any_kind()).request;
  RC_PRE(fits(node.room(), request));

  const double before = naive_fragmentation(node.room(), mix);
  const auto gain = [&](std::uint64_t devices) {
    return before - naive_fragmentation(after(node, request, devices).room(), mix);
  };
  const Choice choice = policy.choose(node.room(), request);
  RC_ASSERT(std::abs(gain(choice.devices) * kinds - static_cast<double>(choice.score)) < 1e-6);

  const Choice rounded = rounding.choose(node.room(), request);
  const double percent = 100 / (1 + std::exp(-gain(rounded.devices) / 1000));
  RC_ASSERT(rounded.score == static_cast<std::int64_t>(percent + 1e-9));

  if (request.devices.empty() || request.devices[0].is_whole()) return;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (device_fits(node.devices[i], request.devices[0]))
      RC_ASSERT(gain(std::uint64_t{1} << i) <= gain(choice.devices) + 1e-9);
  }
}

}  // namespace
}  // namespace gridfold
