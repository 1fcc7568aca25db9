// Against every subset and every way to split: what is called legal is, what is
// refused has no legal place, and what is counted can be reached.
#include "engine/device_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "base/random.h"

namespace gridfold {
namespace {

// 20,000 in the tests; the release check asks for more.
int states() {
  const char* asked = std::getenv("GRIDFOLD_DEVICE_STATES");
  return asked == nullptr ? 20000 : std::atoi(asked);
}

struct Machine {
  std::vector<DeviceSpec> devices;
  DeviceGroups groups;
  DeviceMask all = 0;
};

Machine draw_machine(RandomStream& random) {
  Machine machine;
  const auto count = random.between(1, 10);
  const auto numa = random.between(1, 3);
  const auto switches = random.between(1, 4);
  const auto islands = random.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    DeviceSpec device;
    device.numa = static_cast<std::int32_t>(random.between(random.chance(1, 6) ? -1 : 0, numa - 1));
    device.pcie_switch = static_cast<std::int32_t>(random.between(-1, switches - 1));
    device.island = static_cast<std::int32_t>(random.between(-1, islands - 1));
    machine.devices.push_back(device);
    if (random.chance(9, 10)) machine.all |= DeviceMask{1} << i;
  }
  machine.groups = groups_of(machine.devices);
  return machine;
}

// The rule as it is told to people, from the specs alone.
bool legal(const Machine& machine, DeviceMask set, std::int32_t count, DevicePlace place) {
  if (std::popcount(set) != count) return false;
  if (count == 1 || place == DevicePlace::kAny) return true;
  const auto number = [&](const DeviceSpec& device) {
    return place == DevicePlace::kLinked       ? device.island
           : place == DevicePlace::kSameSwitch ? device.pcie_switch
                                               : device.numa;
  };
  std::map<std::int32_t, std::int32_t> in;
  std::map<std::int32_t, bool> numa_nodes;
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    if (machine.all >> i & 1) numa_nodes[machine.devices[i].numa] = true;
    if (set >> i & 1) ++in[number(machine.devices[i])];
  }
  numa_nodes.erase(-1);
  if (in.count(-1) != 0) return false;
  if (place != DevicePlace::kSpread) return in.size() == 1;
  const auto nodes = static_cast<std::int32_t>(numa_nodes.size());
  return std::all_of(in.begin(), in.end(),
                     [&](const auto& of) { return of.second <= (count + nodes - 1) / nodes; });
}

std::int32_t most_disjoint(const std::vector<DeviceMask>& sets, DeviceMask idle, std::size_t from) {
  std::int32_t most = 0;
  for (std::size_t i = from; i < sets.size(); ++i) {
    if ((sets[i] & ~idle) == 0)
      most = std::max(most, 1 + most_disjoint(sets, idle & ~sets[i], i + 1));
  }
  return most;
}

TEST(DeviceSets, AreLegalAndRefusedOnlyWhenThereIsNone) {
  RandomStream random(7, "device_choice.sets");
  for (int state = 0; state < states(); ++state) {
    const Machine machine = draw_machine(random);
    const DeviceMask idle = machine.all & random.next();
    const SetRequest request{static_cast<std::int32_t>(random.between(1, 5)),
                             static_cast<DevicePlace>(random.below(5)), machine.all};
    std::vector<DeviceMask> sets;
    std::int32_t most = 0;
    for (DeviceMask set = idle; set != 0; set = (set - 1) & idle) {
      if (legal(machine, set, request.count, request.place)) sets.push_back(set);
      if (std::popcount(set) > most && is_legal_set(set, request, machine.groups))
        most = std::popcount(set);
      ASSERT_EQ(std::popcount(set) == request.count && is_legal_set(set, request, machine.groups),
                legal(machine, set, request.count, request.place));
    }
    const std::string where = "state " + std::to_string(state);
    ASSERT_EQ(most_of(idle, request, machine.groups) >= request.count, !sets.empty()) << where;
    if (request.count > 1) {
      ASSERT_EQ(most_of(idle, request, machine.groups), most) << where;
    }
    const std::int32_t several = sets_of(idle, request, machine.groups);
    if (sets.size() <= 60) {
      ASSERT_EQ(several, most_disjoint(sets, idle, 0)) << where;
    }
    if (sets.empty()) continue;
    // Taken one after the other, as many tasks are placed as were counted.
    DeviceMask left = idle;
    for (std::int32_t task = 0; task < several; ++task) {
      const DeviceMask set = choose_set(left, request, machine.groups);
      ASSERT_EQ(set & ~left, 0u) << where;
      ASSERT_TRUE(legal(machine, set, request.count, request.place)) << where;
      left &= ~set;
    }
    ASSERT_LT(most_of(left, request, machine.groups), request.count) << where;
  }
}

