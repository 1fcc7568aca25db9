// Promises are kept: random worlds whose jobs end no later than their limits,
// driven turn by turn, with restarts and turns that are rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "engine/engine.h"

namespace gridfold {
namespace {

class Tightest : public PlacementPolicy {
 public:
  std::string_view name() const override { return "tightest"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    std::int64_t idle = 0;
    for (const DeviceRoom& device : node.devices) idle += device.holders == 0;
    return {-idle * 1'000'000 - node.cpu, first_fit_devices(node, request)};
  }
};

// A cluster whose tasks start at once and end when they were meant to.
class World {
 public:
  World(BackfillMode mode, std::uint64_t seed, std::size_t most = 0,
        BackfillOrder order = BackfillOrder::kArrival)
      : random(seed, "backfill.test"), mode_(mode), most_(most), order_(order), engine_(make()) {
    step({QueueConfigured{QueueSpec{}}});
  }

  void add_node(const std::string& name, const std::string& rack, int gpus,
                const std::string& model = "G") {
    NodeSpec spec;
    spec.name = name;
    spec.cpu = MilliCores(64'000);
    spec.memory = Bytes(std::int64_t{256} << 30);
    for (int g = 0; g < gpus; ++g) spec.devices.push_back({"gpu", model, Bytes(80ll << 30)});
    spec.domains = {{"rack", rack}};
    step({NodeJoined{spec}});
  }

  static JobSpec job(int tasks, int gpus, Duration limit) {
    JobSpec spec;
    Role role;
    role.count = role.min = tasks;
    role.each.cpu = MilliCores(1000);
    if (gpus > 0) role.each.devices.push_back({"gpu", gpus});
    spec.roles.push_back(role);
    spec.time_limit = limit;
    return spec;
  }
  JobId submit(const JobSpec& spec, Duration runs) {
    const JobId id(next_id_++);
    runs_[id] = runs;
    step({JobSubmitted{id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), {}}});
    return id;
  }

  // Goes to the next time at which something happens, at most to `until`.
  bool advance(Instant until) {
    Instant next = std::min(engine_->next_wake(), until);
    if (!ends_.empty()) next = std::min(next, ends_.begin()->first);
    if (next.is_never()) return false;
    now = std::max(now, next);
    std::vector<Event> events;
    while (!ends_.empty() && ends_.begin()->first <= now) {
      const TaskId task = ends_.begin()->second;
      ends_.erase(ends_.begin());
      const std::uint32_t attempt = attempts_.at(task);
      events.emplace_back(TaskExited{task, attempt, ExitStatus{}});
      events.emplace_back(TaskCleaned{task, attempt});
    }
    step(std::move(events));
    return true;
  }

  void step(std::vector<Event> events) {
    do {
      const Decisions decisions = engine_->step(now, events);
      events.clear();
      for (const Decision& decision : decisions.list) {
        if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
          attempts_[launch->task] = launch->attempt;
          events.emplace_back(TaskStarted{launch->task, launch->attempt});
          ends_.emplace(now + runs_.at(launch->task.job), launch->task);
        }
        if (const auto* stop = std::get_if<StopTask>(&decision)) {
          std::erase_if(ends_, [&](const auto& end) { return end.second == stop->task; });
          events.emplace_back(TaskExited{stop->task, stop->attempt, ExitStatus{0, 15}});
          events.emplace_back(TaskCleaned{stop->task, stop->attempt});
        }
      }
      check();
      events.emplace_back(TurnCommitted{decisions.turn});
      if (events.size() == 1) {
        engine_->step(now, events);  // nothing follows from it
        break;
      }
    } while (true);
  }

  // A new engine from the records of this one.
  void restart() {
    const std::map<JobId, Reservation> before = reservations();
    std::vector<Event> events{QueueConfigured{QueueSpec{}}};
    for (const NodeRecord& node : engine_->nodes()) events.emplace_back(NodeRestored{node});
    for (const JobRecord* record : engine_->jobs()) events.emplace_back(JobRestored{*record});
    for (const NodeRecord& node : engine_->nodes()) events.emplace_back(NodeJoined{node.spec});
    engine_ = make();
    step(std::move(events));
    for (const auto& [id, reservation] : reservations()) {
      const auto known = before.find(id);
      if (known == before.end()) continue;
      EXPECT_LE(reservation.start, known->second.start);
    }
  }

