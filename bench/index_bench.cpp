// What the parts of a placement cost: build/release/index_bench
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "engine/best_tree.h"
#include "engine/cluster.h"

namespace gridfold {
namespace {

// A leaf changes to a random score, and the best is asked for.
void tree_update_and_best(benchmark::State& state) {
  const auto leaves = static_cast<std::size_t>(state.range(0));
  BestTree tree;
  tree.reset(leaves, BestTree::Ties::kFirst);
  RandomStream random(1, "scores");
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    tree.update(leaf, static_cast<std::int64_t>(random.below(100)));
  for (auto _ : state) {
    tree.update(random.below(leaves), static_cast<std::int64_t>(random.below(100)));
    benchmark::DoNotOptimize(tree.first_best());
  }
}
BENCHMARK(tree_update_and_best)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);

// One device of a random node is taken and given back.
void books_take_and_give_back(benchmark::State& state) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  Cluster cluster;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    NodeRecord record;
    record.spec.name = "n" + std::to_string(n);
    record.spec.cpu = MilliCores(128'000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    record.spec.devices.assign(8, {"gpu", "G", Bytes(std::int64_t{80} << 30)});
    record.up = true;
    cluster.put(std::move(record));
  }
  TaskRequest task;
  task.cpu = MilliCores(8000);
  task.devices.push_back({"gpu", 1});
  const Request& request = cluster.compile(task);
  RandomStream random(1, "nodes");
  for (auto _ : state) {
    const NodeId node(static_cast<std::uint32_t>(random.below(nodes)));
    cluster.take({node, std::uint64_t{1} << random.below(8)}, {JobId(1), 0}, request);
    cluster.give_back(node, {JobId(1), 0});
  }
}
BENCHMARK(books_take_and_give_back)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace gridfold
