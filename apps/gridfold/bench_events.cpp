// gridfold bench cycle --queues: what one event costs while many jobs wait. All
// devices are busy; in turn a job ends, so that who is next may start, and
// another comes. Half of the nodes run one job, half eight.
#include "apps/gridfold/bench_events.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "base/random.h"
#include "base/sha256.h"
#include "engine/engine.h"

namespace gridfold {
namespace {

constexpr int kDevicesPerNode = 8;
constexpr std::int64_t kQueuesPerParent = 10;
constexpr std::uint64_t kUsersPerQueue = 5;
constexpr std::int64_t kNodesPerRack = 32;

class FirstNode final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "first_node"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// What events of one kind took.
struct Cost {
  std::vector<std::int64_t> times_ns;
  double cpu_ns = 0;
  Engine::Work work;
  std::int64_t started = 0;  // tasks

  double per_event(double sum) const { return sum / static_cast<double>(times_ns.size()); }
  double per_event(std::int64_t sum) const { return per_event(static_cast<double>(sum)); }
  std::int64_t at(std::size_t hundredths) const {
    std::vector<std::int64_t> sorted = times_ns;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) * hundredths / 100];
  }
};

struct Row {
  std::int64_t nodes = 0;
  std::int64_t jobs = 0;
  Cost ends;
  Cost arrivals;
};

class BusyGrid {
 public:
  BusyGrid(std::int64_t nodes, const EventsBenchOptions& options)
      : options_(options), random_(options.seed, "bench.events"), engine_(make(options)) {
    std::vector<Event> events;
    const std::int64_t parents = std::max<std::int64_t>(1, options.queues / kQueuesPerParent);
    for (std::int64_t p = 0; p < parents; ++p)
      events.emplace_back(configured("p" + std::to_string(p)));
    for (std::int64_t q = 0; q < options.queues; ++q) {
      queues_.push_back("p" + std::to_string(q % parents) + "/q" + std::to_string(q));
      events.emplace_back(configured(queues_.back()));
    }
    for (std::int64_t i = 0; i < nodes; ++i) events.emplace_back(NodeJoined{node(i)});
    step(std::move(events));
    fill(nodes);
  }

  // Jobs that have no room.
  void wait(std::int64_t count) {
    std::vector<Event> events;
    for (std::int64_t i = 0; i < count; ++i) events.emplace_back(arrival(draw_devices()));
    step(std::move(events));
  }

  void measure(Row& row) {
    for (std::int64_t i = 0; i < options_.events; ++i) {
      now_ = now_ + Duration::seconds(1);
      timed(row.ends, {ended(running_[random_.below(running_.size())])});
      timed(row.arrivals, {arrival(draw_devices())});
    }
  }

 private:
  static Engine make(const EventsBenchOptions& bench) {
    EngineOptions options;
    options.seed = bench.seed;
    options.backfill.mode = bench.backfill;
    return Engine(std::move(options), std::make_unique<FirstNode>());
  }

  QueueConfigured configured(std::string name) {
    QueueSpec spec;
    spec.name = std::move(name);
    spec.weight = 1 + static_cast<std::int32_t>(random_.below(4));
    return {std::move(spec)};
  }

