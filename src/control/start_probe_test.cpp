// The changes that a probe names: in random worlds each really starts the job
// when it is made, and none is larger than it must be.
#include "control/start_probe.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::int64_t kJobs = 1200;
#else
constexpr std::int64_t kJobs = 100;
#endif

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Policies best_fit() { return std::move(*make_policy("best_fit", {})); }

NodeSpec node_of(int index, RandomStream& random) {
  NodeSpec node{
      .name = "n" + std::to_string(index), .cpu = MilliCores(32'000), .memory = Bytes(256 * kGiB)};
  const std::string model = random.chance(1, 3) ? "B" : "A";
  for (int i = 0; i < 8; ++i) node.devices.push_back({"gpu", model, Bytes(80 * kGiB)});
  node.domains = {{"spine", "s" + std::to_string(index / 8)},
                  {"rack", "r" + std::to_string(index / 4)}};
  return node;
}

JobSpec job_of(RandomStream& random) {
  JobSpec spec;
  spec.name = "job";
  spec.queue = random.chance(1, 3) ? "small" : "default";
  spec.priority = static_cast<std::int32_t>(random.below(3));
  Role role;
  role.count = role.min = random.chance(1, 2) ? 1 : static_cast<std::int32_t>(random.below(6)) + 2;
  role.each.cpu = MilliCores(random.between(1, 16) * 1000);
  role.each.memory = Bytes(random.between(1, 64) * kGiB);
  DeviceRequest gpu{.device_class = "gpu"};
  gpu.count = random.chance(1, 6) ? 1 : 2 << random.below(3);  // few singles: holes stay
  if (random.chance(1, 3)) gpu.models = {random.chance(1, 2) ? "A" : "B"};
  if (gpu.count == 1 && random.chance(1, 3)) gpu.share = DeviceShare(random.between(2, 9) * 100);
  role.each.devices.push_back(gpu);
  spec.roles.push_back(role);
  if (role.count > 1 && random.chance(1, 2))
    spec.topology.require = random.chance(1, 2) ? "rack" : "spine";
  spec.time_limit = Duration::minutes(random.between(1, 50) * 15);
  if (random.chance(1, 6)) spec.workload_class = WorkloadClass::kFiller;
  return spec;
}

// A cluster that is full, with jobs that wait.
std::shared_ptr<const EngineSnapshot> full_world(std::uint64_t seed) {
  RandomStream random(seed, "probe.world");
  EngineOptions options;
  options.backfill.mode = static_cast<BackfillMode>(random.below(3));
  Engine engine(options, best_fit());
  std::vector<Event> events;
  QueueSpec all;
  all.preempts = random.chance(1, 3);
  QueueSpec small{.name = "small"};
  small.limit.devices["gpu"] = random.between(4, 24) * 1000;
  if (random.chance(1, 2)) small.limit.running_jobs = random.between(1, 5);
  events.emplace_back(QueueConfigured{all});
  events.emplace_back(QueueConfigured{small});
  for (int i = 0; i < 16; ++i) events.emplace_back(NodeJoined{node_of(i, random)});
  Instant now = Instant{} + Duration::hours(1);
  engine.step(now, events);
  for (std::uint64_t id = 1; id <= 40; ++id) {
    events.clear();
    events.emplace_back(JobSubmitted{JobId(id),
                                     "job-" + std::to_string(id),
                                     std::make_shared<const JobSpec>(job_of(random)),
                                     {},
                                     false,
                                     std::nullopt});
    now = now + Duration::seconds(random.between(1, 100));
    engine.step(now, events);
    events.clear();
    for (const JobRecord* job : engine.jobs()) {
      for (std::uint32_t i = 0; i < job->tasks.size(); ++i) {
        if (job->tasks[i].phase == TaskPhase::kHeld)
          events.emplace_back(TaskStarted{{job->id, i}, job->tasks[i].attempt});
      }
    }
    engine.step(now, events);
  }
  return std::make_shared<const EngineSnapshot>(take_snapshot(engine, options, now, 0));
}

// Whether the change, made to a fresh copy, gets the job started or its room.
bool really_starts(const EngineSnapshot& snapshot, const JobRecord& job,
                   const StartChange& change) {
  const JobId instead(1'000'000);
  Engine copy = fork_without_jobs(snapshot, best_fit());
  copy.step(snapshot.at, jobs_of(snapshot));
  copy.step(snapshot.at, events_of(change, job, instead));
  const JobRecord* after = copy.job(who_starts(change, job, instead));
  if (after == nullptr) return false;
  if (after->state == JobState::kStarting) return change.victims.empty();
  return std::any_of(after->tasks.begin(), after->tasks.end(),
                     [](const TaskRecord& task) { return !task.claim.node.is_none(); }) &&
         !change.victims.empty();
}

TEST(StartProbe, TheChangesItNamesStartTheJob) {
  std::int64_t jobs = 0;
  std::int64_t helped = 0;
  std::int64_t changes = 0;
  std::int64_t right = 0;
  std::map<ChangeKind, std::int64_t> kinds;
  for (std::uint64_t seed = 1; jobs < kJobs; ++seed) {
    const auto snapshot = full_world(seed);
    StartProbe probe(snapshot, best_fit);
    for (const JobRecord& job : snapshot->jobs) {
      if (job.state != JobState::kPending) continue;
      ++jobs;
      const auto found = probe.changes_for(job.id);
      helped += !found.empty();
      for (const StartChange& change : found) {
        ++changes;
        ++kinds[change.kind];
        const bool starts = really_starts(*snapshot, job, change);
        right += starts;
        EXPECT_TRUE(starts) << "seed " << seed << " job " << job.id.value << " "
                            << to_string(change.kind) << " " << change.from << " -> " << change.to;
      }
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), is_smaller));
    }
  }
  RecordProperty("jobs", static_cast<int>(jobs));
  RecordProperty("with_a_change", static_cast<int>(helped));
  RecordProperty("changes", static_cast<int>(changes));
  std::printf("%lld waiting jobs, %lld with a change, %lld changes, %lld start the job\n",
              static_cast<long long>(jobs), static_cast<long long>(helped),
              static_cast<long long>(changes), static_cast<long long>(right));
  for (const auto& [kind, count] : kinds)
    std::printf("  %s %lld\n", std::string(to_string(kind)).c_str(), static_cast<long long>(count));
  EXPECT_GE(right * 100, changes * 99);
  EXPECT_GE(helped * 8, jobs);  // where every device is taken nothing helps
}