// No other set that touches as few groups leaves more, wherever one group of
// each kind holds the task; and one device is always chosen best.
TEST(DeviceSets, LeaveAsMuchTogetherAsCanBe) {
  RandomStream random(8, "device_choice.best");
  for (int state = 0; state < 2000; ++state) {
    const Machine machine = draw_machine(random);
    const DeviceMask idle = machine.all & random.next();
    if (idle == 0) continue;
    const auto left_by = [&](DeviceMask set) {
      std::int64_t sum = 0;
      for (const auto* kind :
           {&machine.groups.numa, &machine.groups.switches, &machine.groups.islands}) {
        for (const DeviceMask group : *kind) {
          const auto left = std::popcount(idle & ~set & group);
          sum += left * left;
        }
      }
      return sum;
    };
    const DeviceMask one = choose_set(idle, {1, DevicePlace::kAny, machine.all}, machine.groups);
    for (DeviceMask bits = idle; bits != 0; bits &= bits - 1)
      ASSERT_GE(left_by(one), left_by(bits & -bits));
    ASSERT_EQ(left_by(one),
              left_by(DeviceMask{1} << order_of_taking(idle, machine.groups).front()));
  }
}

DeviceGroups two_sockets() { return {{0x0F, 0xF0}, {0x03, 0x0C, 0x30, 0xC0}, {0xFF}}; }

TEST(DeviceSets, SingleDevicesShareASocketAndASwitch) {
  DeviceMask idle = 0xFF;
  const SetRequest one{1, DevicePlace::kAny, 0xFF};
  for (const DeviceMask expected : {0x01, 0x02, 0x04, 0x08}) {
    const DeviceMask set = choose_set(idle, one, two_sockets());
    EXPECT_EQ(set, expected);
    idle &= ~set;
  }
  EXPECT_EQ(choose_set(idle, {4, DevicePlace::kSingleNuma, 0xFF}, two_sockets()), 0xF0u);
}

TEST(DeviceSets, AJobTakesTheSmallestHoleThatHoldsIt) {
  // Three free in one socket, four in the other.
  EXPECT_EQ(choose_set(0xFE, {3, DevicePlace::kAny, 0xFF}, two_sockets()), 0x0Eu);
  EXPECT_EQ(choose_set(0xFE, {2, DevicePlace::kAny, 0xFF}, two_sockets()), 0x0Cu);
  EXPECT_EQ(choose_set(0xFE, {1, DevicePlace::kAny, 0xFF}, two_sockets()), 0x02u);
  EXPECT_EQ(choose_set(0xFE, {2, DevicePlace::kSpread, 0xFF}, two_sockets()) & 0x0F, 0x02u);
}

TEST(DeviceSets, AnUnknownPlaceIsNearToNothing) {
  const DeviceGroups nothing;
  EXPECT_EQ(choose_set(0xF0, {2, DevicePlace::kAny, 0xFF}, nothing), 0x30u);
  EXPECT_EQ(most_of(0xFF, {2, DevicePlace::kSingleNuma, 0xFF}, nothing), 1);
  EXPECT_EQ(most_of(0xFF, {2, DevicePlace::kSpread, 0xFF}, nothing), 1);
  EXPECT_EQ(most_of(0xFF, {1, DevicePlace::kLinked, 0xFF}, nothing), 8);
}

// NVIDIA's A100 and H100; names are their places in the table.
PartitionTable mig() {
  return {{{0, 1, 1, 0x7F},
           {1, 1, 2, 0x55},
           {2, 2, 2, 0x15},
           {3, 3, 4, 0x11},
           {4, 4, 4, 0x01},
           {5, 7, 8, 0x01}},
          0xFF};
}

