// What jobs send, kept as they come and go, and what that does to others.
#include "engine/communication_cost.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gridfold {
namespace {

class First : public PlacementPolicy {
 public:
  std::string_view name() const override { return "first"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

BitsPerSecond gigabits(std::int64_t value) { return BitsPerSecond(value * 1'000'000'000); }

NodeSpec node(int number, const std::string& rack, bool told = true) {
  NodeSpec spec;
  spec.name = "n" + std::to_string(100 + number);
  spec.cpu = MilliCores(64'000);
  spec.memory = Bytes(std::int64_t{256} << 30);
  for (int g = 0; g < 4; ++g) spec.devices.push_back({"gpu", "G"});
  spec.domains = {{"rack", rack}};
  if (told) {
    NodeLinks links;
    links.cards = {{0, LinkKind::kRoce, gigabits(100)}};
    links.pcie = gigabits(400);
    spec.links = SharedLinks(std::move(links));
  }
  return spec;
}

JobSpec job_of(int tasks, int gpus, Bytes bytes) {
  JobSpec spec;
  Role role;
  role.count = role.min = tasks;
  role.each.cpu = MilliCores(1000);
  role.each.devices.push_back({"gpu", gpus});
  spec.roles.push_back(role);
  if (bytes > Bytes(0)) {
    JobTraffic traffic;
    traffic.data = tasks * gpus;
    traffic.compute = Duration::milliseconds(50);
    traffic.exchanges = {{Collective::kAllReduce, RankAxis::kData, bytes}};
    spec.communication = traffic;
  }
  return spec;
}

EngineOptions options() {
  EngineOptions made;
  LevelLinks rack;
  rack.level = "rack";
  rack.bandwidth = gigabits(50);
  made.fabric = {rack};
  return made;
}

class Grid {
 public:
  explicit Grid(int racks, int nodes_a_rack, bool told = true)
      : engine(options(), std::make_unique<First>()) {
    std::vector<Event> events{QueueConfigured{QueueSpec{}}};
    for (int i = 0; i < racks * nodes_a_rack; ++i)
      events.emplace_back(NodeJoined{node(i, "r" + std::to_string(i / nodes_a_rack), told)});
    step(events);
  }
  Decisions step(const std::vector<Event>& events) {
    now = now + Duration::seconds(1);
    Decisions decisions = engine.step(now, events);
    const auto broken = engine.check_invariants();
    EXPECT_FALSE(broken) << *broken;
    return decisions;
  }
  JobId submit(const JobSpec& spec) {
    const JobId id(next++);
    step({JobSubmitted{id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), {}}});
    return id;
  }
  const JobRecord& record(JobId id) { return *engine.job(id); }
  void finish(JobId id) {
    const auto tasks = static_cast<std::uint32_t>(record(id).tasks.size());
    for (std::uint32_t i = 0; i < tasks; ++i) {
      step({TaskExited{{id, i}, 1, {}}});
      step({TaskCleaned{{id, i}, 1}});
    }
  }

  Engine engine;
  Instant now{};
  std::uint64_t next = 1;
};

constexpr Bytes kMuch{std::int64_t{2} << 30};

TEST(CommunicationCost, OthersOnTheSameLinkMakeAStepLonger) {
  Grid grid(3, 2);
  // Both cross racks: three nodes of four devices each.
  const JobId a = grid.submit(job_of(3, 4, kMuch));
  ASSERT_TRUE(grid.record(a).communication);
  const auto alone = grid.record(a).communication->here;
  EXPECT_GT(alone.communication, Duration{});
  EXPECT_EQ(alone.step, alone.communication + Duration::milliseconds(50));
  EXPECT_EQ(grid.record(a).communication->slowest, LinkKind::kLeaf);
  const JobId b = grid.submit(job_of(3, 4, kMuch));
  ASSERT_TRUE(grid.record(b).communication);
  EXPECT_GT(grid.record(b).communication->here.step, alone.step);
  // When it has ended, a third finds the links as the first did.
  grid.finish(a);
  grid.finish(b);
  const JobId c = grid.submit(job_of(3, 4, kMuch));
  EXPECT_EQ(grid.record(c).communication->here, alone);
}

TEST(CommunicationCost, WithoutLinksNothingChanges) {
  Grid told_of(3, 2, false);
  Grid silent(3, 2, false);
  EXPECT_FALSE(told_of.engine.links_known());
  for (const int tasks : {2, 3, 1}) {
    const JobId a = told_of.submit(job_of(tasks, 2, kMuch));
    const JobId b = silent.submit(job_of(tasks, 2, Bytes(0)));
    EXPECT_FALSE(told_of.record(a).communication);
    EXPECT_EQ(told_of.record(a).tasks, silent.record(b).tasks);
  }
}

// Two tasks of two devices: by score both nodes' first devices would do, one
// node holds them all.
TEST(CommunicationCost, TasksThatFitOnOneNodeGoThereWhenThatIsFaster) {
  Grid grid(2, 2);
  grid.submit(job_of(1, 2, Bytes(0)));
  const JobId a = grid.submit(job_of(2, 2, kMuch));
  EXPECT_EQ(grid.record(a).tasks[0].allocation.node, grid.record(a).tasks[1].allocation.node);
  ASSERT_TRUE(grid.record(a).communication->otherwise);
  EXPECT_GT(grid.record(a).communication->otherwise->step, grid.record(a).communication->here.step);
}

TEST(CommunicationCost, CheckNoticesWhatIsNotSent) {
  Cluster cluster;
  for (int i = 0; i < 4; ++i) {
    NodeRecord record;
    record.spec = node(i, "r");
    record.up = true;
    cluster.put(record);
  }
  CommunicationCost cost(cluster, {});
  const auto spec = std::make_shared<const JobSpec>(job_of(2, 4, kMuch));
  const std::vector<TaskPlace> here = {{NodeId(0), 15}, {NodeId(1), 15}};
  const std::vector<TaskPlace> there = {{NodeId(0), 15}, {NodeId(2), 15}};
  cost.add(JobId(1), spec, here);
  const CommunicationCost::Running right[] = {{JobId(1), spec, here}};
  const CommunicationCost::Running wrong[] = {{JobId(1), spec, there}};
  EXPECT_FALSE(cost.check(right));
  EXPECT_TRUE(cost.check(wrong));
  EXPECT_TRUE(cost.check({}));
  cost.remove(JobId(1));
  EXPECT_FALSE(cost.check({}));
}

// Jobs come, end, are cancelled and lost with their node, nodes join, turns are
// rejected: after every step the traffic is the sum of what running jobs send.
TEST(CommunicationCost, TrafficIsAlwaysTheSumOfItsJobs) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RandomStream random(seed, "communication");
    Grid grid(2, 3);
    int extra = 6;
    std::vector<JobId> jobs;
    std::vector<std::uint64_t> open;  // turns not yet committed
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      Decisions decisions;
      const auto any = [&] { return jobs[random.below(jobs.size())]; };
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2: {
          const JobId id(grid.next++);
          const JobSpec spec =
              job_of(static_cast<int>(random.between(1, 4)), static_cast<int>(random.between(1, 4)),
                     random.chance(3, 4) ? kMuch : Bytes(0));
          decisions = grid.step({JobSubmitted{
              id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), {}}});
          jobs.push_back(id);
          break;
        }
        case 3: {
          if (jobs.empty()) continue;
          const JobId id = any();
          const JobRecord* record = grid.engine.job(id);
          if (record == nullptr) continue;
          std::vector<Event> events;
          for (std::uint32_t t = 0; t < record->tasks.size(); ++t)
            events.emplace_back(TaskStarted{{id, t}, record->tasks[t].attempt});
          decisions = grid.step(events);
          break;
        }
        case 4: {
          if (jobs.empty()) continue;
          const JobId id = any();
          const JobRecord* record = grid.engine.job(id);
          if (record == nullptr || record->tasks.empty()) continue;
          const auto t = static_cast<std::uint32_t>(random.below(record->tasks.size()));
          const std::uint32_t attempt = record->tasks[t].attempt;
          decisions = grid.step({TaskExited{{id, t}, attempt, {random.chance(1, 4) ? 1 : 0}},
                                 TaskCleaned{{id, t}, attempt}});
          break;
        }
        case 5:
          if (jobs.empty()) continue;
          decisions = grid.step({JobCancelRequested{any(), "test"}});
          break;
        case 6:
          if (random.chance(1, 2)) {
            decisions = grid.step({NodeJoined{
                node(extra++, "r" + std::to_string(random.below(3)), random.chance(3, 4))}});
          } else {
            const auto n = static_cast<int>(random.below(6));
            decisions = grid.step({NodeLost{node(n, "").name, Fencing::kFenced}});
            grid.step({NodeJoined{node(n, "r" + std::to_string(n / 3))}});
            open.clear();  // what is rejected later must be the last
          }
          break;
        default:
          if (open.empty()) continue;
          grid.step({TurnRejected{open.back()}});
          open.clear();
          continue;
      }
      open.push_back(decisions.turn);
    }
  }
}

}  // namespace
}  // namespace gridfold
