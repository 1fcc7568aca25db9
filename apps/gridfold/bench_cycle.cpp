// gridfold bench cycle: what it costs to give every waiting job a planned start
// when nothing is free now. Every device of the cluster is busy until the limit
// of its job; single devices, parts of nodes and gangs of nodes wait, in the
// order in which they are planned, each beside all before it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "apps/gridfold/bench.h"
#include "apps/gridfold/bench_events.h"
#include "apps/gridfold/cli.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/sha256.h"
#include "engine/timeline.h"

namespace gridfold {
namespace {

constexpr std::int64_t kNodesPerRack = 32;
constexpr std::int64_t kRacksPerSpine = 32;
constexpr int kDevicesPerNode = 8;
constexpr int kLargestGang = 11;  // 2^11 nodes

struct CycleBenchOptions {
  std::vector<std::int64_t> nodes = {10'000};
  std::vector<std::int64_t> jobs = {10'000};
  std::string run_times = "limits";
  std::uint64_t seed = 0;
};

std::string numbered(const char* name, std::int64_t number) {
  std::string digits = std::to_string(number);
  return name + std::string(7 - std::min<std::size_t>(7, digits.size()), '0') + digits;
}

// Scores nothing: nodes are chosen by the timeline.
class NoScores final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "none"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

struct WaitingJob {
  PlanPart part;
  TopologyWish wish;
  Duration run{};
};

// One measured cluster.
class Queue final : public ExpectedEnds {
 public:
  Queue(std::int64_t nodes, const CycleBenchOptions& options)
      : options_(options),
        random_(options.seed, "bench.cycle"),
        domains_(cluster_, policy_),
        timeline_(cluster_, domains_, *this) {
    for (std::int64_t i = 0; i < nodes; ++i) add_node(i);
    for (std::int64_t i = 0; i < nodes; ++i) fill_node(NodeId(static_cast<std::uint32_t>(i)));
  }

  std::optional<Instant> end_of(JobId job) const override { return ends_[job.value]; }

  struct Figures {
    std::int64_t planned = 0;
    std::int64_t seats = 0;
    double seconds = 0;  // to plan and book all, the first look at the cluster included
    double cpu_seconds = 0;
    std::int64_t p50_ns = 0;
    std::int64_t p99_ns = 0;
    std::int64_t longest_ns = 0;
    Timeline::Work work;
    std::size_t bytes = 0;
    double mean_start_seconds = 0;
    std::string sha256;
  };

  Figures plan(std::int64_t count) {
    std::vector<WaitingJob> jobs;
    for (std::int64_t i = 0; i < count; ++i) jobs.push_back(draw_job());
    Figures figures;
    Sha256 hash;
    std::vector<std::int64_t> times;
    const std::clock_t cpu = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    auto last = begin;
    timeline_.follow(now_);
    for (const WaitingJob& job : jobs) {
      const std::span<const PlanPart> parts(&job.part, 1);
      const Reservation plan = timeline_.plan({parts, &job.wish, job.run});
      if (!plan.start.is_never()) {
        timeline_.book(JobId(ends_.size() + static_cast<std::size_t>(figures.planned)), plan,
                       parts);
        ++figures.planned;
        figures.seats += static_cast<std::int64_t>(plan.seats.size());
        figures.mean_start_seconds += (plan.start - now_).in_seconds();
      }
      const auto end = std::chrono::steady_clock::now();
      times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(end - last).count());
      last = end;
      hash.update({reinterpret_cast<const char*>(&plan.start.ns), sizeof plan.start.ns});
    }
    const std::chrono::duration<double> wall = last - begin;
    figures.seconds = wall.count();
    figures.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    figures.mean_start_seconds /= std::max(1.0, static_cast<double>(figures.planned));
    std::sort(times.begin(), times.end());
    figures.p50_ns = times[times.size() / 2];
    figures.p99_ns = times[times.size() * 99 / 100];
    figures.longest_ns = times.back();
    figures.work = timeline_.work();
    figures.bytes = timeline_.bytes();
    figures.sha256 = hash.hex();
    return figures;
  }

 private:
  void add_node(std::int64_t i) {
    NodeRecord record;
    record.spec.name = numbered("n", i);
    record.spec.cpu = MilliCores(96'000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    record.spec.devices.assign(kDevicesPerNode,
                               {"gpu", "H100-SXM5-80GB", Bytes(std::int64_t{80} << 30)});
    const std::int64_t rack = i / kNodesPerRack;
    record.spec.domains = {{"spine", numbered("s", rack / kRacksPerSpine)},
                           {"rack", numbered("r", rack)}};
    record.up = true;
    cluster_.put(std::move(record));
  }

  const Request& devices(std::int32_t count) {
    TaskRequest request;
    request.cpu = MilliCores(count * 10'000);
    request.memory = Bytes(std::int64_t{count} << 36);
    request.devices.push_back({"gpu", count});
    return cluster_.compile(request);
  }

  Duration draw_limit() {
    static constexpr std::int64_t kMinutes[] = {15, 60, 120, 240, 720, 1440, 2880};
    return Duration::minutes(kMinutes[random_.below(std::size(kMinutes))]);
  }
  Duration draw_run() {
    const Duration limit = draw_limit();
    if (options_.run_times == "limits") return limit;
    // As predictions are: no two alike.
    return {1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(limit.ns)))};
  }