  // A job comes, and the turn that takes it in is not stored.
  void reject_a_turn() {
    const std::map<JobId, Reservation> before = reservations();
    const JobId id(next_id_);
    runs_[id] = Duration::seconds(1);
    const std::vector<Event> events{JobSubmitted{
        id, "rejected", std::make_shared<JobSpec>(job(1, 1, Duration::seconds(1000))), {}}};
    const Decisions decisions = engine_->step(now, events);
    step({TurnRejected{decisions.turn}});
    EXPECT_EQ(engine_->job(id), nullptr);
    const std::map<JobId, Reservation> after = reservations();
    for (const auto& [job, reservation] : before) {
      const auto kept = after.find(job);
      EXPECT_TRUE(kept != after.end() || has_started(job)) << "job " << job.value;
      if (kept == after.end()) continue;
      EXPECT_LE(kept->second.start, reservation.start) << "job " << job.value;
    }
  }

  std::map<JobId, Reservation> reservations() const {
    std::map<JobId, Reservation> all;
    for (const JobRecord* record : engine_->jobs()) {
      if (record->reservation) all.emplace(record->id, *record->reservation);
    }
    return all;
  }
  const JobRecord* record(JobId id) const { return engine_->job(id); }
  std::int64_t started_at(JobId id) const {
    return (started_.at(id) - Instant{}).ns / 1'000'000'000;
  }
  bool has_started(JobId id) const { return started_.count(id) != 0; }
  const std::map<JobId, Instant>& started() const { return started_; }
  std::vector<Reason> explain(JobId id) const { return engine_->explain(id); }

  Instant now{};
  RandomStream random;
  bool may_move_back = false;  // for priorities

 private:
  std::unique_ptr<Engine> make() const {
    EngineOptions options;
    options.verify = Verify::kEveryStep;
    options.backfill.mode = mode_;
    options.backfill.max_reservations = most_;
    options.backfill.order = order_;
    return std::make_unique<Engine>(options, std::make_unique<Tightest>());
  }

  // What was promised is kept, and never moves back.
  void check() {
    std::size_t reserved = 0;
    for (const JobRecord* record : engine_->jobs()) {
      const auto promised = promised_.find(record->id);
      if (record->reservation) {
        ++reserved;
        if (promised != promised_.end() && !may_move_back) {
          EXPECT_LE(record->reservation->start, promised->second) << "job " << record->id.value;
        }
        promised_[record->id] = record->reservation->start;
      }
      if (record->started_at.is_never() || started_.count(record->id) != 0) continue;
      started_[record->id] = record->started_at;
      if (promised != promised_.end() && !may_move_back) {
        EXPECT_LE(record->started_at, promised->second) << "job " << record->id.value;
      }
    }
    // In easy mode one for each of at most two models.
    EXPECT_LE(reserved, mode_ == BackfillMode::kNone ? 0 : mode_ == BackfillMode::kEasy ? 2 : 1000);
  }

  BackfillMode mode_;
  std::size_t most_;
  BackfillOrder order_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t next_id_ = 1;
  std::map<JobId, Duration> runs_;
  std::map<TaskId, std::uint32_t> attempts_;
  std::set<std::pair<Instant, TaskId>> ends_;
  std::map<JobId, Instant> promised_;
  std::map<JobId, Instant> started_;
};

Instant at(std::int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

void run_random_world(BackfillMode mode, std::uint64_t seed,
                      BackfillOrder order = BackfillOrder::kArrival, std::size_t most = 0) {
  SCOPED_TRACE(std::string(to_string(mode)) + ", " + std::string(to_string(order)) + ", seed " +
               std::to_string(seed));
  World world(mode, seed, most, order);
  const int nodes = 2 + static_cast<int>(world.random.below(5));
  for (int n = 0; n < nodes; ++n)
    world.add_node("n" + std::to_string(n), "r" + std::to_string(n % 2), 4);
  constexpr std::size_t kJobs = 120;
  Instant arrival{};
  for (std::size_t i = 0; i < kJobs; ++i) {
    arrival = arrival + Duration::seconds(static_cast<std::int64_t>(world.random.below(40)));
    while (world.now < arrival && !testing::Test::HasFailure()) world.advance(arrival);
    const auto limit = static_cast<std::int64_t>(10 * (1 + world.random.below(30)));
    const auto runs =
        world.random.below(3) == 0
            ? limit
            : 1 + static_cast<std::int64_t>(world.random.below(static_cast<std::uint64_t>(limit)));
    const bool gang = world.random.below(3) == 0;
    const int tasks =
        gang ? 1 + static_cast<int>(world.random.below(static_cast<std::uint64_t>(nodes))) : 1;
    JobSpec spec = World::job(tasks, gang ? 4 : 1 + static_cast<int>(world.random.below(4)),
                              Duration::seconds(limit));
    if (gang && tasks * 2 <= nodes && world.random.below(2) == 0) spec.topology.require = "rack";
    world.submit(spec, Duration::seconds(runs));
    if (world.random.below(10) == 0) world.reject_a_turn();
    if (world.random.below(25) == 0) world.restart();
  }
  while (world.advance(Instant::never()) && !testing::Test::HasFailure()) continue;
  EXPECT_EQ(world.started().size(), kJobs);  // nobody waits for ever
}

TEST(Backfill, NobodyStartsLaterThanPromised) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    run_random_world(BackfillMode::kConservative, seed);
    run_random_world(BackfillMode::kEasy, seed);
    run_random_world(BackfillMode::kEasy, seed, BackfillOrder::kShortest);
    run_random_world(BackfillMode::kConservative, seed, BackfillOrder::kShortest, 3);
    if (HasFailure()) break;
  }
}

