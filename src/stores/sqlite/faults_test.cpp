// A disk that is full, refuses or lies: errors are said, nothing is lost.
#include <gtest/gtest.h>

#include "stores/sqlite/sqlite_store.h"
#include "tests/support/crash_vfs.h"
#include "tests/support/store_scenario.h"
#include "tests/support/temporary_directory.h"

namespace gridfold {
namespace {

class FaultsTest : public testing::Test {
 protected:
  SqliteStoreOptions options() {
    return {.path = directory_ / "store.db",
            .kept_changes = 10,
            .checkpoint_pages = 40,
            .vfs = disk_.vfs()};
  }
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open(options());
    EXPECT_TRUE(store) << store.error().describe();
    return store ? std::move(*store) : nullptr;
  }

  // Commits until one is refused; it must be unavailable, name the file and the
  // next step, and leave the store as it was. False: none was refused.
  bool commit_until_refused(Store& store, StoreScenario& scenario, int commits) {
    for (int i = 0; i < commits; ++i) {
      const Transaction transaction = scenario.next();
      if (scenario.run(store, transaction)) continue;
      expect_refused(store.commit(transaction).error(), store, scenario);
      return true;
    }
    return false;
  }

  void expect_refused(const Error& error, Store& store, const StoreScenario& scenario) {
    EXPECT_EQ(error.kind, ErrorKind::kUnavailable) << error.describe();
    EXPECT_NE(error.message.find(options().path), std::string::npos) << error.describe();
    EXPECT_FALSE(error.hint.empty());
    auto snapshot = store.load("");
    ASSERT_TRUE(snapshot) << snapshot.error().describe();
    EXPECT_EQ(snapshot->revision, scenario.revision());
  }

  void commit_some(Store& store, StoreScenario& scenario, int commits) {
    for (int i = 0; i < commits; ++i) ASSERT_TRUE(scenario.run(store, scenario.next()));
  }