// One task or device more than what is named does not start.
TEST(StartProbe, AmountsAreTheLargestThatWillDo) {
  std::int64_t looked_at = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto snapshot = full_world(seed);
    StartProbe probe(snapshot, best_fit);
    for (const JobRecord& job : snapshot->jobs) {
      if (job.state != JobState::kPending) continue;
      for (StartChange change : probe.changes_for(job.id)) {
        if (change.kind != ChangeKind::kTasks && change.kind != ChangeKind::kDevices) continue;
        change.to += 1;
        change.victims.clear();
        if (change.to == change.from) continue;
        ++looked_at;
        EXPECT_FALSE(really_starts(*snapshot, job, change))
            << "seed " << seed << " job " << job.id.value << " " << to_string(change.kind);
      }
    }
  }
  EXPECT_GT(looked_at, 0);
}

// Who waits for its array is told of that alone, and by how much.
TEST(StartProbe, AnArrayLimitIsRaisedJustSoFar) {
  RandomStream random(1, "probe.array");
  Engine engine({}, best_fit());
  std::vector<Event> events{NodeJoined{node_of(0, random)}, QueueConfigured{QueueSpec{}}};
  const Instant now = Instant{} + Duration::hours(1);
  engine.step(now, events);
  for (std::int32_t i = 0; i < 4; ++i) {
    JobSpec spec;
    spec.name = "a[" + std::to_string(i) + "]";
    spec.array_index = spec.array_position = i;
    spec.array_limit = 1;
    spec.roles.resize(1);
    spec.roles[0].each = {MilliCores(1000), Bytes(kGiB), {{"gpu", 1}}};
    const Event come = JobSubmitted{JobId(static_cast<std::uint64_t>(i) + 5),
                                    spec.name,
                                    std::make_shared<const JobSpec>(spec),
                                    {},
                                    false,
                                    std::nullopt};
    engine.step(now, {&come, 1});
  }
  const auto snapshot = std::make_shared<const EngineSnapshot>(take_snapshot(engine, {}, now, 0));
  StartProbe probe(snapshot, best_fit);
  const auto found = probe.changes_for(JobId(7));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, ChangeKind::kArrayLimit);
  EXPECT_EQ(found[0].from, 1);
  EXPECT_EQ(found[0].to, 3);
  EXPECT_TRUE(really_starts(*snapshot, snapshot->jobs.at(2), found[0]));
}

}  // namespace
}  // namespace gridfold