TEST(Backfill, WithoutItNothingIsReserved) { run_random_world(BackfillMode::kNone, 1); }

// F06: small jobs without end do not keep a big one from ever starting.
TEST(Backfill, ABigGangIsNotPassedOverForEver) {
  World world(BackfillMode::kEasy, 0);
  for (int n = 0; n < 4; ++n) world.add_node("n" + std::to_string(n), "r", 8);
  const JobSpec small = World::job(1, 1, Duration::seconds(600));
  std::int64_t t = 0;
  for (; t < 1000; t += 5) {
    while (world.now < at(t)) world.advance(at(t));
    world.submit(small, Duration::seconds(160));  // just as many as there is room for
  }
  while (world.now < at(1000)) world.advance(at(1000));
  const JobId big = world.submit(World::job(4, 8, Duration::seconds(600)), Duration::seconds(600));
  ASSERT_TRUE(world.record(big)->reservation);
  EXPECT_LE(world.record(big)->reservation->start, at(1600));
  for (; t < 1700; t += 5) {
    while (world.now < at(t)) world.advance(at(t));
    world.submit(small, Duration::seconds(160));
  }
  while (world.now < at(1700)) world.advance(at(1700));
  ASSERT_TRUE(world.has_started(big));
  EXPECT_LE(world.started_at(big), 1600);
}

// N06: who waits for one kind of device holds up nobody who asks for another, and
// a big gang of the other kind has a reservation of its own.
TEST(Backfill, WaitingForOneKindIsNotInTheWayOfAnother) {
  World world(BackfillMode::kEasy, 0);
  for (int n = 0; n < 5; ++n) world.add_node("b2-" + std::to_string(n), "r", 8, "b200");
  for (int n = 0; n < 2; ++n) world.add_node("b3-" + std::to_string(n), "r", 8, "b300");
  const auto of = [](const std::string& model, int tasks, int gpus, std::int64_t limit) {
    JobSpec spec = World::job(tasks, gpus, Duration::seconds(limit));
    spec.roles.front().each.devices.front().models = {model};
    return spec;
  };
  world.submit(of("b300", 2, 8, 500), Duration::seconds(500));
  const JobId j1 = world.submit(of("b300", 1, 8, 100), Duration::seconds(100));
  const JobId j2 = world.submit(of("b200", 1, 8, 100), Duration::seconds(100));
  const JobId j3 = world.submit(of("b200", 1, 2, 100), Duration::seconds(100));
  const JobId gang = world.submit(of("b200", 5, 8, 100), Duration::seconds(100));
  EXPECT_FALSE(world.has_started(j1));
  EXPECT_TRUE(world.has_started(j2));
  EXPECT_TRUE(world.has_started(j3));
  ASSERT_TRUE(world.record(gang)->reservation);
  EXPECT_EQ(world.record(gang)->reservation->start, at(100));
  const JobId small = world.submit(of("b200", 1, 2, 100), Duration::seconds(100));
  const JobId longer = world.submit(of("b200", 1, 2, 200), Duration::seconds(200));
  EXPECT_TRUE(world.has_started(small));
  EXPECT_FALSE(world.has_started(longer));
  const std::vector<Reason> reasons = world.explain(longer);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons.front().code, ReasonCode::kWouldDelayReservation);
  const std::vector<Reason> of_gang = world.explain(gang);
  EXPECT_TRUE(std::any_of(of_gang.begin(), of_gang.end(), [](const Reason& reason) {
    return reason.code == ReasonCode::kReserved && reason.number("at_ns") == at(100).ns &&
           reason.number("nodes") == 5 && reason.text("basis") == "limit";
  }));
  while (world.advance(Instant::never())) continue;
  EXPECT_EQ(world.started_at(gang), 100);
}

