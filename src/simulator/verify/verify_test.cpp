// The gate's share of sim verify: a few hundred seeds, the same decisions twice
// and on every build, and that a failure can be replayed.
#include "simulator/verify/verify.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "stores/memory/memory_store.h"

namespace gridfold::verify {
namespace {

// Sanitizers and unoptimised builds are slower by a factor of ten.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 300;
#else
constexpr std::uint64_t kSeeds = 30;
#endif

std::unique_ptr<Store> make_memory_store() {
  return std::make_unique<MemoryStore>(MemoryStoreOptions{.kept_changes = 0});
}

RunRequest request_of(std::uint64_t seed) {
  RunRequest request;
  request.seed = seed;
  request.make_store = make_memory_store;
  return request;
}

TEST(Verify, NothingBreaks) {
  VerifyOptions options;
  options.last_seed = kSeeds;
  options.make_store = make_memory_store;
  const VerifyReport report = verify_seeds(options);
  for (const Failure& failure : report.failures) ADD_FAILURE() << failure_line(failure);
  EXPECT_EQ(report.seeds, kSeeds);
  std::int64_t faults = 0;
  for (const auto& [kind, count] : report.faults) faults += count;
  EXPECT_GE(faults, static_cast<std::int64_t>(100 * kSeeds));
}

// Every kind of fault is drawn, so that none is tested in name only.
TEST(Verify, EveryKindOfFaultHappens) {
  std::map<std::string, std::int64_t> faults;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const auto& [kind, count] : run_seed(request_of(seed)).faults) faults[kind] += count;
  }
  for (const char* kind : {"report_dropped", "report_delayed", "report_repeated", "launch_by_node",
                           "launch_by_job", "shim_lost", "device_dirty", "node_off", "node_cut",
                           "node_reboot", "crash", "crash_at_commit", "crash_in_orders",
                           "store_full", "store_broken", "take_over", "cancel_storm"})
    EXPECT_GT(faults[kind], 0) << kind;
}

// The list was written by a release build: an asan or another build must agree.
// With GRIDFOLD_REWRITE set it is written anew.
TEST(Verify, DecisionsAreTheSameOnEveryBuild) {
  const std::string path = std::string(GRIDFOLD_SOURCE_DIR) + "/tests/data/verify_hashes.txt";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::string rewritten;
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') {
      rewritten += line + "\n";
      continue;
    }
    std::istringstream words(line);
    std::uint64_t seed = 0;
    std::string hash;
    words >> seed >> hash;
    const RunResult first = run_seed(request_of(seed));
    EXPECT_EQ(first.decisions_sha256, run_seed(request_of(seed)).decisions_sha256)
        << "seed " << seed << " decides otherwise when it is run again";
    EXPECT_EQ(first.decisions_sha256, hash)
        << "seed " << seed
        << ": when the decisions changed on purpose, run it with GRIDFOLD_REWRITE=1";
    rewritten += std::to_string(seed) + " " + first.decisions_sha256 + "\n";
    ++compared;
  }
  EXPECT_GE(compared, 8);
  if (std::getenv("GRIDFOLD_REWRITE") != nullptr) std::ofstream(path) << rewritten;
}

// Each of these once broke something that no other of the first thousands did.
TEST(Verify, SeedsThatOnceFailedPass) {
  for (const std::uint64_t seed : {657, 757, 1561, 1958, 2117, 2957, 3957, 4797}) {
    const RunResult result = run_seed(request_of(seed));
    EXPECT_FALSE(result.violation)
        << "seed " << seed << ": " << result.violation->invariant << " " << result.violation->text;
  }
}

TEST(Verify, ARunCanEndAtAnEventAndLeaveActionsOut) {
  RunRequest request = request_of(3);
  request.until = 40;
  request.trace = Trace::kOn;
  const RunResult some = run_seed(request);
  EXPECT_LE(some.events, 80u);
  EXPECT_FALSE(some.trace.empty());
  EXPECT_NE(some.state.find("by the store"), std::string::npos);
  request.only = std::vector<std::uint32_t>{};
  request.until = UINT64_MAX;
  EXPECT_EQ(run_seed(request).jobs, 0u);
}

TEST(Verify, IndicesReadBack) {
  const auto indices = parse_indices("9,3-5");
  ASSERT_TRUE(indices);
  EXPECT_EQ(indices_text(*indices), "3-5,9");
  EXPECT_TRUE(parse_indices("none")->empty());
  EXPECT_FALSE(parse_indices("5-3"));
  EXPECT_FALSE(parse_indices("1-99999999"));
  EXPECT_FALSE(parse_indices("x"));
}

TEST(Verify, AFailureNamesItsReplay) {
  const Failure failure{7, {"I3", "too much"}, 31, std::vector<std::uint32_t>{1, 2}, Calm::kYes};
  EXPECT_EQ(failure_line(failure),
            "seed 7: I3 too much at event 31: gridfold sim replay --seed 7 --until 31 --calm "
            "--only 1-2");
}

}  // namespace
}  // namespace gridfold::verify
