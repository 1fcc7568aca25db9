// gridfold bench gang: how long one decision takes for a gang of whole nodes,
// while an empty cluster fills and while gangs come and go in a nearly full one.
// A decision is finding all places of the gang and booking them; what leaves is
// given back between decisions, and its effect on the counts is part of the
// next decision's time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "apps/gridfold/bench.h"
#include "apps/gridfold/cli.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/sha256.h"
#include "engine/communication_cost.h"
#include "engine/gang_placement.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

constexpr std::int64_t kNodesPerRack = 32;
constexpr std::int64_t kRacksPerSpine = 32;
constexpr int kDevicesPerNode = 8;
constexpr double kChurnLoad = 0.95;

struct GangBenchOptions {
  std::int64_t nodes = 10'000;
  std::int64_t gang = 4;
  std::int64_t churn = 20'000;  // decisions, at most
  std::uint64_t seed = 0;
  std::string policy = "best_fit";
  bool communication = false;
};

std::string numbered(const char* name, std::int64_t number) {
  std::string digits = std::to_string(number);
  return name + std::string(7 - std::min<std::size_t>(7, digits.size()), '0') + digits;
}

BitsPerSecond gigabits(std::int64_t value) { return BitsPerSecond(value * 1'000'000'000); }

// Eight devices on one NVLink switch, a card each.
SharedLinks links_of_nodes() {
  NodeLinks links;
  for (std::int32_t i = 0; i < kDevicesPerNode; ++i)
    links.cards.push_back({i, LinkKind::kInfiniband, gigabits(400)});
  links.nvlink = gigabits(3'600);
  links.pcie = gigabits(400);
  return SharedLinks(std::move(links));
}

// Racks have half upwards of what their nodes have, spines a quarter of that.
std::vector<LevelLinks> levels() {
  std::vector<LevelLinks> levels(2);
  levels[0].level = "rack";
  levels[0].oversubscription = 2'000;
  levels[1].level = "spine";
  levels[1].oversubscription = 4'000;
  return levels;
}

// Eight-way tensor parallel in each node, and a data group over the nodes.
JobSpec communicating_job(std::int64_t gang) {
  JobTraffic traffic;
  traffic.tensor = kDevicesPerNode;
  traffic.data = static_cast<std::int32_t>(gang);
  traffic.compute = Duration::milliseconds(300);
  traffic.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(64 << 20), 64},
                       {Collective::kAllReduce, RankAxis::kData, Bytes(std::int64_t{2} << 30)}};
  JobSpec spec;
  spec.communication = std::move(traffic);
  return spec;
}

void add_nodes(Cluster& cluster, std::int64_t count, const SharedLinks& links) {
  for (std::int64_t i = 0; i < count; ++i) {
    NodeRecord record;
    record.spec.name = numbered("n", i);
    record.spec.cpu = MilliCores(96'000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    DeviceSpec device;
    device.device_class = "gpu";
    device.model = "H100-SXM5-80GB";
    device.memory = Bytes(std::int64_t{80} << 30);
    record.spec.devices.assign(kDevicesPerNode, device);
    record.spec.links = links;
    if (links.is_known()) {
      for (std::int32_t d = 0; d < kDevicesPerNode; ++d) {
        record.spec.devices[static_cast<std::size_t>(d)].island = 0;
        record.spec.devices[static_cast<std::size_t>(d)].card = d;
      }
    }
    const std::int64_t rack = i / kNodesPerRack;
    record.spec.domains = {{"spine", numbered("s", rack / kRacksPerSpine)},
                           {"rack", numbered("r", rack)}};
    record.up = true;
    cluster.put(std::move(record));
  }
}

// In one rack or one spine where the gang can fit there at all.
TopologyWish wish_for(std::int64_t gang) {
  TopologyWish wish;
  if (gang <= kNodesPerRack) {
    wish.require = "rack";
  } else if (gang <= kNodesPerRack * kRacksPerSpine) {
    wish.require = "spine";
  } else {
    wish.prefer = "spine";
  }
  return wish;
}

TaskRequest whole_node() {
  TaskRequest request;
  request.cpu = MilliCores(64'000);
  request.memory = Bytes(std::int64_t{512} << 30);
  request.devices.push_back({"gpu", kDevicesPerNode});
  return request;
}

using Clock = std::chrono::steady_clock;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The times of decisions, in nanoseconds, and the processor time of a whole
// phase, in which what leaves is given back as well: the one figure that other
// work on the machine hardly touches.
struct Times {
  std::vector<std::int64_t> ns;
  double cpu_seconds = 0;
  std::int64_t sum() const {
    std::int64_t sum = 0;
    for (const std::int64_t one : ns) sum += one;
    return sum;
  }
  std::int64_t percentile(std::size_t per_mille) const {
    if (ns.empty()) return 0;
    std::vector<std::int64_t> sorted = ns;
    const std::size_t at = std::min(sorted.size() - 1, sorted.size() * per_mille / 1000);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at),
                     sorted.end());
    return sorted[at];
  }
};

class GangBench {
 public:
  GangBench(const GangBenchOptions& options, std::unique_ptr<PlacementPolicy> policy)
      : options_(options),
        policy_(std::move(policy)),
        slots_(cluster_, *policy_),
        cost_(cluster_, levels()),
        placer_(cluster_, slots_, TieBreak::kLowestName, options.seed, &cost_),
        wish_(wish_for(options.gang)),
        random_(options.seed, "bench.gang") {
    policy_->prepare(cluster_);
    add_nodes(cluster_, options.nodes, options.communication ? links_of_nodes() : SharedLinks());
    if (options.communication)
      spec_ = std::make_shared<const JobSpec>(communicating_job(options.gang));
    part_ = {&cluster_.compile(whole_node()), options.gang, options.gang};
  }

  std::string run(bool as_json) {
    const auto begin = Clock::now();
    decide(nullptr);  // builds the tree and the row
    leave(0);
    const std::chrono::duration<double, std::milli> warm_up = Clock::now() - begin;
    Times fill;
    fill.cpu_seconds = -cpu_seconds();
    while (decide(&fill)) continue;
    fill.cpu_seconds += cpu_seconds();
    const auto full = jobs_.size();
    const auto kept = static_cast<std::size_t>(static_cast<double>(full) * kChurnLoad);
    while (jobs_.size() > std::max<std::size_t>(kept, 1)) leave(random_.below(jobs_.size()));
    Times churn;
    churn.cpu_seconds = -cpu_seconds();
    const std::int64_t rounds =
        std::min(options_.churn, std::max<std::int64_t>(100, 4'000'000 / options_.gang));
    for (std::int64_t i = 0; i < rounds && !jobs_.empty(); ++i) {
      leave(random_.below(jobs_.size()));
      decide(&churn);
    }
    churn.cpu_seconds += cpu_seconds();
    const std::chrono::duration<double> wall = Clock::now() - begin;
    return as_json ? text(full, fill, churn, warm_up.count(), wall.count())
                   : table(full, fill, churn, wall.count());
  }

 private:
  struct Job {
    JobId id;
    std::vector<NodeId> nodes;
  };

  // Finds and books one gang; false when there is no room.
  bool decide(Times* times) {
    const auto begin = Clock::now();
    const JobTraffic* traffic = spec_ ? &*spec_->communication : nullptr;
    const GangPlan* plan = placer_.plan({{&part_, 1}, &wish_, traffic}, random_);
    if (plan == nullptr) return false;
    const JobId id(next_job_++);
    std::uint32_t task = 0;
    for (const GangSeat& seat : plan->seats)
      cluster_.take(seat.allocation(), {id, task++}, *part_.request);
    if (spec_) {
      std::vector<TaskPlace> tasks;
      for (const GangSeat& seat : plan->seats) tasks.push_back({seat.node, seat.devices});
      cost_.add(id, spec_, std::move(tasks));
    }
    const auto end = Clock::now();
    if (times != nullptr)
      times->ns.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
    Job job{id, {}};
    for (const GangSeat& seat : plan->seats) {
      job.nodes.push_back(seat.node);
      hash_.update({reinterpret_cast<const char*>(&seat.node.value), sizeof seat.node.value});
    }
    jobs_.push_back(std::move(job));
    return true;
  }

  void leave(std::size_t index) {
    if (jobs_.empty()) return;
    const Job& job = jobs_[index];
    for (std::uint32_t task = 0; task < job.nodes.size(); ++task)
      cluster_.give_back(job.nodes[task], {job.id, task});
    if (spec_) cost_.remove(job.id);
    jobs_[index] = std::move(jobs_.back());
    jobs_.pop_back();
  }

  std::string text(std::size_t full, const Times& fill, const Times& churn, double warm_up,
                   double wall) const {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.key("nodes").number(options_.nodes).key("devices_per_node").number(kDevicesPerNode);
    json.key("gang").number(options_.gang).key("policy").string(options_.policy);
    json.key("communication").boolean(options_.communication);
    json.key("topology")
        .string(wish_.require.empty() ? "prefer " + wish_.prefer : "require " + wish_.require);
    json.key("gangs_when_full").number(full);
    const auto phase = [&](const char* name, const Times& times) {
      const auto decisions = static_cast<std::int64_t>(times.ns.size());
      const double mean =
          decisions == 0 ? 0 : static_cast<double>(times.sum()) / static_cast<double>(decisions);
      json.key(name).begin_object().key("decisions").number(decisions);
      json.key("ns_per_decision").real(mean);
      json.key("p50_ns").number(times.percentile(500)).key("p99_ns").number(times.percentile(990));
      json.key("cpu_ns_per_decision_with_release")
          .real(decisions == 0 ? 0 : times.cpu_seconds * 1e9 / static_cast<double>(decisions));
      json.key("decisions_per_second").real(mean == 0 ? 0 : 1e9 / mean).end_object();
      return mean;
    };
    phase("fill", fill);
    const double mean = phase("churn", churn);
    json.key("ns_per_decision").real(mean).key("p99_ns").number(churn.percentile(990));
    json.key("decisions_per_second").real(mean == 0 ? 0 : 1e9 / mean);
    json.key("warm_up_milliseconds").real(warm_up);
    json.key("seed").number(options_.seed).key("decisions_sha256").string(hash_.hex());
    json.key("wall_seconds").real(wall).end_object();
    out += '\n';
    return out;
  }

  std::string table(std::size_t full, const Times& fill, const Times& churn, double wall) const {
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%lld nodes of %d devices, gangs of %lld nodes%s, %s %s, policy %s, seed %llu\n\n",
        static_cast<long long>(options_.nodes), kDevicesPerNode,
        static_cast<long long>(options_.gang), options_.communication ? " that exchange" : "",
        wish_.require.empty() ? "prefer" : "require",
        (wish_.require.empty() ? wish_.prefer : wish_.require).c_str(), options_.policy.c_str(),
        static_cast<unsigned long long>(options_.seed));
    std::string out = line;
    std::snprintf(line, sizeof line, "%-7s %10s %12s %9s %9s %24s\n", "PHASE", "DECISIONS",
                  "NS/DECISION", "P50 NS", "P99 NS", "CPU NS, RELEASE INCLUDED");
    out += line;
    for (const auto& [name, times] : {std::pair{"fill", &fill}, std::pair{"churn", &churn}}) {
      const double count = std::max(1.0, static_cast<double>(times->ns.size()));
      std::snprintf(
          line, sizeof line, "%-7s %10zu %12.1f %9lld %9lld %24.1f\n", name, times->ns.size(),
          static_cast<double>(times->sum()) / count, static_cast<long long>(times->percentile(500)),
          static_cast<long long>(times->percentile(990)), times->cpu_seconds * 1e9 / count);
      out += line;
    }
    std::snprintf(line, sizeof line, "\n%zu gangs when full, decisions %s, %.2f s\n", full,
                  hash_.hex().c_str(), wall);
    return out + line;
  }

  GangBenchOptions options_;
  std::unique_ptr<PlacementPolicy> policy_;
  Cluster cluster_;
  DomainSlots slots_;
  CommunicationCost cost_;
  GangPlacer placer_;
  TopologyWish wish_;
  RandomStream random_;
  GangPart part_;
  std::shared_ptr<const JobSpec> spec_;  // where gangs say what they exchange
  std::uint64_t next_job_ = 0;
  std::vector<Job> jobs_;
  Sha256 hash_;
};

}  // namespace

int bench_gang_main(int argc, char** argv) {
  GangBenchOptions options;
  std::string output = "table";
  CLI::App app(
      "Places gangs of whole nodes with 8 devices on racks of 32 nodes and spines of 32 racks: up "
      "to 32 nodes in one rack, up to 1,024 in one spine, more over as few spines as can be.",
      "gridfold bench gang");
  app.add_option("--nodes", options.nodes, "nodes of the cluster")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--gang", options.gang, "nodes of a gang")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--policy", options.policy, "how nodes are scored")->capture_default_str();
  app.add_option("--seed", options.seed, "of the order in which gangs leave")
      ->capture_default_str();
  app.add_flag("--communication", options.communication,
               "gangs say what they exchange, links are known, and places are weighed by the "
               "expected step time with the traffic of all others");
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  auto policy = make_policy(options.policy, {});
  if (!policy) {
    std::fprintf(stderr, "gridfold bench gang: %s\n", policy.error().describe().c_str());
    return 2;
  }
  std::fputs(GangBench(options, std::move(policy->placement)).run(output == "json").c_str(),
             stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