  static NodeSpec node(std::int64_t number) {
    NodeSpec spec;
    spec.name = "n" + std::to_string(1'000'000 + number);
    spec.cpu = MilliCores(96'000);
    spec.memory = Bytes(std::int64_t{1} << 40);
    spec.devices.assign(kDevicesPerNode, {"gpu", "H100-SXM5-80GB", Bytes(std::int64_t{80} << 30)});
    spec.domains = {{"rack", "r" + std::to_string(1'000'000 + number / kNodesPerRack)}};
    return spec;
  }

  // 1, 2, 4 and 8 devices, 12 : 3 : 3 : 2.
  int draw_devices() {
    const std::uint64_t kind = random_.below(20);
    return kind < 12 ? 1 : kind < 15 ? 2 : kind < 18 ? 4 : 8;
  }

  Event arrival(int devices) {
    static constexpr std::int64_t kMinutes[] = {15, 60, 120, 240, 720, 1440, 2880};
    auto spec = std::make_shared<JobSpec>();
    spec->queue = queues_[random_.below(queues_.size())];
    spec->tenant = "u" + std::to_string(random_.below(kUsersPerQueue));
    spec->time_limit = Duration::minutes(kMinutes[random_.below(std::size(kMinutes))]);
    Role role;
    role.each.cpu = MilliCores(devices * 10'000);
    role.each.memory = Bytes(std::int64_t{devices} << 36);
    role.each.devices.push_back({"gpu", devices});
    spec->roles.push_back(std::move(role));
    const JobId id(next_job_++);
    return JobSubmitted{id, "j" + std::to_string(id.value), std::move(spec), {}};
  }

  // All devices, by jobs that have just begun.
  void fill(std::int64_t nodes) {
    std::vector<Event> events;
    for (std::int64_t i = 0; i < nodes; ++i) {
      const int each = random_.below(2) == 0 ? kDevicesPerNode : 1;
      for (int first = 0; first < kDevicesPerNode; first += each)
        events.emplace_back(arrival(each));
    }
    step(std::move(events));
  }

  std::vector<Event> ended(std::pair<TaskId, std::uint32_t>& task) {
    const auto [id, attempt] = std::exchange(task, running_.back());
    running_.pop_back();
    return {TaskExited{id, attempt, ExitStatus{}}, TaskCleaned{id, attempt}};
  }

  // The events, and what the cluster says to what is decided on them.
  std::int64_t step(std::vector<Event> events) {
    std::int64_t started = 0;
    while (!events.empty()) {
      const Decisions& decisions = engine_.step(now_, events);
      events.clear();
      for (const Decision& decision : decisions.list) {
        const auto* launch = std::get_if<LaunchTask>(&decision);
        if (launch == nullptr) continue;
        ++started;
        running_.emplace_back(launch->task, launch->attempt);
        events.emplace_back(TaskStarted{launch->task, launch->attempt});
      }
      const bool is_last = events.empty();
      events.emplace_back(TurnCommitted{decisions.turn});
      if (!is_last) continue;
      engine_.step(now_, events);
      events.clear();
    }
    return started;
  }

  void timed(Cost& cost, std::vector<Event> events) {
    const Engine::Work before = engine_.work();
    const std::clock_t cpu = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    cost.started += step(std::move(events));
    const auto took = std::chrono::steady_clock::now() - begin;
    cost.cpu_ns += static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC * 1e9;
    cost.times_ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    const Engine::Work& after = engine_.work();
    cost.work.jobs_tried += after.jobs_tried - before.jobs_tried;
    cost.work.groups_looked_at += after.groups_looked_at - before.groups_looked_at;
    cost.work.groups_woken += after.groups_woken - before.groups_woken;
  }

  const EventsBenchOptions& options_;
  RandomStream random_;
  Engine engine_;
  Instant now_ = Instant{} + Duration::hours(1000);
  std::vector<std::string> queues_;
  std::uint64_t next_job_ = 1;
  std::vector<std::pair<TaskId, std::uint32_t>> running_;
};

void add_json(JsonWriter& json, const char* key, const Cost& cost) {
  json.key(key).begin_object();
  json.key("events").number(static_cast<std::int64_t>(cost.times_ns.size()));
  json.key("tasks_started").number(cost.started);
  json.key("cpu_ns").real(cost.per_event(cost.cpu_ns));
  json.key("p50_ns").number(cost.at(50)).key("p99_ns").number(cost.at(99));
  json.key("jobs_tried").real(cost.per_event(cost.work.jobs_tried));
  json.key("groups_looked_at").real(cost.per_event(cost.work.groups_looked_at));
  json.key("groups_woken").real(cost.per_event(cost.work.groups_woken)).end_object();
}

std::string json_of(const EventsBenchOptions& options, const std::vector<Row>& rows) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("devices_per_node").number(kDevicesPerNode);
  json.key("queues").number(options.queues).key("seed").number(options.seed);
  json.key("backfill").string(to_string(options.backfill)).key("runs").begin_array();
  for (const Row& row : rows) {
    json.begin_object().key("nodes").number(row.nodes).key("jobs").number(row.jobs);
    add_json(json, "end", row.ends);
    add_json(json, "arrival", row.arrivals);
    json.end_object();
  }
  json.end_array().end_object();
  out += '\n';
  return out;
}

std::string table_of(const EventsBenchOptions& options, const std::vector<Row>& rows) {
  char line[256];
  std::snprintf(line, sizeof line,
                "every device busy, %lld queues, backfill %s, seed %llu; an event:\n\n"
                "%8s %8s %8s %9s %9s %9s %9s %9s %9s\n",
                static_cast<long long>(options.queues),
                std::string(to_string(options.backfill)).c_str(),
                static_cast<unsigned long long>(options.seed), "NODES", "JOBS", "EVENT", "CPU US",
                "P50 US", "P99 US", "TRIED", "GROUPS", "WOKEN");
  std::string out = line;
  for (const Row& row : rows) {
    for (const auto& [name, cost] : {std::pair("end", &row.ends), {"arrival", &row.arrivals}}) {
      std::snprintf(
          line, sizeof line, "%8lld %8lld %8s %9.1f %9.1f %9.1f %9.2f %9.1f %9.2f\n",
          static_cast<long long>(row.nodes), static_cast<long long>(row.jobs), name,
          cost->per_event(cost->cpu_ns) * 1e-3, static_cast<double>(cost->at(50)) * 1e-3,
          static_cast<double>(cost->at(99)) * 1e-3, cost->per_event(cost->work.jobs_tried),
          cost->per_event(cost->work.groups_looked_at), cost->per_event(cost->work.groups_woken));
      out += line;
    }
  }
  return out;
}

}  // namespace

int run_events_bench(const EventsBenchOptions& options, const std::string& output) {
  std::vector<Row> rows;
  for (const std::int64_t nodes : options.nodes) {
    for (const std::int64_t jobs : options.jobs) {
      BusyGrid grid(nodes, options);
      grid.wait(jobs);
      Row row{nodes, jobs, {}, {}};
      grid.measure(row);
      rows.push_back(std::move(row));
    }
  }
  const std::string text = output == "json" ? json_of(options, rows) : table_of(options, rows);
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
