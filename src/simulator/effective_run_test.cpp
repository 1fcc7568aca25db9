// The account of device-time over clusters where things fail: its parts sum,
// and what it calls useful is what the jobs that ended well have really run.
#include <gtest/gtest.h>

#include <map>

#include "accounting/effective_account.h"
#include "base/random.h"
#include "control/control_loop.h"
#include "policies/registry.h"
#include "simulator/cluster_text.h"
#include "simulator/simulated_cluster.h"
#include "stores/memory/memory_store.h"

namespace gridfold {
namespace {

constexpr int kJobs = 80;
constexpr Instant kCalm{3'600'000'000'000};
constexpr Instant kEnd{60'000'000'000'000};

FaultRates no_report_fails() {
  FaultRates rates;
  rates.launch_fails_by_node = 20;
  rates.shim_lost = 50;
  rates.device_dirty = 2;
  rates.node_fault_interval = Duration::seconds(300);
  rates.node_fault_unfenced = 0;
  rates.until = kCalm;
  return rates;
}

FaultRates all_kinds() {
  FaultRates rates = no_report_fails();
  rates.report_dropped = 50;
  rates.report_delayed = 100;
  rates.report_repeated = 100;
  rates.node_fault_unfenced = 500;
  return rates;
}

enum class Mix { kPlain, kWithFillers };

class World {
 public:
  World(std::uint64_t seed, const FaultRates& rates, Mix mix, EffectiveOptions effective = {})
      : mix_(mix),
        random_(seed, "jobs"),
        bits_(seed, "uids"),
        cluster_(parse_cluster_text("nodes=6,gpus=4")->nodes,
                 {Duration::seconds(1), Duration::seconds(2)}, clock_, seeded_faults(seed, rates)),
        account_(effective),
        loop_(options(), engine(seed), store_, cluster_, executor_, clock_) {}

  void run() {
    ASSERT_TRUE(loop_.start([this](Event event) { loop_.post(std::move(event)); }));
    Instant wake = loop_.turn();
    int submitted = 0;
    while (clock_.now() < kEnd && ended_ < kJobs) {
      const Instant arrival =
          submitted < kJobs ? Instant{} + Duration::seconds(submitted * 20) : Instant::never();
      const Instant next = std::min({wake, cluster_.next_event(), arrival, Instant{kEnd}});
      clock_.advance_to(std::max(next, clock_.now()));
      if (clock_.now() >= arrival) submit(submitted++);
      cluster_.advance();
      wake = loop_.turn();
    }
    EXPECT_EQ(ended_, kJobs) << "jobs that never ended";
  }

  EffectiveTotals totals() const { return account_.report(clock_.now()).all(); }
  DeviceTime useful() const { return useful_; }
  Instant now() const { return clock_.now(); }

 private:
  ControlOptions options() {
    ControlOptions control;
    QueueSpec queue;
    queue.limit.devices["gpu"] = 20'000;
    control.queues.queues = {queue};
    control.random_bits = [this] { return bits_.next(); };
    control.on_committed = [this](Instant now, const Decisions& decisions) {
      account_.committed(now, loop_.engine(), decisions);
      for (const auto& decision : decisions.list) {
        const auto* change = std::get_if<JobChanged>(&decision);
        if (change == nullptr || !is_terminal(change->to)) continue;
        ++ended_;
        if (change->to == JobState::kSucceeded) useful_ += truth_[change->job];
      }
      const EffectiveTotals totals = account_.report(now).all();
      ASSERT_EQ(totals.sum(), totals.supplied);
    };
    return control;
  }

  static Engine engine(std::uint64_t seed) {
    EngineOptions options;
    options.seed = seed;
    options.launch_failures_to_drain = 1000;  // nobody is there to undrain
    return Engine(options, std::move(*make_policy("best_fit", {})));
  }