// A short job goes into the gap before a reservation, a long one does not.
TEST(Backfill, GapsAreForWhoFitsInThem) {
  World world(BackfillMode::kEasy, 0);
  world.add_node("a", "r", 8);
  world.add_node("b", "r", 8);
  world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(100));
  const JobId gang = world.submit(World::job(2, 8, Duration::seconds(50)), Duration::seconds(50));
  ASSERT_TRUE(world.record(gang)->reservation);
  EXPECT_EQ(world.record(gang)->reservation->start, at(100));
  const JobId too_long =
      world.submit(World::job(1, 8, Duration::seconds(101)), Duration::seconds(1));
  const JobId short_one =
      world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(1));
  EXPECT_TRUE(world.has_started(short_one));
  EXPECT_FALSE(world.has_started(too_long));
  while (world.advance(Instant::never())) continue;
  EXPECT_EQ(world.started_at(gang), 100);
  EXPECT_EQ(world.started_at(too_long), 150);
}

// Of those that only fill gaps the shortest goes first, if that is asked for; who
// has a lower priority goes behind all the same.
TEST(Backfill, TheShortestFillsTheGap) {
  for (const auto order : {BackfillOrder::kArrival, BackfillOrder::kShortest}) {
    const bool by_length = order == BackfillOrder::kShortest;
    World world(BackfillMode::kEasy, 0, 0, order);
    world.add_node("a", "r", 8);
    world.add_node("b", "r", 8);
    world.submit(World::job(1, 8, Duration::seconds(500)), Duration::seconds(500));
    world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(100));
    const JobId gang = world.submit(World::job(2, 8, Duration::seconds(50)), Duration::seconds(50));
    const auto wait = [&](std::int64_t limit, int priority) {
      JobSpec spec = World::job(1, 8, Duration::seconds(limit));
      spec.priority = priority;
      return world.submit(spec, Duration::seconds(limit));
    };
    const JobId medium = wait(90, 0);
    const JobId shortest = wait(80, 0);
    const JobId lower = wait(120, -1);
    while (world.advance(Instant::never())) continue;
    EXPECT_EQ(world.started_at(gang), 500);
    EXPECT_EQ(world.started_at(by_length ? shortest : medium), 100);
    EXPECT_EQ(world.started_at(by_length ? medium : shortest), by_length ? 180 : 190);
    EXPECT_EQ(world.started_at(lower), 270);
  }
}

// What ends early pulls reservations forward.
TEST(Backfill, AnEarlyEndIsPassedOn) {
  World world(BackfillMode::kConservative, 0);
  world.add_node("a", "r", 8);
  world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(10));
  const JobId second =
      world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(10));
  const JobId third = world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(10));
  EXPECT_EQ(world.record(second)->reservation->start, at(100));
  EXPECT_EQ(world.record(third)->reservation->start, at(200));
  world.advance(at(10));
  EXPECT_EQ(world.started_at(second), 10);
  EXPECT_EQ(world.record(third)->reservation->start, at(110));
}

// Higher priority comes first, and who had a reservation gets another.
TEST(Backfill, PriorityGoesBeforeReservations) {
  World world(BackfillMode::kConservative, 0);
  world.add_node("a", "r", 8);
  world.submit(World::job(1, 8, Duration::seconds(100)), Duration::seconds(100));
  const JobId low = world.submit(World::job(1, 8, Duration::seconds(40)), Duration::seconds(40));
  EXPECT_EQ(world.record(low)->reservation->start, at(100));
  JobSpec urgent = World::job(1, 8, Duration::seconds(30));
  urgent.priority = 5;
  world.may_move_back = true;
  const JobId high = world.submit(urgent, Duration::seconds(30));
  EXPECT_EQ(world.record(high)->reservation->start, at(100));
  EXPECT_EQ(world.record(low)->reservation->start, at(130));
}

}  // namespace
}  // namespace gridfold
