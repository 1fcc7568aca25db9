// The timeline against a plan by hand: every time, every node, counted on plain
// arrays that share nothing with it.
#include "engine/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace gridfold {
namespace {

class AnyNode final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "any_node"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

constexpr std::int64_t kHorizon = 400;  // seconds; everything that ends has ended by then

Instant at(std::int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

class World final : public ExpectedEnds {
 public:
  World() : domains(cluster, policy), timeline(cluster, domains, *this) {}

  std::optional<Instant> end_of(JobId job) const override {
    const auto known = ends.find(job);
    return known == ends.end() ? Instant::never() : known->second;
  }

  NodeId add(const std::string& rack, int gpus, int npus = 0, int cores = 64) {
    NodeRecord record;
    record.spec.name = "n" + std::to_string(cluster.size());
    record.spec.cpu = MilliCores(cores * 1000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    for (int i = 0; i < gpus; ++i) record.spec.devices.push_back({"gpu", "G", Bytes(80ll << 30)});
    for (int i = 0; i < npus; ++i) record.spec.devices.push_back({"npu", "N", Bytes(32ll << 30)});
    if (!rack.empty()) record.spec.domains = {{"rack", rack}};
    record.up = true;
    racks.push_back(rack);
    return cluster.put(std::move(record));
  }
  const Request& request(int gpus, int npus = 0, int cores = 1) {
    TaskRequest task;
    task.cpu = MilliCores(cores * 1000);
    if (gpus > 0) task.devices.push_back({"gpu", gpus});
    if (npus > 0) task.devices.push_back({"npu", npus});
    return cluster.compile(task);
  }
  // A task that runs until then, if it fits.
  void run(JobId job, NodeId node, const Request& asked, Instant until) {
    if (!fits(cluster.room(node), asked)) return;
    ends[job] = until;
    cluster.take({node, first_fit_devices(cluster.room(node), asked)}, {job, 0}, asked);
  }
  Reservation plan(const Request& asked, std::int64_t tasks, Duration run,
                   const std::string& require = "") {
    parts = {{&asked, tasks}};
    wish.require = require;
    return timeline.plan({parts, &wish, run});
  }

  Cluster cluster;
  AnyNode policy;
  DomainSlots domains;
  Timeline timeline;
  std::map<JobId, Instant> ends;
  std::vector<std::string> racks;
  std::vector<PlanPart> parts;
  TopologyWish wish;
};

// What is free of everything, by node and second.
struct Plain {
  struct Free {
    std::int64_t cores = 0, gpus = 0, npus = 0;
  };
  struct Ask {
    std::int64_t cores = 0, gpus = 0, npus = 0;
  };
  std::vector<std::vector<Free>> nodes;

  static std::int64_t tasks(const Free& free, const Ask& ask) {
    std::int64_t most = 1000;
    if (ask.cores > 0) most = std::min(most, std::max<std::int64_t>(free.cores, 0) / ask.cores);
    if (ask.gpus > 0) most = std::min(most, std::max<std::int64_t>(free.gpus, 0) / ask.gpus);
    if (ask.npus > 0) most = std::min(most, std::max<std::int64_t>(free.npus, 0) / ask.npus);
    return most;
  }
  std::int64_t slots(std::size_t node, std::int64_t from, std::int64_t until,
                     const Ask& ask) const {
    std::int64_t least = 1000;
    for (std::int64_t t = from; t < std::min(until, kHorizon * 3); ++t)
      least = std::min(least, tasks(nodes[node][static_cast<std::size_t>(t)], ask));
    return least;
  }
  void take(std::size_t node, std::int64_t from, std::int64_t until, const Ask& ask,
            std::int64_t tasks) {
    for (std::int64_t t = from; t < std::min(until, kHorizon * 3); ++t) {
      Free& free = nodes[node][static_cast<std::size_t>(t)];
      free.cores -= ask.cores * tasks;
      free.gpus -= ask.gpus * tasks;
      free.npus -= ask.npus * tasks;
    }
  }
  bool is_over() const {
    for (const auto& node : nodes) {
      for (const Free& free : node) {
        if (free.cores < 0 || free.gpus < 0 || free.npus < 0) return true;
      }
    }
    return false;
  }
};

Plain::Ask random_ask(RandomStream& random) {
  Plain::Ask ask;
  ask.cores = 1 + static_cast<std::int64_t>(random.below(6));
  ask.gpus = static_cast<std::int64_t>(random.below(5));
  if (random.below(4) == 0) ask.npus = static_cast<std::int64_t>(random.below(2));
  return ask;
}

// Every job is planned as early as it can be beside those planned before it,
// and nothing is ever given twice.
TEST(Timeline, PlansAsEarlyAsAnExhaustiveSearch) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    RandomStream random(seed, "timeline.test");
    World world;
    Plain plain;
    const std::size_t nodes = 1 + random.below(4);
    for (std::size_t n = 0; n < nodes; ++n) {
      const int gpus = static_cast<int>(random.below(5));
      const int npus = static_cast<int>(random.below(3));
      const int cores = 4 + static_cast<int>(random.below(8));
      world.add(random.below(2) == 0 ? "r1" : "r2", gpus, npus, cores);
      plain.nodes.emplace_back(kHorizon * 3, Plain::Free{cores, gpus, npus});
    }
    std::uint64_t next = 1;
    for (std::uint64_t i = 0; i < 2 * nodes; ++i) {
      const Plain::Ask ask = random_ask(random);
      const auto node = static_cast<std::uint32_t>(random.below(nodes));
      const Request& request = world.request(static_cast<int>(ask.gpus), static_cast<int>(ask.npus),
                                             static_cast<int>(ask.cores));
      if (!fits(world.cluster.room(NodeId(node)), request)) continue;
      const bool never = random.below(12) == 0;
      const auto end = static_cast<std::int64_t>(1 + random.below(60));
      world.run(JobId(next++), NodeId(node), request, never ? Instant::never() : at(end));
      plain.take(node, 0, never ? kHorizon * 3 : end, ask, 1);
    }
    world.timeline.follow(at(0));

    for (int job = 0; job < 6; ++job) {
      const Plain::Ask ask = random_ask(random);
      const auto tasks = static_cast<std::int64_t>(1 + random.below(4));
      const bool for_ever = random.below(10) == 0;
      const auto run = static_cast<std::int64_t>(1 + random.below(40));
      const bool in_rack = random.below(3) == 0;
      const Request& request = world.request(static_cast<int>(ask.gpus), static_cast<int>(ask.npus),
                                             static_cast<int>(ask.cores));
      const Reservation plan = world.plan(
          request, tasks, for_ever ? kForEver : Duration::seconds(run), in_rack ? "rack" : "");
      const std::int64_t length = for_ever ? kHorizon * 3 : run;
      std::int64_t earliest = -1;
      for (std::int64_t t = 0; t < kHorizon && earliest < 0; ++t) {
        std::map<std::string, std::int64_t> slots;
        for (std::size_t n = 0; n < nodes; ++n)
          slots[in_rack ? world.racks[n] : ""] += plain.slots(n, t, t + length, ask);
        for (const auto& [rack, found] : slots) {
          if (found >= tasks) earliest = t;
        }
      }
      if (earliest < 0) {
        ASSERT_TRUE(plan.start.is_never()) << "seed " << seed << " job " << job;
        continue;
      }
      ASSERT_EQ(plan.start, at(earliest)) << "seed " << seed << " job " << job;
      world.timeline.book(JobId(100 + static_cast<std::uint64_t>(job)), plan, world.parts);
      std::int64_t seated = 0;
      std::map<std::string, std::int64_t> racks;
      for (const ReservedSeat& seat : plan.seats) {
        plain.take(seat.node.value, earliest, earliest + length, ask, seat.tasks);
        seated += seat.tasks;
        racks[world.racks[seat.node.value]] += seat.tasks;
      }
      ASSERT_EQ(seated, tasks);
      if (in_rack) {
        ASSERT_EQ(racks.size(), 1u);
      }
      ASSERT_FALSE(plain.is_over()) << "seed " << seed << " job " << job;
      // Now and then one is taken back, and its room found again.
      if (random.below(4) == 0) {
        world.timeline.unbook(JobId(100 + static_cast<std::uint64_t>(job)));
        ASSERT_TRUE(world.timeline.fits(plan, world.parts));
        world.timeline.book(JobId(100 + static_cast<std::uint64_t>(job)), plan, world.parts);
      }
    }
  }
}

// Jobs of two unlike roles: never more than there is, and never earlier than
// each role alone could be.
TEST(Timeline, PlansOfSeveralRolesNeverOverbook) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    RandomStream random(seed, "timeline.roles");
    World world;
    Plain plain;
    const std::size_t nodes = 2 + random.below(3);
    for (std::size_t n = 0; n < nodes; ++n) {
      world.add(random.below(2) == 0 ? "r1" : "r2", 4, 0, 12);
      plain.nodes.emplace_back(kHorizon * 3, Plain::Free{12, 4, 0});
    }
    for (std::uint64_t i = 0; i < nodes; ++i) {
      const auto end = static_cast<std::int64_t>(1 + random.below(60));
      world.run(JobId(i + 1), NodeId(static_cast<std::uint32_t>(i)), world.request(2, 0, 2),
                at(end));
      plain.take(i, 0, end, {2, 2, 0}, 1);
    }
    world.timeline.follow(at(0));
    for (std::uint64_t job = 0; job < 6; ++job) {
      const Plain::Ask big{4, static_cast<std::int64_t>(1 + random.below(4)), 0};
      const Plain::Ask small{1, static_cast<std::int64_t>(random.below(2)), 0};
      const std::vector<PlanPart> parts = {{&world.request(static_cast<int>(small.gpus), 0, 1), 2},
                                           {&world.request(static_cast<int>(big.gpus), 0, 4), 1}};
      const auto run = static_cast<std::int64_t>(1 + random.below(30));
      TopologyWish wish;
      if (random.below(2) == 0) wish.require = "rack";
      if (random.below(3) == 0) wish.segments = Segments{1, "node"};
      const Reservation plan = world.timeline.plan({parts, &wish, Duration::seconds(run)});
      if (plan.start.is_never()) continue;
      const std::int64_t start = (plan.start - Instant{}).ns / 1'000'000'000;
      std::int64_t seated[2] = {0, 0};
      for (const ReservedSeat& seat : plan.seats) {
        seated[seat.role] += seat.tasks;
        plain.take(seat.node.value, start, start + run, seat.role == 0 ? small : big, seat.tasks);
      }
      ASSERT_EQ(seated[0], 2);
      ASSERT_EQ(seated[1], 1);
      ASSERT_FALSE(plain.is_over()) << "seed " << seed << " job " << job;
      world.timeline.book(JobId(100 + job), plan, parts);
    }
  }
}

