// What an explanation costs on a large grid: NODES nodes of 8 GPUs, all busy, and
// JOBS jobs that wait (one in four a gang), as the daemon would answer.
//
//   explain_bench [NODES [JOBS]]
//
// One JSON object, times are of the processor: the copy that the loop makes for a table, the
// table's forward run and how many starts it reached, the first question (which builds the copy to
// try things out on) and those after it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "base/random.h"
#include "control/start_estimates.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

// Processor time of this one thread, so that other load does not count.
struct Clock {
  static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
};
double since(double begin) { return Clock::now() - begin; }

Policies policies() { return std::move(*make_policy("best_fit", {})); }

std::shared_ptr<const JobSpec> job_of(RandomStream& random) {
  JobSpec spec;
  Role role;
  const bool gang = random.chance(1, 4);
  role.count = role.min = gang ? 2 << random.below(5) : 1;
  DeviceRequest gpu{.device_class = "gpu"};
  gpu.count = gang ? 8 : 1 << random.below(4);
  role.each.cpu = MilliCores(gpu.count * 4000);
  role.each.devices.push_back(gpu);
  spec.roles.push_back(role);
  if (gang && role.count <= 16 && random.chance(1, 2)) spec.topology.require = "rack";
  spec.time_limit = Duration::minutes(15 * random.between(1, 96));
  return std::make_shared<const JobSpec>(std::move(spec));
}

int run(int nodes, int jobs) {
  RandomStream random(1, "explain.bench");
  EngineOptions options;
  Engine engine(options, policies());
  const Instant now = Instant{} + Duration::hours(1);
  std::vector<Event> events{QueueConfigured{}};
  for (int i = 0; i < nodes; ++i) {
    NodeSpec node{.name = "n" + std::to_string(i), .cpu = MilliCores(64'000), .memory = Bytes(1)};
    for (int g = 0; g < 8; ++g) node.devices.push_back({"gpu", "H100", {}});
    node.domains = {{"rack", "r" + std::to_string(i / 16)}};
    events.emplace_back(NodeJoined{std::move(node)});
  }
  engine.step(now, events);
  std::uint64_t id = 0;
  std::vector<std::shared_ptr<const JobSpec>> specs;
  for (int i = 0; i < 2000; ++i) specs.push_back(job_of(random));
  std::int64_t waiting = 0;
  while (waiting < jobs) {
    events.clear();
    for (int i = 0; i < 1000; ++i) {
      ++id;
      events.emplace_back(JobSubmitted{JobId(id),
                                       "00000000-0000-7000-8000-000000000000",
                                       specs[random.below(specs.size())],
                                       {},
                                       false,
                                       {}});
    }
    const Decisions& decisions = engine.step(now, events);
    events.assign(1, TurnCommitted{decisions.turn});
    engine.step(now, events);
    waiting = engine.usage("default").pending_jobs;
  }
  auto begin = Clock::now();
  const auto snapshot =
      std::make_shared<const EngineSnapshot>(take_snapshot(engine, options, now, 1));
  const double copying = since(begin);
  begin = Clock::now();
  const auto answer = ForwardRun(snapshot, {}, policies, {}).run();
  const double forward = since(begin);
  begin = Clock::now();
  StartProbe probe(snapshot, policies);
  const double building = since(begin);

  std::vector<JobId> pending;
  for (const JobRecord& job : snapshot->jobs) {
    if (job.state == JobState::kPending) pending.push_back(job.id);
  }
  std::vector<double> reasons, changes;
  for (int i = 0; i < 200; ++i) {
    const JobId job = pending[random.below(pending.size())];
    begin = Clock::now();
    engine.explain(job);
    engine.limits(job);
    reasons.push_back(since(begin) * 1e3);
    begin = Clock::now();
    probe.changes_for(job);
    changes.push_back(since(begin) * 1e3);
  }
  std::sort(reasons.begin(), reasons.end());
  std::sort(changes.begin(), changes.end());
  std::printf(
      "{\"nodes\": %d, \"pending_jobs\": %zu, \"snapshot_seconds\": %.3f, "
      "\"forward_run_seconds\": %.3f, \"forward_run_events\": %lld, \"starts\": %zu, "
      "\"probe_build_seconds\": %.3f, \"reasons_p50_milliseconds\": %.2f, "
      "\"reasons_p99_milliseconds\": %.2f, \"changes_p50_milliseconds\": %.2f, "
      "\"changes_p99_milliseconds\": %.2f, \"steps_per_job\": %lld}\n",
      nodes, pending.size(), copying, forward, static_cast<long long>(answer->events),
      answer->starts.size(), building, reasons[100], reasons[197], changes[100], changes[197],
      static_cast<long long>(probe.steps() / 200));
  return 0;
}

}  // namespace
}  // namespace gridfold

int main(int argc, char** argv) {
  return gridfold::run(argc > 1 ? std::atoi(argv[1]) : 10'000,
                       argc > 2 ? std::atoi(argv[2]) : 100'000);
}
