// The stores under the contract, each with its own limits and with etcd's.
#include "tests/contracts/store_contract.h"

#include "stores/memory/memory_store.h"
#include "stores/sqlite/sqlite_store.h"
#include "tests/support/crash_vfs.h"
#include "tests/support/temporary_directory.h"

namespace gridfold {
namespace {

constexpr StoreLimits kEtcdLimits{.operations = 128, .bytes = 1'572'864};
// A transaction of this size stays quick in every test.
constexpr StoreLimits kWideLimits{.operations = 2'000, .bytes = 8 << 20};
constexpr std::size_t kKeptChanges = 300;
// More than a lot of the SQLite store's trimming.
constexpr std::size_t kUntilGone = 2 * kKeptChanges;

class MemoryHarness final : public StoreHarness {
 public:
  explicit MemoryHarness(StoreLimits limits)
      : store_({.limits = limits, .kept_changes = kKeptChanges}) {}
  Store& store() override { return store_; }
  Store& reopen() override { return store_; }
  std::size_t changes_until_gone() const override { return kUntilGone; }
  std::size_t kept_changes() const override { return kKeptChanges; }

 private:
  MemoryStore store_;
};

class SqliteHarness final : public StoreHarness {
 public:
  SqliteHarness(StoreLimits limits, std::string vfs)
      : options_{.path = directory_ / "store.db",
                 .limits = limits,
                 .kept_changes = kKeptChanges,
                 .vfs = std::move(vfs)} {
    reopen();
  }
  Store& store() override { return *store_; }
  Store& reopen() override {
    store_.reset();
    auto opened = SqliteStore::open(options_);
    if (!opened) {
      ADD_FAILURE() << opened.error().describe();
      abort();
    }
    store_ = std::move(*opened);
    return *store_;
  }
  std::size_t changes_until_gone() const override { return kUntilGone; }
  std::size_t kept_changes() const override { return kKeptChanges; }

 private:
  TemporaryDirectory directory_;
  SqliteStoreOptions options_;
  std::unique_ptr<SqliteStore> store_;
};

StoreUnderTest memory(const std::string& name, StoreLimits limits) {
  return {name, [limits] { return std::make_unique<MemoryHarness>(limits); }};
}
StoreUnderTest sqlite(const std::string& name, StoreLimits limits, const std::string& vfs) {
  return {name, [limits, vfs] { return std::make_unique<SqliteHarness>(limits, vfs); }};
}
// The same store; the files' syncs would only make the suite slow.
const std::string& disk_in_memory() {
  static CrashDisk disk;
  return disk.vfs();
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(memory("Memory", kWideLimits), memory("MemoryWithEtcdLimits", kEtcdLimits),
                    sqlite("Sqlite", kWideLimits, ""),
                    sqlite("SqliteWithEtcdLimits", kEtcdLimits, disk_in_memory())),
    store_name);

}  // namespace
}  // namespace gridfold
