// What finding victims costs where every device is busy, and how far from a lower
// bound the sets are: build/release/victims_bench
//
// 10,000 nodes of 8 devices in racks of 40, full of jobs of 1, 2, 4 and 8
// devices; one in four of those of 8 is one of a gang on four nodes, which only
// leaves whole. The bound: each job's loss is spread evenly over what it holds,
// and the job takes the nodes that would be cheapest so.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/random.h"
#include "engine/victims.h"

namespace gridfold {
namespace {

constexpr std::uint32_t kNodesOfARack = 40;
constexpr std::uint32_t kDevices = 8;

class AnyPolicy final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "any"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

class FullGrid {
 public:
  explicit FullGrid(std::uint32_t nodes) : random_(1, "victims.bench"), slots_(cluster, policy_) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      NodeRecord record;
      record.spec.name = "n" + std::to_string(100'000 + n);
      record.spec.cpu = MilliCores(128'000);
      record.spec.memory = Bytes(std::int64_t{1} << 40);
      record.spec.devices.assign(kDevices, {"gpu", "G", Bytes(std::int64_t{80} << 30)});
      record.spec.domains = {{"rack", "r" + std::to_string(10'000 + n / kNodesOfARack)}};
      record.up = true;
      cluster.put(std::move(record));
    }
    for (std::uint32_t n = 0; n < nodes; ++n) fill(n);
    end_gang();
  }

  const Request& request(std::int32_t devices) {
    TaskRequest task;
    task.cpu = MilliCores(1000);
    task.devices.push_back({"gpu", devices});
    return cluster.compile(task);
  }
  DomainSlots& slots() { return slots_; }

  // Of so many tasks that take a whole node each, within any one domain of the
  // level, or anywhere.
  std::int64_t bound(std::int64_t tasks, bool in_one_rack) const {
    std::vector<std::int64_t> by_node(cluster.size(), 0);
    for (const VictimCandidate& one : pool.candidates) {
      for (std::uint32_t i = one.first; i < one.last; ++i)
        by_node[pool.leaving[i].node.value] += one.lost / (one.last - one.first);
    }
    const auto cheapest = [&](std::size_t first, std::size_t last) {
      std::vector<std::int64_t> sorted(by_node.begin() + static_cast<std::ptrdiff_t>(first),
                                       by_node.begin() + static_cast<std::ptrdiff_t>(last));
      std::sort(sorted.begin(), sorted.end());
      return std::accumulate(sorted.begin(), sorted.begin() + tasks, std::int64_t{0});
    };
    if (!in_one_rack) return cheapest(0, by_node.size());
    std::int64_t best = INT64_MAX;
    for (std::size_t first = 0; first + kNodesOfARack <= by_node.size(); first += kNodesOfARack)
      best = std::min(best, cheapest(first, first + kNodesOfARack));
    return best;
  }

  Cluster cluster;
  VictimPool pool;

 private:
  void hold(std::uint32_t node, std::uint32_t task, std::uint64_t devices) {
    const auto count = static_cast<std::int32_t>(std::popcount(devices));
    cluster.take({NodeId(node), devices}, {JobId(job_), task}, request(count));
    pool.leaving.push_back({NodeId(node), task, &request(count), devices});
  }
  void offer(std::uint32_t first, std::int64_t devices) {
    const auto last = static_cast<std::uint32_t>(pool.leaving.size());
    pool.candidates.push_back({JobId(job_),
                               devices * static_cast<std::int64_t>(1 + random_.below(100'000)), 0,
                               first, last});
  }
  void fill(std::uint32_t node) {
    if (random_.below(4) == 0) return gang_nodes_.push_back(node), begin_gang();
    for (std::uint32_t at = 0; at < kDevices;) {
      std::uint32_t size = 1u << random_.below(4);
      while (at + size > kDevices) size /= 2;
      const auto first = static_cast<std::uint32_t>(pool.leaving.size());
      ++job_;
      hold(node, 0, ((std::uint64_t{1} << size) - 1) << at);
      offer(first, size);
      at += size;
    }
  }
  void begin_gang() {
    if (gang_nodes_.size() == 4) end_gang();
  }
  void end_gang() {
    if (gang_nodes_.empty()) return;
    const auto first = static_cast<std::uint32_t>(pool.leaving.size());
    ++job_;
    std::uint32_t task = 0;
    for (const std::uint32_t node : gang_nodes_) hold(node, task++, 0xff);
    offer(first, static_cast<std::int64_t>(kDevices * gang_nodes_.size()));
    gang_nodes_.clear();
  }

  RandomStream random_;
  AnyPolicy policy_;
  DomainSlots slots_;
  std::uint64_t job_ = 0;
  std::vector<std::uint32_t> gang_nodes_;
};

// A gang of so many whole nodes; with `in_one_rack` all in one.
void find_victims(benchmark::State& state) {
  static FullGrid grid(10'000);
  const std::int64_t tasks = state.range(0);
  const bool in_one_rack = state.range(1) != 0;
  TopologyWish wish;
  if (in_one_rack) wish.require = "rack";
  const GangPart part{&grid.request(kDevices), tasks, tasks};
  VictimSearch search(grid.cluster, grid.slots());
  std::optional<VictimAnswer> answer;
  for (auto _ : state) answer = search.find({std::span(&part, 1), &wish, &grid.pool, {}});
  if (!answer) return state.SkipWithError("no victims found");
  state.counters["victims"] = static_cast<double>(answer->victims.size());
  state.counters["steps"] = static_cast<double>(answer->steps);
  state.counters["over_bound"] =
      static_cast<double>(answer->lost) / static_cast<double>(grid.bound(tasks, in_one_rack));
}
BENCHMARK(find_victims)
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({8, 1})
    ->Args({32, 1})
    ->Args({64, 0})
    ->Args({256, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gridfold
