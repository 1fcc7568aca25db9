#include "planner/node_pricing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace gridfold {
namespace {

constexpr int kShareCells = 6;

std::vector<PricedTask> random_tasks(RandomStream& random, int devices) {
  std::vector<PricedTask> tasks;
  const auto count = random.between(1, 6);
  for (int id = 0; id < count; ++id) {
    PricedTask task;
    task.id = id;
    task.value = static_cast<double>(random.between(-2, 12)) / 4;
    task.devices = static_cast<int>(random.between(0, devices));
    task.cpu = static_cast<int>(random.between(task.devices == 0 ? 1 : 0, 4));
    if (task.devices == 1) task.share = static_cast<int>(random.between(1, kShareCells));
    if (task.devices > 1) task.share = kShareCells;
    tasks.push_back(task);
  }
  return tasks;
}

// Every way to put tasks on the node, one after another in order of id.
struct Exhaustive {
  const std::vector<PricedTask>& tasks;
  std::vector<int> room;  // share cells left of each device
  int cpu;

  double best(std::size_t from) {
    double most = 0;
    for (std::size_t i = from; i < tasks.size(); ++i) {
      const PricedTask& task = tasks[i];
      if (task.cpu > cpu || task.value <= 0) continue;
      std::vector<int> before = room;
      if (task.devices == 1) {
        for (int& device : room) {
          if (device >= task.share) most = std::max(most, with(device, i));
        }
      } else if (std::count(room.begin(), room.end(), kShareCells) >= task.devices) {
        int left = task.devices;
        for (int& device : room) {
          if (left > 0 && device == kShareCells) device = 0, --left;
        }
        cpu -= task.cpu;
        most = std::max(most, task.value + best(i));
        cpu += task.cpu;
      }
      room = before;
    }
    return most;
  }

  double with(int& device, std::size_t i) {
    device -= tasks[i].share;
    cpu -= tasks[i].cpu;
    const double value = tasks[i].value + best(i);
    cpu += tasks[i].cpu;
    device += tasks[i].share;
    return value;
  }
};

double value_of(const NodePattern& pattern, const std::vector<PricedTask>& tasks) {
  double value = 0;
  for (const auto& [id, count] : pattern)
    value += tasks[static_cast<std::size_t>(id)].value * count;
  return value;
}

// Only these tasks of the pattern, as often as it says: do they fit?
bool fits(const NodePattern& pattern, const std::vector<PricedTask>& tasks, int devices, int cpu) {
  std::vector<int> slices;
  for (const auto& [id, count] : pattern) {
    const PricedTask& task = tasks[static_cast<std::size_t>(id)];
    cpu -= task.cpu * count;
    if (task.devices > 1) devices -= task.devices * count;
    if (task.devices == 1) slices.insert(slices.end(), static_cast<std::size_t>(count), task.share);
  }
  if (cpu < 0 || devices < 0) return false;
  std::vector<int> room(static_cast<std::size_t>(devices), kShareCells);
  const auto lay = [&](const auto& self, std::size_t at) -> bool {
    if (at == slices.size()) return true;
    for (int& device : room) {
      if (device < slices[at]) continue;
      device -= slices[at];
      if (self(self, at + 1)) return true;
      device += slices[at];
    }
    return false;
  };
  std::sort(slices.rbegin(), slices.rend());
  return lay(lay, 0);
}

TEST(NodePricing, FindsTheBestOfAllPlacements) {
  constexpr int kDevices = 2;
  constexpr int kCpu = 7;
  RandomStream random(1, "node_pricing");
  for (int round = 0; round < 2000; ++round) {
    const auto tasks = random_tasks(random, kDevices);
    NodePricing pricing(kDevices, kCpu, kShareCells);
    pricing.price(tasks);
    for (const auto& [devices, cpu] :
         {std::pair{0, kCpu}, {1, 3}, {kDevices, 5}, {kDevices, kCpu}}) {
      Exhaustive search{tasks, std::vector<int>(static_cast<std::size_t>(devices), kShareCells),
                        cpu};
      const double best = search.best(0);
      ASSERT_DOUBLE_EQ(pricing.best(devices, cpu), best) << "round " << round;
      const NodePattern pattern = pricing.pattern(devices, cpu);
      EXPECT_DOUBLE_EQ(value_of(pattern, tasks), best) << "round " << round;
      EXPECT_TRUE(fits(pattern, tasks, devices, cpu)) << "round " << round;
    }
  }
}

TEST(NodePricing, PairsSlicesThatFillADevice) {
  // 4 + 2 fill a device, 3 + 2 do not; two of 3 are worth most.
  const std::vector<PricedTask> tasks = {{0, 1, 1, 4, 4}, {1, 1, 1, 2, 1}, {2, 1, 1, 3, 3}};
  NodePricing pricing(1, 2, kShareCells);
  pricing.price(tasks);
  EXPECT_DOUBLE_EQ(pricing.best(1, 2), 6);
  EXPECT_EQ(pricing.pattern(1, 2), (NodePattern{{2, 2}}));
  EXPECT_DOUBLE_EQ(pricing.best(1, 1), 4);
}

TEST(NodePricing, TakesNothingThatIsWorthNothing) {
  NodePricing pricing(2, 4, kShareCells);
  pricing.price(std::vector<PricedTask>{{0, 1, 1, 2, 0}, {1, 1, 0, 0, -1}});
  EXPECT_EQ(pricing.best(2, 4), 0);
  EXPECT_TRUE(pricing.pattern(2, 4).empty());
}

}  // namespace
}  // namespace gridfold