  CrashDisk disk_;
  TemporaryDirectory directory_;
};

TEST_F(FaultsTest, AFullDiskRefusesCommitsUntilThereIsRoom) {
  auto store = open();
  StoreScenario scenario(1);
  for (int fill_point = 0; fill_point < 50; ++fill_point) {
    SCOPED_TRACE("fill point " + std::to_string(fill_point));
    disk_.set_capacity(disk_.used_bytes() + 1 + static_cast<std::uint64_t>(fill_point) * 997);
    commit_until_refused(*store, scenario, 100);
    disk_.set_capacity(0);
    commit_some(*store, scenario, 2);
    ASSERT_EQ(scenario.check(*store), "");
    if (fill_point % 10 == 0) {
      store.reset();
      store = open();
      ASSERT_EQ(scenario.check(*store), "");
    }
  }
}

TEST_F(FaultsTest, AFullDiskIsNamed) {
  auto store = open();
  disk_.set_capacity(1);
  auto refused = store->commit({.put = {{"a", std::string(100'000, 'x')}}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().describe().find("database or disk is full"), std::string::npos)
      << refused.error().describe();
  EXPECT_NE(refused.error().describe().find("free space"), std::string::npos);
}

TEST_F(FaultsTest, ANewStoreOnAFullDiskIsUnavailableAndThenCreated) {
  for (const std::uint64_t capacity : {1, 100, 5'000, 20'000}) {
    disk_.set_capacity(capacity);
    auto refused = SqliteStore::open(options());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable) << refused.error().describe();
  }
  disk_.set_capacity(0);
  auto store = open();
  EXPECT_EQ(store->load("")->revision, 0u);
  EXPECT_TRUE(store->commit({.put = {{"a", "1"}}}));
}

// Every write and every sync of a stretch of commits fails once or twice.
TEST_F(FaultsTest, AFailedWriteOrSyncRefusesOnlyThatCommit) {
  auto store = open();
  StoreScenario scenario(2);
  for (std::uint64_t passing = 0; passing < 60; ++passing) {
    for (const std::uint64_t count : {1, 2}) {
      SCOPED_TRACE("after " + std::to_string(passing));
      if (passing % 2 == 0)
        disk_.fail_writes(passing, count);
      else
        disk_.fail_syncs(passing / 20, count);
      for (int i = 0; i < 12; ++i) {
        const Transaction transaction = scenario.next();
        if (scenario.run(*store, transaction)) continue;
        auto snapshot = store->load("");
        ASSERT_TRUE(snapshot) << snapshot.error().describe();
        ASSERT_EQ(snapshot->revision, scenario.revision());
      }
      disk_.fail_writes(0, 0);
      disk_.fail_syncs(0, 0);
      commit_some(*store, scenario, 1);
      ASSERT_EQ(scenario.check(*store), "");
    }
  }
  store.reset();
  store = open();
  EXPECT_EQ(scenario.check(*store), "");
}

TEST_F(FaultsTest, AFailedSyncFollowedByPowerLossKeepsWhatWasAcknowledged) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const char* suffix : {"", "-wal", "-new"}) disk_.remove(options().path + suffix);
    auto store = open();
    StoreScenario scenario(seed);
    commit_some(*store, scenario, static_cast<int>(seed % 20));
    disk_.fail_syncs(0, 1);
    if (scenario.run(*store, scenario.next())) FAIL() << "acknowledged without a sync";
    disk_.crash_at({.operation = 1 + seed % 7, .mode = CrashMode::kUnsyncedDropped, .seed = seed});
    while (scenario.run(*store, scenario.next())) {
    }
    store.reset();
    disk_.restart();
    store = open();
    ASSERT_EQ(scenario.check(*store), "");
  }
}

TEST_F(FaultsTest, AFailedReadIsSaid) {
  {
    auto store = open();
    ASSERT_TRUE(store->commit({.put = {{"a", std::string(50'000, 'x')}}}));
  }
  auto store = open();
  disk_.fail_reads(0, 1'000);
  auto failed = store->load("");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kUnavailable) << failed.error().describe();
  disk_.fail_reads(0, 0);
  EXPECT_EQ(store->load("")->entries.size(), 1u);
}

// One bit of a closed store turns: it is refused, or it reads as before.
TEST_F(FaultsTest, AFlippedBitNeverGivesWrongData) {
  StoreScenario scenario(3);
  {
    auto store = open();
    commit_some(*store, scenario, 60);
  }
  const std::string whole = disk_.content(options().path);
  RandomStream random(4, "bits");
  int refused = 0;
  constexpr int kFlips = 1'500;
  for (int i = 0; i < kFlips; ++i) {
    std::string damaged = whole;
    // Every header bit once, then any.
    const std::uint64_t bit =
        i < 800 ? static_cast<std::uint64_t>(i) : random.below(whole.size() * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    disk_.content(options().path) = damaged;
    SCOPED_TRACE("bit " + std::to_string(bit));
    auto store = SqliteStore::open(options());
    bool read = false;
    if (store) {
      auto snapshot = (*store)->load("");
      auto changes = (*store)->changes_after(scenario.revision() - 1, 1);
      read = snapshot && changes;
      if (read) {
        ASSERT_EQ(scenario.check(**store), "");
      }
      if (!snapshot) {
        EXPECT_EQ(snapshot.error().kind, ErrorKind::kCorrupt);
      }
    }
    refused += read ? 0 : 1;
  }
  RecordProperty("refused", refused);
  EXPECT_GT(refused, kFlips / 4);
}

TEST_F(FaultsTest, BitsFlippedWhileOpeningNeverGiveWrongData) {
  StoreScenario scenario(5);
  {
    auto store = open();
    commit_some(*store, scenario, 60);
  }
  const std::string whole = disk_.content(options().path);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    disk_.content(options().path) = whole;
    disk_.flip_bits_on_read(20, seed);
    auto store = SqliteStore::open(options());
    disk_.flip_bits_on_read(0, 0);
    if (!store) continue;
    auto snapshot = (*store)->load("");
    if (snapshot && (*store)->changes_after(scenario.revision() - 1, 1)) {
      ASSERT_EQ(scenario.check(**store), "");
    }
  }
}

}  // namespace
}  // namespace gridfold
