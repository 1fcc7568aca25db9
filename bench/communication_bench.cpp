// What a look at the communication model costs: build/release/communication_bench
#include <benchmark/benchmark.h>

#include "topology/placement_search.h"
#include "topology/test_fabric.h"

namespace gridfold {
namespace {

constexpr std::size_t kNodesPerRack = 32;

// Racks of 32 nodes of 8 devices, oversubscribed by 4.
Machine cluster(std::int64_t nodes) {
  return racks_of(static_cast<std::size_t>(nodes) / kNodesPerRack, kNodesPerRack, eight_linked(),
                  12'800);
}

JobTraffic job_of(std::int32_t ranks) {
  JobTraffic job;
  job.tensor = 8;
  job.data = ranks / 8;
  job.compute = Duration::milliseconds(400);
  job.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(64 << 20), 80},
                   {Collective::kReduceScatter, RankAxis::kData, Bytes(2'000'000'000)},
                   {Collective::kAllGather, RankAxis::kData, Bytes(2'000'000'000), 2}};
  return job;
}

std::vector<Place> first_nodes(std::uint32_t nodes) {
  std::vector<Place> places;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::int32_t d = 0; d < 8; ++d) places.push_back({NodeId(node), d});
  }
  return places;
}

// range(0): nodes of the cluster, range(1): of the gang.
void expected_step(benchmark::State& state) {
  const Machine machine = cluster(state.range(0));
  ExpectedTime expected(*machine.traffic);
  const auto nodes = static_cast<std::uint32_t>(state.range(1));
  const JobTraffic job = job_of(static_cast<std::int32_t>(nodes) * 8);
  const auto places = first_nodes(nodes);
  for (auto _ : state) benchmark::DoNotOptimize(expected.step(job, places).step);
}
BENCHMARK(expected_step)->Args({10'240, 4})->Args({10'240, 128})->Args({100'000, 2'048});

void expected_time_of_a_cluster(benchmark::State& state) {
  const Machine machine = cluster(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ExpectedTime(*machine.traffic));
}
BENCHMARK(expected_time_of_a_cluster)->Arg(10'240);

// A whole search in a small part of a cluster, as a solver would run it.
void placement_search(benchmark::State& state) {
  const Machine machine = cluster(state.range(0));
  ExpectedTime expected(*machine.traffic);
  PlacementSearch search(expected);
  const auto tasks = static_cast<std::int32_t>(state.range(1));
  const std::vector<std::uint64_t> free(static_cast<std::size_t>(state.range(0)), 0xFF);
  const GangRequest request{tasks, 8, job_of(tasks * 8)};
  for (auto _ : state) benchmark::DoNotOptimize(search.find(free, request));
}
BENCHMARK(placement_search)->Args({256, 4})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gridfold