TEST(Timeline, HalvesLieSideBySide) {
  World world;
  for (int n = 0; n < 2; ++n) world.add("", 8);
  for (std::uint64_t n = 0; n < 2; ++n)
    world.run(JobId(n), NodeId(static_cast<std::uint32_t>(n)), world.request(8), at(100));
  world.timeline.follow(at(0));
  const Request& half = world.request(4);
  NodeId node = NodeId::none();
  for (std::uint64_t job = 10; job < 12; ++job) {
    const Reservation plan = world.plan(half, 1, Duration::seconds(50));
    EXPECT_EQ(plan.start, at(100));
    EXPECT_TRUE(node.is_none() || plan.seats.front().node == node);
    node = plan.seats.front().node;
    world.timeline.book(JobId(job), plan, world.parts);
  }
  // A whole node is still to be had at that time.
  EXPECT_EQ(world.plan(world.request(8), 1, Duration::seconds(50)).start, at(100));
}

TEST(Timeline, AHoleIsUsedByWhoFitsInIt) {
  World world;
  world.add("", 8);
  world.add("", 8);
  world.run(JobId(1), NodeId(0), world.request(8), at(100));
  world.run(JobId(2), NodeId(1), world.request(8), at(300));
  world.timeline.follow(at(0));
  const Reservation gang = world.plan(world.request(8), 2, Duration::seconds(50));
  EXPECT_EQ(gang.start, at(300));
  world.timeline.book(JobId(10), gang, world.parts);
  EXPECT_EQ(world.plan(world.request(8), 1, Duration::seconds(200)).start, at(100));
  EXPECT_EQ(world.plan(world.request(8), 1, Duration::seconds(201)).start, at(350));
}