  // Half of the nodes by jobs of all devices, half by single ones; each began at
  // some time within its limit.
  void fill_node(NodeId node) {
    const std::int32_t each = random_.below(2) == 0 ? kDevicesPerNode : 1;
    const Request& request = devices(each);
    for (std::int32_t first = 0; first < kDevicesPerNode; first += each) {
      const Duration limit = draw_run();
      const auto left =
          static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(limit.ns)));
      const std::uint64_t mask = ((std::uint64_t{1} << each) - 1) << first;
      cluster_.take({node, mask}, {JobId(ends_.size()), 0}, request);
      ends_.push_back(now_ + Duration{1 + left});
    }
  }

  // Four of five ask for 1, 4 or 8 devices (12 : 1 : 3); the rest are gangs of 2
  // to 2,048 whole nodes, each size 0.7 times as often as the one half as large.
  WaitingJob draw_job() {
    WaitingJob job;
    job.run = draw_run();
    const std::uint64_t kind = random_.below(20);
    if (kind < 16) {
      job.part = {&devices(kind < 12 ? 1 : kind < 13 ? 4 : 8), 1};
      return job;
    }
    int size = 1;
    const int largest =
        std::min(kLargestGang, static_cast<int>(std::log2(static_cast<double>(cluster_.size()))));
    while (size < largest && random_.below(1000) < 707) ++size;
    job.part = {&devices(8), std::int64_t{1} << size};
    if (job.part.tasks <= kNodesPerRack) {
      job.wish.require = "rack";
    } else if (job.part.tasks <= kNodesPerRack * kRacksPerSpine) {
      job.wish.require = "spine";
    }
    return job;
  }

  const CycleBenchOptions& options_;
  RandomStream random_;
  Instant now_ = Instant{} + Duration::hours(1000);
  Cluster cluster_;
  NoScores policy_;
  DomainSlots domains_;
  Timeline timeline_;
  std::vector<Instant> ends_;  // by job that runs
};

struct Row {
  std::int64_t nodes = 0;
  std::int64_t jobs = 0;
  Queue::Figures figures;
  double per_job(double value) const { return value / static_cast<double>(jobs); }
};

std::string json_of(const CycleBenchOptions& options, const std::vector<Row>& rows, double wall) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("devices_per_node").number(kDevicesPerNode);
  json.key("run_times").string(options.run_times).key("runs").begin_array();
  Sha256 all;
  for (const Row& row : rows) {
    const Queue::Figures& f = row.figures;
    all.update(f.sha256);
    json.begin_object().key("nodes").number(row.nodes).key("jobs").number(row.jobs);
    json.key("planned").number(f.planned).key("nodes_booked").number(f.seats);
    json.key("ns_per_job").real(row.per_job(f.seconds * 1e9));
    json.key("cpu_ns_per_job").real(row.per_job(f.cpu_seconds * 1e9));
    json.key("p50_ns").number(f.p50_ns).key("p99_ns").number(f.p99_ns);
    json.key("longest_ns").number(f.longest_ns);
    json.key("spans_read_per_job").real(row.per_job(static_cast<double>(f.work.looked_at)));
    json.key("spans_changed_per_job").real(row.per_job(static_cast<double>(f.work.changed)));
    json.key("planned_start_mean_seconds").real(f.mean_start_seconds);
    json.key("memory_bytes").number(f.bytes).key("decisions_sha256").string(f.sha256).end_object();
  }
  json.end_array().key("seed").number(options.seed);
  json.key("decisions_sha256").string(all.hex()).key("wall_seconds").real(wall).end_object();
  out += '\n';
  return out;
}