  void submit(int number) {
    JobSpec spec;
    spec.name = "job-" + std::to_string(number);
    spec.retry.max = static_cast<std::int32_t>(random_.between(0, 5));
    Role role;
    role.count = role.min = static_cast<std::int32_t>(random_.between(1, 3));
    role.each.cpu = MilliCores(1000);
    const std::int64_t kind = random_.between(0, 3);
    DeviceRequest group{"gpu", static_cast<std::int32_t>(random_.between(1, 3))};
    if (kind == 0) {
      group.count = 1;
      group.share = DeviceShare(random_.between(1, 999));
    }
    role.each.devices.push_back(group);
    if (mix_ == Mix::kWithFillers && kind == 1) {
      spec.workload_class = WorkloadClass::kFiller;
      spec.checkpoint = Checkpoint{};
      if (random_.between(0, 1) == 1) spec.checkpoint->interval = Duration::seconds(40);
    }
    const Duration duration = Duration::seconds(random_.between(1, 300));
    const DeviceTime devices = DeviceTime{role.count} * group.count * group.share.value;
    spec.roles.push_back(std::move(role));
    SubmitRequest request;
    request.jobs.push_back(std::move(spec));
    loop_.submit(std::move(request), [this, duration, devices](Result<SubmitAnswer> answer) {
      ASSERT_TRUE(answer) << answer.error().describe();
      cluster_.set_truth(answer->jobs.front().id, {duration});
      truth_[answer->jobs.front().id] = devices * duration.ns;
    });
  }

  Mix mix_;
  RandomStream random_, bits_;
  VirtualClock clock_;
  SimulatedCluster cluster_;
  EffectiveAccount account_;
  MemoryStore store_;
  InlineExecutor executor_;
  ControlLoop loop_;
  int ended_ = 0;
  DeviceTime useful_ = 0;
  std::map<JobId, DeviceTime> truth_;
};

void expect_sums(const EffectiveTotals& totals) {
  EXPECT_EQ(totals.sum(), totals.supplied);
  EXPECT_EQ(totals.allocated, totals.at(Part::kUseful) + totals.at(Part::kInProgress) +
                                  totals.sum(PartGroup::kWasted));
  EXPECT_EQ(totals.pooled(), totals.allocated + totals.sum(PartGroup::kIdle));
  for (std::size_t i = 0; i < kParts; ++i)
    EXPECT_GE(totals.parts[i], 0) << to_string(static_cast<Part>(i));
}

// Without checkpoints a run is of use as a whole or not at all.
TEST(EffectiveRun, UsefulIsWhatSucceededWhateverFails) {
  EffectiveTotals all;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, no_report_fails(), Mix::kPlain);
    world.run();
    const EffectiveTotals totals = world.totals();
    expect_sums(totals);
    EXPECT_EQ(totals.at(Part::kUseful), world.useful());
    EXPECT_EQ(totals.at(Part::kInProgress), 0);
    all.add(totals);
  }
  for (const Part part : {Part::kStarting, Part::kClearing, Part::kNodeFailed, Part::kNodeDown,
                          Part::kNoDemand, Part::kQuarantined, Part::kBeyondLimits})
    EXPECT_GT(all.at(part), 0) << to_string(part);
}

TEST(EffectiveRun, PartsSumAtEveryTurnWithFillersAndEveryFault) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, all_kinds(), Mix::kWithFillers);
    world.run();
    expect_sums(world.totals());
  }
}

TEST(EffectiveRun, OnlyTheTimeAskedForIsCounted) {
  const EffectiveOptions window{.from = Instant{} + Duration::minutes(5),
                                .to = Instant{} + Duration::minutes(15)};
  World world(3, all_kinds(), Mix::kWithFillers, window);
  world.run();
  const EffectiveTotals totals = world.totals();
  expect_sums(totals);
  EXPECT_EQ(totals.supplied, DeviceTime{24} * 1000 * Duration::minutes(10).ns);
}

}  // namespace
}  // namespace gridfold