TEST(Timeline, WhoseEndIsUnknownNeverEnds) {
  World world;
  world.add("", 8);
  world.run(JobId(1), NodeId(0), world.request(1), Instant::never());
  world.timeline.follow(at(0));
  EXPECT_TRUE(world.plan(world.request(8), 1, Duration::seconds(1)).start.is_never());
  EXPECT_EQ(world.plan(world.request(7), 1, kForEver).start, at(0));
}

// An end that comes early is found again, in every list that knew better.
TEST(Timeline, WhatEndsEarlyIsFree) {
  World world;
  for (int n = 0; n < 3; ++n) world.add("r1", 8);
  const Request& all = world.request(8);
  for (std::uint64_t n = 0; n < 3; ++n)
    world.run(JobId(n), NodeId(static_cast<std::uint32_t>(n)), all, at(100));
  world.timeline.follow(at(0));
  EXPECT_EQ(world.plan(all, 1, Duration::seconds(5), "rack").start, at(100));
  EXPECT_EQ(world.plan(all, 1, Duration::seconds(5)).start, at(100));
  world.cluster.give_back(NodeId(1), {JobId(1), 0});
  world.timeline.follow(at(10));
  EXPECT_EQ(world.plan(all, 1, Duration::seconds(5), "rack").start, at(10));
  EXPECT_EQ(world.plan(all, 1, Duration::seconds(5)).start, at(10));
  EXPECT_EQ(world.plan(all, 2, Duration::seconds(5)).start, at(100));
}

// Any four free of eight devices on two sockets hold no four of one socket for
// sure; of seven, four do.
TEST(Timeline, DevicesThatMustLieNearAreCountedWithCare) {
  World world;
  NodeRecord record;
  record.spec.name = "m";
  record.spec.cpu = MilliCores(64'000);
  for (int i = 0; i < 8; ++i) {
    DeviceSpec device{"gpu", "G", Bytes(80ll << 30)};
    device.numa = i / 4;
    record.spec.devices.push_back(device);
  }
  record.up = true;
  world.cluster.put(std::move(record));
  world.racks.emplace_back();
  TaskRequest task;
  task.devices.push_back({"gpu", 4});
  task.devices.back().place = DevicePlace::kSingleNuma;
  const Request& near = world.cluster.compile(task);
  world.run(JobId(1), NodeId(0), world.request(1), at(300));
  world.run(JobId(2), NodeId(0), world.request(1), at(200));
  world.timeline.follow(at(0));
  EXPECT_EQ(world.plan(near, 1, Duration::seconds(10)).start, at(200));  // six free: 3 + 3
  EXPECT_EQ(world.plan(near, 2, Duration::seconds(10)).start, at(300));  // all free
}

}  // namespace
}  // namespace gridfold