std::string table_of(const CycleBenchOptions& options, const std::vector<Row>& rows) {
  char line[256];
  std::snprintf(
      line, sizeof line,
      "every node of %d devices busy, run times: %s, seed %llu; a job:\n\n%8s %8s %8s %9s "
      "%9s %9s %9s %11s %11s %7s\n",
      kDevicesPerNode, options.run_times.c_str(), static_cast<unsigned long long>(options.seed),
      "NODES", "JOBS", "PLANNED", "US", "CPU US", "P99 US", "MAX US", "SPANS READ", "CHANGED",
      "MIB");
  std::string out = line;
  for (const Row& row : rows) {
    const Queue::Figures& f = row.figures;
    std::snprintf(
        line, sizeof line, "%8lld %8lld %8lld %9.1f %9.1f %9.1f %9.1f %11.1f %11.1f %7.1f\n",
        static_cast<long long>(row.nodes), static_cast<long long>(row.jobs),
        static_cast<long long>(f.planned), row.per_job(f.seconds * 1e6),
        row.per_job(f.cpu_seconds * 1e6), static_cast<double>(f.p99_ns) * 1e-3,
        static_cast<double>(f.longest_ns) * 1e-3,
        row.per_job(static_cast<double>(f.work.looked_at)),
        row.per_job(static_cast<double>(f.work.changed)), static_cast<double>(f.bytes) / 1048576);
    out += line;
  }
  return out;
}

}  // namespace

int bench_cycle_main(int argc, char** argv) {
  CycleBenchOptions options;
  std::string output = "table";
  CLI::App app(
      "Gives every waiting job a planned start while all devices are busy: racks of 32 nodes, "
      "spines of 32 racks; jobs of 1, 4 and 8 devices, and gangs of 2 to 2,048 nodes in one rack, "
      "one spine or anywhere.",
      "gridfold bench cycle");
  app.add_option("--nodes", options.nodes, "nodes of the cluster; several for a curve")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "jobs that wait; several for a curve")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--run-times", options.run_times,
                 "limits: 15 min to 48 h, seven of them; any: no two alike, as predictions are")
      ->check(CLI::IsMember({"limits", "any"}))
      ->capture_default_str();
  EventsBenchOptions of_events;
  std::string backfill = "none";
  auto* queues =
      app.add_option("--queues", of_events.queues,
                     "measure events instead: jobs of single nodes wait in so many queues with "
                     "weights and five users each, one ends, another comes")
          ->check(CLI::Range(1, 100'000));
  app.add_option("--events", of_events.events, "with --queues: so many ends and arrivals")
      ->needs(queues)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--backfill", backfill, "with --queues: none, easy or conservative")
      ->needs(queues)
      ->check(CLI::IsMember({"none", "easy", "conservative"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the jobs")->capture_default_str();
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  if (!queues->empty()) {
    of_events.nodes = options.nodes;
    of_events.jobs = options.jobs;
    of_events.seed = options.seed;
    of_events.backfill = *parse_backfill_mode(backfill);
    return run_events_bench(of_events, output);
  }
  std::vector<Row> rows;
  const auto begin = std::chrono::steady_clock::now();
  for (const std::int64_t nodes : options.nodes) {
    for (const std::int64_t jobs : options.jobs) {
      Queue queue(nodes, options);
      rows.push_back({nodes, jobs, queue.plan(jobs)});
    }
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const std::string text =
      output == "json" ? json_of(options, rows, wall.count()) : table_of(options, rows);
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
