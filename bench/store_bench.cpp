// How fast the stores commit: build/release/store_bench
//
// The SQLite store lies in $TMPDIR, so that any disk can be measured; every
// commit is durable when it counts.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "stores/memory/memory_store.h"
#include "stores/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"

namespace gridfold {
namespace {

constexpr std::size_t kValueBytes = 300;
constexpr std::uint64_t kJobs = 100'000;

// A transition of one job: its record is compared and written.
Transaction transition(std::uint64_t job, Revision known) {
  const std::string key = "live/job/" + std::to_string(1'000'000 + job);
  return {.compare = {{key, known}}, .put = {{key, std::string(kValueBytes, 'r')}}};
}

void commit_transitions(benchmark::State& state, Store& store) {
  RandomStream random(1, "jobs");
  std::vector<Revision> known(kJobs, 0);
  for (auto _ : state) {
    const std::uint64_t job = random.below(kJobs);
    auto revision = store.commit(transition(job, known[job]));
    if (!revision) return state.SkipWithError(revision.error().describe().c_str());
    known[job] = *revision;
  }
  state.SetItemsProcessed(state.iterations());
}

// New entries, range(0) a commit, as when a batch of jobs is submitted.
void commit_batches(benchmark::State& state, Store& store) {
  std::uint64_t next = 0;
  for (auto _ : state) {
    Transaction batch;
    for (std::int64_t i = 0; i < state.range(0); ++i)
      batch.put.push_back(
          {"live/job/" + std::to_string(1'000'000 + next++), std::string(kValueBytes, 'r')});
    auto revision = store.commit(batch);
    if (!revision) return state.SkipWithError(revision.error().describe().c_str());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void memory_transitions(benchmark::State& state) {
  MemoryStore store({.kept_changes = 4096});
  commit_transitions(state, store);
}
BENCHMARK(memory_transitions);

void memory_batches(benchmark::State& state) {
  MemoryStore store({.kept_changes = 4096});
  commit_batches(state, store);
}
BENCHMARK(memory_batches)->Arg(50)->Iterations(4000);

void sqlite_transitions(benchmark::State& state) {
  const TemporaryDirectory directory;
  auto store = SqliteStore::open({.path = directory / "store.db"});
  if (!store) return state.SkipWithError(store.error().describe().c_str());
  commit_transitions(state, **store);
}
BENCHMARK(sqlite_transitions)->UseRealTime()->MinTime(3);

void sqlite_batches(benchmark::State& state) {
  const TemporaryDirectory directory;
  auto store = SqliteStore::open({.path = directory / "store.db"});
  if (!store) return state.SkipWithError(store.error().describe().c_str());
  commit_batches(state, **store);
}
BENCHMARK(sqlite_batches)->Arg(1)->Arg(50)->Arg(500)->UseRealTime()->MinTime(3);

// From a closed file to a store that has checked it and loaded live/.
void sqlite_open_and_load(benchmark::State& state) {
  const TemporaryDirectory directory;
  const SqliteStoreOptions options{.path = directory / "store.db"};
  {
    auto store = SqliteStore::open(options);
    if (!store) return state.SkipWithError(store.error().describe().c_str());
    for (std::int64_t written = 0; written < state.range(0);) {
      Transaction batch;
      for (int i = 0; i < 1'000; ++i, ++written)
        batch.put.push_back(
            {(written % 11 == 0 ? "live/job/" : "history/") + std::to_string(10'000'000 + written),
             std::string(kValueBytes, 'r')});
      if (auto done = (*store)->commit(batch); !done)
        return state.SkipWithError(done.error().describe().c_str());
    }
  }
  for (auto _ : state) {
    auto store = SqliteStore::open(options);
    if (!store) return state.SkipWithError(store.error().describe().c_str());
    benchmark::DoNotOptimize((*store)->load("live/"));
  }
}
BENCHMARK(sqlite_open_and_load)
    ->Arg(0)
    ->Arg(11'000)
    ->Arg(1'100'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

}  // namespace
}  // namespace gridfold
