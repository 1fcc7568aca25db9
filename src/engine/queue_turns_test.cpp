// Turns by share: what is remembered of what was held, and who is next.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "engine/decayed_usage.h"
#include "engine/queue_tree.h"

namespace gridfold {
namespace {

Instant at(double seconds) { return Instant{static_cast<std::int64_t>(seconds * 1e9)}; }

TEST(DecayedUsage, HalvesAfterAHalfLife) {
  const Duration half = Duration::hours(1);
  EXPECT_EQ(decay_factor(Duration{}, half), std::int64_t{1} << 62);
  EXPECT_EQ(decay_factor(half, half), std::int64_t{1} << 61);
  for (const double hours : {0.001, 0.25, 0.5, 0.999, 1.5, 7.25}) {
    const double exact = std::exp2(-hours) * 0x1p62;
    const auto factor = static_cast<double>(
        decay_factor(Duration{static_cast<std::int64_t>(hours * 3600e9)}, half));
    EXPECT_NEAR(factor / exact, 1, 1e-9) << hours;
  }
  EXPECT_EQ(decay_factor(Duration::hours(100), half), 0);
}

// The mean that the definition gives, however the time is cut into calls.
TEST(DecayedUsage, IsTheSameInSmallAndLargeSteps) {
  const Duration half = Duration::hours(1);
  RandomStream random(7, "test.decay");
  for (int run = 0; run < 50; ++run) {
    DecayedUsage usage;
    double mean = 0;
    double now = 0;
    for (int step = 0; step < 200; ++step) {
      const std::int64_t held = random.between(0, 100'000);
      const double next = now + static_cast<double>(random.between(1, 120'000)) / 1000;
      usage.advance(at(now), std::array{held}, half);
      const std::int64_t calls = random.between(1, 40);
      for (std::int64_t i = 1; i <= calls; ++i)
        usage.advance(at(now + (next - now) * static_cast<double>(i) / static_cast<double>(calls)),
                      std::array{held}, half);
      const double kept = std::exp2(-(next - now) / 3600);
      mean = mean * kept + static_cast<double>(held) * (1 - kept);
      now = next;
    }
    EXPECT_NEAR(static_cast<double>(usage.mean(0)), mean, 2 + mean * 1e-4);
  }
}

class QueueTurnsTest : public ::testing::Test {
 protected:
  QueueTurnsTest() {
    NodeRecord node;
    node.up = true;
    node.spec.name = "n";
    node.spec.cpu = MilliCores(100'000);
    node.spec.memory = Bytes(std::int64_t{1} << 40);
    node.spec.devices.assign(50, DeviceSpec{});
    for (DeviceSpec& device : node.spec.devices) device.device_class = "gpu";
    cluster_.put(node);
  }
  QueueId queue(const std::string& name, std::int32_t weight) {
    QueueSpec spec;
    spec.name = name;
    spec.weight = weight;
    tree_.configure(spec);
    return *tree_.find(name);
  }
  const Request& request(std::int64_t cpu, std::int32_t gpus) {
    TaskRequest task;
    task.cpu = MilliCores(cpu);
    if (gpus > 0) {
      DeviceRequest device;
      device.device_class = "gpu";
      device.count = gpus;
      task.devices.push_back(device);
    }
    return cluster_.compile(task);
  }

  Cluster cluster_;
  QueueTree tree_{cluster_};
};

// As the example of Ghodsi et al. (NSDI 2011), section 4.1, with 100 cores and 50
// devices: A's tasks take <1 core, 2 devices>, B's <6 cores, 1 device>.
TEST_F(QueueTurnsTest, SharesAreOfTheScarcestResource) {
  const QueueId a = queue("a", 1);
  const QueueId b = queue("b", 1);
  const Request& of_a = request(1'000, 2);  // 1 % of the cores, 4 % of the devices
  const Request& of_b = request(6'000, 1);  // 6 %, 2 %
  tree_.charge(a, of_a, +1);
  tree_.charge(b, of_b, +1);
  EXPECT_EQ(tree_.share_of(a), 40'000);
  EXPECT_EQ(tree_.share_of(b), 60'000);
  int tasks[2] = {1, 1};
  std::int64_t cores = 93'000;
  std::int64_t gpus = 47;
  for (;;) {
    const bool first = tree_.goes_before(a, b);
    const Request& next = first ? of_a : of_b;
    if (next.cpu > cores || next.devices[0].count > gpus) break;
    cores -= next.cpu;
    gpus -= next.devices[0].count;
    tree_.charge(first ? a : b, next, +1);
    ++tasks[first ? 0 : 1];
  }
  // 2 a + b devices are 50, and 4 % of a is 6 % of b: 18.75 and 12.5 tasks.
  EXPECT_EQ(tasks[0], 19);
  EXPECT_EQ(tasks[1], 12);
}

TEST_F(QueueTurnsTest, WeightsDivideTheShare) {
  const QueueId a = queue("a", 3);
  const QueueId b = queue("b", 1);
  const Request& one = request(0, 1);
  for (int i = 0; i < 40; ++i) tree_.charge(tree_.goes_before(a, b) ? a : b, one, +1);
  EXPECT_EQ(tree_.usage(a).devices["gpu"], 30'000);
  EXPECT_EQ(tree_.usage(b).devices["gpu"], 10'000);
}

// What a queue held lately counts beside what it holds.
TEST_F(QueueTurnsTest, WhoHadMuchLatelyWaits) {
  tree_.share_as({{}, Duration::hours(1), {}});
  const QueueId a = queue("a", 1);
  const QueueId b = queue("b", 1);
  const Request& one = request(0, 10);
  tree_.set_time(at(0));
  tree_.charge(a, one, +1);
  tree_.set_time(at(3600));
  tree_.charge(a, one, -1);
  EXPECT_EQ(tree_.share_of(a), 100'000);  // half of a fifth
  EXPECT_TRUE(tree_.goes_before(b, a));
  tree_.set_time(at(2 * 3600));
  EXPECT_NEAR(static_cast<double>(tree_.share_of(a)), 50'000, 50);
}

TEST_F(QueueTurnsTest, ChildrenCountForTheirParent) {
  const QueueId team = queue("team", 1);
  const QueueId other = queue("other", 1);
  queue("team/x", 1);
  const QueueId x = tree_.place_of("team/x", "ann");
  tree_.charge(x, request(0, 5), +1);
  EXPECT_EQ(tree_.share_of(team), 100'000);
  EXPECT_TRUE(tree_.goes_before(other, team));
}

}  // namespace
}  // namespace gridfold