PartitionTable draw_table(RandomStream& random) {
  PartitionTable table;
  const auto slots = random.between(2, 10);
  for (std::uint16_t name = 0; name < random.between(1, 5); ++name) {
    PartitionKind kind;
    kind.name = name;
    kind.length = static_cast<std::int32_t>(random.between(1, slots));
    kind.slices = static_cast<std::int32_t>(random.between(1, kind.length));
    for (std::int64_t start = 0; start + kind.length <= slots; ++start) {
      if (start == 0 || random.chance(1, 2)) kind.starts |= SlotMask{1} << start;
    }
    table.kinds.push_back(kind);
    for (SlotMask left = kind.starts; left != 0; left &= left - 1)
      table.slots |= slots_at(kind, std::countr_zero(left));
  }
  return table;
}

std::int32_t most_partitions(const PartitionKind& kind, SlotMask free, std::int32_t from) {
  std::int32_t most = 0;
  for (std::int32_t start = from; start < kMaxPartitionSlots; ++start) {
    if (!(kind.starts >> start & 1)) continue;
    bool open = true;
    for (std::int32_t slot = start; slot < start + kind.length; ++slot) open &= free >> slot & 1;
    if (!open) continue;
    most = std::max(most, 1 + most_partitions(kind, free, start + kind.length));
  }
  return most;
}

TEST(Partitions, AreRefusedOnlyWhenNoStartIsFree) {
  RandomStream random(9, "device_choice.partitions");
  for (int state = 0; state < states(); ++state) {
    const PartitionTable table = random.chance(1, 2) ? mig() : draw_table(random);
    const PartitionKind& kind = table.kinds[random.below(table.kinds.size())];
    const SlotMask free = table.slots & static_cast<SlotMask>(random.next());
    const std::int32_t most = most_partitions(kind, free, 0);
    const StartChoice choice = choose_start(table, kind, free);
    ASSERT_EQ(partitions_of(kind, free), most) << "state " << state;
    ASSERT_EQ(choice.start >= 0, most > 0) << "state " << state;
    ASSERT_EQ(longest_run(kind, free) == kind.length, most > 0) << "state " << state;
    if (most == 0) continue;
    ASSERT_NE(kind.starts >> choice.start & 1, 0u) << "state " << state;
    const SlotMask slots = slots_at(kind, choice.start);
    ASSERT_EQ(std::popcount(slots), kind.length);
    ASSERT_EQ(slots & ~free, 0u) << "state " << state;
    // As many as were counted go in one after the other.
    ASSERT_EQ(partitions_of(kind, free & ~slots), most - 1) << "state " << state;
    ASSERT_GE(choice.lost, 0) << "state " << state;
  }
}

// On the real layout, the starts that spare the large profiles.
TEST(Partitions, SmallOnesSpareTheLarge) {
  const PartitionTable table = mig();
  SlotMask free = table.slots;
  std::vector<std::int32_t> starts;
  for (int i = 0; i < 3; ++i) {
    starts.push_back(choose_start(table, table.kinds[0], free).start);
    free &= ~slots_at(table.kinds[0], starts.back());
  }
  EXPECT_EQ(starts, (std::vector<std::int32_t>{6, 4, 5}));
  EXPECT_EQ(choose_start(table, table.kinds[4], free).start, 0);  // 4g still goes in
}

// Random streams of requests and departures: over all of them fewer are refused
// than by the first start that is free.
TEST(Partitions, FewerAreRefusedThanByFirstFit) {
  const PartitionTable table = mig();
  const auto refusals = [&](bool first_fit) {
    RandomStream random(10, "device_choice.stream");
    std::int64_t refused = 0;
    for (int stream = 0; stream < 2000; ++stream) {
      SlotMask free = table.slots;
      std::vector<SlotMask> held;
      for (int step = 0; step < 40; ++step) {
        const PartitionKind& kind = table.kinds[random.below(5)];
        const auto leaves = random.next();
        if (random.chance(1, 2)) {
          if (held.empty()) continue;
          const std::size_t which = leaves % held.size();
          free |= held[which];
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
          continue;
        }
        const SlotMask legal = legal_starts(kind, free);
        if (legal == 0) {
          refused += kind.slices;
          continue;
        }
        const std::int32_t start =
            first_fit ? std::countr_zero(legal) : choose_start(table, kind, free).start;
        held.push_back(slots_at(kind, start));
        free &= ~held.back();
      }
    }
    return refused;
  };
  const std::int64_t ours = refusals(false);
  const std::int64_t first = refusals(true);
  RecordProperty("refused_slices", std::to_string(ours));
  RecordProperty("refused_slices_first_fit", std::to_string(first));
  EXPECT_LT(ours * 100, first * 90);
}

}  // namespace
}  // namespace gridfold
