// Power lost at every operation that changes the disk, in four ways.
#include <gtest/gtest.h>

#include "stores/sqlite/sqlite_store.h"
#include "tests/support/crash_vfs.h"
#include "tests/support/store_scenario.h"
#include "tests/support/temporary_directory.h"

namespace gridfold {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kCommits = 45;
constexpr int kReopenAt = 30;

class CrashTest : public testing::TestWithParam<CrashMode> {
 protected:
  // Small, so that checkpoints and trimming of the log happen within the scenario.
  SqliteStoreOptions options() {
    return {.path = directory_ / "store.db",
            .kept_changes = 10,
            .checkpoint_pages = 40,
            .vfs = disk_.vfs()};
  }

  // Creation, commits, a clean restart, more commits, a clean end. Stops when
  // the power goes.
  void run(StoreScenario& scenario) {
    for (int i = 0; i < kCommits;) {
      auto store = SqliteStore::open(options());
      if (!store) {
        ASSERT_TRUE(disk_.crashed()) << store.error().describe();
        return;
      }
      for (const int stop = i < kReopenAt ? kReopenAt : kCommits; i < stop; ++i) {
        if (!scenario.run(**store, scenario.next())) {
          ASSERT_TRUE(disk_.crashed()) << "commit " << i << " was refused";
          return;
        }
      }
    }
  }

  CrashDisk disk_;
  TemporaryDirectory directory_;
};

TEST_P(CrashTest, NothingAcknowledgedIsLostNothingElseIsHalfThere) {
  StoreScenario whole(kSeed);
  run(whole);
  const std::uint64_t operations = disk_.counts().total();
  ASSERT_GE(disk_.counts().writes, 400u);
  RecordProperty("operations", static_cast<int>(operations));

  for (std::uint64_t operation = 1; operation <= operations; ++operation) {
    SCOPED_TRACE("power lost at operation " + std::to_string(operation) + " of " +
                 std::to_string(operations));
    for (const char* suffix : {"", "-wal", "-new", "-journal"})
      disk_.remove(options().path + suffix);
    disk_.crash_at({.operation = operation, .mode = GetParam(), .seed = operation});
    StoreScenario scenario(kSeed);
    run(scenario);
    ASSERT_TRUE(disk_.crashed());
    disk_.restart();

    auto store = SqliteStore::open(options());  // checks the file's integrity
    ASSERT_TRUE(store) << store.error().describe();
    ASSERT_EQ(scenario.check(**store), "");
    ASSERT_TRUE(scenario.run(**store, {.put = {{"after", "crash"}}}));
    ASSERT_EQ(scenario.check(**store), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CrashTest,
                         testing::Values(CrashMode::kBefore, CrashMode::kAfter,
                                         CrashMode::kUnsyncedDropped, CrashMode::kTornWrite),
                         [](const auto& mode) {
                           switch (mode.param) {
                             case CrashMode::kBefore: return "Before";
                             case CrashMode::kAfter: return "After";
                             case CrashMode::kUnsyncedDropped: return "UnsyncedDropped";
                             case CrashMode::kTornWrite: return "TornWrite";
                           }
                           return "";
                         });

}  // namespace
}  // namespace gridfold
