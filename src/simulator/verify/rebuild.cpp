#include "simulator/verify/rebuild.h"

#include "policies/registry.h"

namespace gridfold::verify {
namespace {

// Nothing is there to see, and nothing to order.
class NoBackend : public Backend {
 public:
  Capabilities capabilities() const override { return {}; }
  Result<void> open(EventSink) override { return {}; }
  void launch(const LaunchOrder&) override {}
  void stop(const StopOrder&) override {}
  void forget(TaskId, std::uint32_t) override {}
  Result<Observation> observe() override { return unavailable("out of reach"); }
  Result<LogChunk> read_log(std::string_view, TaskId, std::uint32_t, LogStream, std::uint64_t,
                            std::size_t) override {
    return not_found("no logs here");
  }
};

bool same(const NodeRoom& a, const NodeRoom& b) {
  if (a.cpu != b.cpu || a.memory != b.memory || a.devices.size() != b.devices.size()) return false;
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    if (a.devices[i].free_share != b.devices[i].free_share ||
        a.devices[i].free_memory != b.devices[i].free_memory ||
        a.devices[i].holders != b.devices[i].holders || a.devices[i].usable != b.devices[i].usable)
      return false;
  }
  return true;
}

// Field by field: a field that is not stored would be missing on both sides of
// a comparison of what is stored. What a job said of itself may reach the store
// later.
bool same(const JobRecord& a, const JobRecord& b) {
  return a.id == b.id && a.uid == b.uid && *a.spec == *b.spec && a.state == b.state &&
         a.stopping == b.stopping && a.held == b.held && a.submitted_at == b.submitted_at &&
         a.started_at == b.started_at && a.ended_at == b.ended_at && a.waited == b.waited &&
         a.pending_since == b.pending_since && a.evictions == b.evictions &&
         a.evicted_at == b.evicted_at && a.evicted_work == b.evicted_work && a.losses == b.losses &&
         a.runs == b.runs && a.reason == b.reason && a.waits_for == b.waits_for &&
         a.tasks == b.tasks && a.reservation == b.reservation &&
         (a.why_domain == b.why_domain ||
          (a.why_domain && b.why_domain && *a.why_domain == *b.why_domain));
}
// All but `up`: a daemon that starts has not heard of any node yet.
bool same(const NodeRecord& a, const NodeRecord& b) {
  return a.id == b.id && a.spec == b.spec && a.drained == b.drained && a.reason == b.reason &&
         a.dirty_devices == b.dirty_devices;
}

std::optional<std::string> compare(const Engine& live, const Engine& rebuilt) {
  if (live.nodes().size() != rebuilt.nodes().size()) return "another number of nodes";
  for (const NodeRecord& node : live.nodes()) {
    const NodeRecord& other = rebuilt.nodes()[node.id.value];
    if (!same(node, other)) return "another record of " + node.spec.name;
    if (!same(live.room(node.id), rebuilt.room(other.id)))
      return "another room on " + node.spec.name;
  }
  std::size_t count = 0;
  for (const JobRecord* job : live.jobs()) {
    if (is_terminal(job->state)) continue;
    ++count;
    const JobRecord* other = rebuilt.job(job->id);
    if (other == nullptr) return "no job " + std::to_string(job->id.value);
    if (!same(*job, *other)) return "another record of job " + std::to_string(job->id.value);
  }
  if (count != rebuilt.jobs().size()) return "jobs that have ended";
  for (const QueueSpec& queue : live.queues()) {
    const QueueUsage a = live.usage(queue.name);
    const QueueUsage b = rebuilt.usage(queue.name);
    if (a.cpu != b.cpu || a.memory != b.memory || a.pending_jobs != b.pending_jobs ||
        a.running_jobs != b.running_jobs)
      return "another usage of queue " + queue.name;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> differs_from_stored(const Engine& live, Store& store, const World& world,
                                               const std::vector<QueueSpec>& queues,
                                               const MakeStore& make_store) {
  const auto snapshot = store.load("live/");
  if (!snapshot) return "the store does not load: " + snapshot.error().describe();
  const auto copy = make_store();
  Transaction all;
  for (const KeyValue& entry : snapshot->entries) all.put.emplace_back(entry.key, entry.value);
  if (const auto copied = copy->commit(all); !copied)
    return "the store does not copy: " + copied.error().describe();
  NoBackend backend;
  InlineExecutor executor;
  VirtualClock standing;
  ControlOptions options;
  options.queues.queues = queues;
  options.random_bits = [] { return std::uint64_t{0}; };
  auto policy = make_policy(world.policy, {.settings = world.policy_settings});
  if (!policy) return policy.error().describe();
  EngineOptions engine;
  engine.backfill = world.backfill;
  engine.gang_repair = world.gang_repair;
  ControlLoop loop(std::move(options), Engine(engine, std::move(*policy)), *copy, backend, executor,
                   standing);
  if (const auto started = loop.start([](Event) {}); !started)
    return "a daemon would not start on it: " + started.error().describe();
  if (const auto difference = compare(live, loop.engine())) return "rebuilt, it has " + *difference;
  return std::nullopt;
}

}  // namespace gridfold::verify
