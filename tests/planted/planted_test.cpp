// Each planted bug is found by `sim verify` within 500 seeds, and no library of
// the product has any of them.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "simulator/verify/run.h"
#include "stores/memory/memory_store.h"
#include "tests/planted/planted.h"

namespace gridfold::verify {
namespace {

constexpr std::uint64_t kMostSeeds = 500;

struct Bug {
  const char* name;
  const char* breaks;  // the invariants by which it may be found
};
constexpr Bug kBugs[] = {
    {"ack_before_commit", "I1"},
    {"forget_key_on_restart", "I2"},
    {"requeue_when_unreachable", "I2 I6"},
    {"older_epoch_accepted", "I6 I7 I8"},
    {"late_message_revives", "I7"},
    {"release_before_death", "I3 I6 I7"},
    {"orphan_on_cancel_during_start", "I6"},
    {"shares_compared_as_floats", "I3 I13"},
    {"gang_starts_incomplete", "I4"},
    {"quota_charged_after_start", "I5 I11"},
    {"quota_off_by_one", "I5"},
    {"tenant_limits_of_the_queue", "I5 I13"},
    {"claims_are_no_jobs", "I5 I13"},
    {"stale_leader_writes", "I8"},
    {"stale_leader_orders", "I8"},
    {"quota_wake_forgotten", "I9"},
    {"borrow_not_reclaimed", "I9"},
    {"double_count_at_requeue", "I11"},
    {"order_by_address", "I12"},
    {"reason_hides_quota", "I13"},
    {"snapshot_misses_field", "I14"},
    {"crash_after_queue_deletion", "I1"},
    {"partitions_overlap", "I3 I13"},
    {"any_start_is_legal", "I3"},
    {"numa_wish_ignored", "I3 I13"},
    {"gang_crosses_required_domain", "P1"},
    {"spread_counts_wrong", "P1"},
    {"equals_give_way", "P2"},
    {"bystander_evicted", "P2"},
    {"bystander_in_parts", "P2"},
    {"limited_job_counts_others", "I13"},
    {"runner_up_is_the_neighbour", "I13"},
    {"drained_node_has_room", "I13"},
    {"position_forgets_plans", "I13"},
    {"promise_outlives_its_job", "P3 I14"},
    {"plan_spreads_anywhere", "P1"},
    {"round_cuts_gangs", "I4"},
    {"round_needs_no_quota", "I5"},
    {"repair_never_given_up", "I4"},
    {"repair_counts_its_places", "I13"},
    {"window_ahead_overlooked", "P4 I13"},
    {"window_stops_nobody", "P4"},
    {"array_off_by_one", "I5 I13"},
};

RunResult run(std::uint64_t seed) {
  RunRequest request;
  request.seed = seed;
  request.make_store = []() -> std::unique_ptr<Store> {
    return std::make_unique<MemoryStore>(MemoryStoreOptions{.kept_changes = 0});
  };
  return run_seed(request);
}

class PlantedBug : public testing::TestWithParam<Bug> {
 protected:
  ~PlantedBug() override { plant(""); }
};

TEST_P(PlantedBug, IsFound) {
  const bool by_two_runs = std::string(GetParam().breaks) == "I12";
  plant(GetParam().name);
  for (std::uint64_t seed = 1; seed <= kMostSeeds; ++seed) {
    const RunResult result = run(seed);
    std::optional<Violation> found = result.violation;
    if (!found && by_two_runs && run(seed).decisions_sha256 != result.decisions_sha256)
      found = Violation{"I12", "two runs of the seed decide differently"};
    if (!found) continue;
    std::printf("%s: found by %s in seed %d, event %d: %s\n", GetParam().name,
                found->invariant.c_str(), static_cast<int>(seed), static_cast<int>(result.events),
                found->text.c_str());
    EXPECT_NE(std::string(GetParam().breaks).find(found->invariant), std::string::npos)
        << found->invariant << " " << found->text;
    return;
  }
  FAIL() << GetParam().name << " was not found in " << kMostSeeds << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedBug, testing::ValuesIn(kBugs),
                         [](const auto& bug) { return std::string(bug.param.name); });

TEST(Planted, WithoutABugNothingIsFound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = run(seed);
    EXPECT_FALSE(result.violation)
        << "seed " << seed << ": " << result.violation->invariant << " " << result.violation->text;
  }
}

TEST(Planted, TheProductHasNoneOfThem) {
  int files = 0;
  const std::filesystem::path build = GRIDFOLD_BINARY_DIR;
  for (const auto& at : {build / "src/engine/libgridfold_engine.a",
                         build / "src/control/libgridfold_control.a", build / "gridfold"}) {
    std::ifstream file(at, std::ios::binary);
    if (!file) continue;  // the binary need not be built for this test
    ++files;
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    for (const Bug& bug : kBugs)
      EXPECT_EQ(bytes.find(bug.name), std::string::npos) << bug.name << " is in " << at;
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace gridfold::verify
