// The control loop over a cluster where everything fails now and then: what
// is promised all the same. A small forerunner of `sim verify`.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "control/control_loop.h"
#include "policies/registry.h"
#include "simulator/cluster_text.h"
#include "simulator/simulated_cluster.h"
#include "stores/memory/memory_store.h"

namespace gridfold {
namespace {

constexpr int kJobs = 60;
constexpr Instant kCalm{3'600'000'000'000};  // no fault from then on
constexpr Instant kEnd{30'000'000'000'000};

FaultRates all_kinds() {
  FaultRates rates;
  rates.report_dropped = 50;
  rates.report_delayed = 100;
  rates.report_repeated = 100;
  rates.launch_fails_by_node = 20;
  rates.shim_lost = 50;
  rates.node_fault_interval = Duration::seconds(200);
  rates.until = kCalm;
  return rates;
}

class FaultyRun {
 public:
  explicit FaultyRun(std::uint64_t seed)
      : random_(seed, "jobs"),
        bits_(seed, "uids"),
        cluster_(parse_cluster_text("nodes=6,gpus=4")->nodes,
                 {Duration::seconds(1), Duration::seconds(1)}, clock_,
                 seeded_faults(seed, all_kinds())),
        loop_(options(), engine(seed), store_, cluster_, executor_, clock_) {}

  void run() {
    ASSERT_TRUE(loop_.start([this](Event event) { loop_.post(std::move(event)); }));
    Instant wake = loop_.turn();
    for (int i = 0; i < kJobs; ++i) submit(i);
    while (clock_.now() < kEnd && ended_ < kJobs) {
      const Instant next = std::min({wake, cluster_.next_event(), Instant{kEnd}});
      clock_.advance_to(std::max(next, clock_.now()));
      cluster_.advance();
      wake = loop_.turn();
      check();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(ended_, kJobs) << "jobs that never ended";
  }

 private:
  ControlOptions options() {
    ControlOptions control;
    control.random_bits = [this] { return bits_.next(); };
    control.on_committed = [this](Instant, const Decisions& decisions) {
      for (const auto& decision : decisions.list) {
        const auto* change = std::get_if<JobChanged>(&decision);
        ended_ += change != nullptr && is_terminal(change->to);
      }
    };
    return control;
  }

  static Engine engine(std::uint64_t seed) {
    EngineOptions options;
    options.seed = seed;
    options.verify = Verify::kEveryStep;
    options.launch_failures_to_drain = 1000;  // nobody is there to undrain
    return Engine(options, std::move(*make_policy("best_fit", {})));
  }

  void submit(int number) {
    JobSpec spec;
    spec.name = "job-" + std::to_string(number);
    spec.retry.max = 1000;
    Role role;
    role.count = role.min = static_cast<std::int32_t>(random_.between(1, 3));
    role.each.cpu = MilliCores(1000);
    role.each.devices.push_back({"gpu", static_cast<std::int32_t>(random_.between(1, 4))});
    spec.roles.push_back(std::move(role));
    SubmitRequest request;
    request.jobs.push_back(std::move(spec));
    const Duration duration = Duration::seconds(random_.between(1, 300));
    loop_.submit(std::move(request), [this, duration](Result<SubmitAnswer> answer) {
      ASSERT_TRUE(answer) << answer.error().describe();
      cluster_.set_truth(answer->jobs.front().id, {duration});
    });
  }

  // No device is held twice, and no task lives twice.
  void check() {
    std::map<std::string, std::uint64_t> held;
    std::map<TaskId, int> alive;
    for (const auto& presence : cluster_.presences()) {
      const auto phase = presence.task.phase;
      const bool gone =
          phase == ObservedTask::Phase::kCleaned || phase == ObservedTask::Phase::kLaunchFailed;
      if (gone) continue;
      std::uint64_t& devices = held[presence.task.node];
      ASSERT_EQ(devices & presence.devices, 0u) << presence.task.node << " at " << clock_.now().ns;
      devices |= presence.devices;
      ASSERT_EQ(++alive[presence.task.task], 1) << "job " << presence.task.task.job.value;
    }
  }

  RandomStream random_, bits_;
  VirtualClock clock_;
  SimulatedCluster cluster_;
  MemoryStore store_;
  InlineExecutor executor_;
  ControlLoop loop_;
  int ended_ = 0;
};

TEST(FaultyRun, NothingIsLostAndNothingRunsTwice) {
  for (std::uint64_t seed = 1; seed <= 20 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FaultyRun(seed).run();
  }
}

}  // namespace
}  // namespace gridfold
