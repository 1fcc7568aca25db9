// The embedded store: one SQLite file, durable at every commit.
//
//   auto store = SqliteStore::open({.path = "/var/lib/gridfold/store.db"});
//   if (!store) return store.error();   // says what is wrong and what to do
//   (*store)->commit(...);
//
// One transaction a commit, synced before it returns (WAL, synchronous=FULL).
// One connection writes and one reads, each behind its mutex, so a reader never
// waits for a sync. The format is in docs/store.md.
#pragma once

#include <memory>
#include <mutex>

#include "control/store.h"
#include "stores/sqlite/database.h"
#include "stores/sqlite/store_lock.h"

namespace gridfold {

struct SqliteStoreOptions {
  // The database file. Missing directories are created with mode 0700; beside
  // the file appear path-wal, path-shm and path.lock.
  std::string path = {};
  StoreLimits limits = {.operations = 100'000, .bytes = std::size_t{64} << 20};
  // The newest changes that changes_after() can still give, at least 1; a few
  // more are kept, because they are trimmed in lots.
  std::size_t kept_changes = 100'000;
  // Pages of the log after which they are copied into the file.
  int checkpoint_pages = 1'000;
  // A registered SQLite VFS; empty for the default one.
  std::string vfs = {};
};

class SqliteStore final : public Store {
 public:
  // Creates the store when nothing is at the path. Errors: kUnavailable (in use
  // by another process, disk full, not writable), kCorrupt (damaged; nothing is
  // repaired or removed), kInvalid (another program's database, a newer schema,
  // an option out of range).
  static Result<std::unique_ptr<SqliteStore>> open(SqliteStoreOptions options);

  Result<Snapshot> load(std::string_view prefix) override;
  Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                     std::size_t count) override;
  Result<Revision> commit(const Transaction& transaction) override;
  Result<std::vector<Change>> changes_after(Revision from, std::size_t count) override;
  StoreLimits limits() const override { return options_.limits; }

  // Copies the store as of one revision to `target`, which must not exist;
  // commits go on meanwhile. The copy is checked and synced before it gets its
  // name. It is a complete store: to restore, put it at `path` of a stopped one.
  Result<void> backup(const std::string& target);

 private:
  struct Writer {
    Database database;
    Statement revision, find, put, erase, log, cut, trim;
    std::int64_t changes_kept = 0;  // rows in the log
  };
  struct Reader {
    Database database;
    Statement revision, entries, first_change, changes;
  };

  SqliteStore(SqliteStoreOptions options, StoreLock lock, Writer writer, Reader reader)
      : options_(std::move(options)),
        lock_(std::move(lock)),
        writer_(std::move(writer)),
        reader_(std::move(reader)) {}

  static Result<Writer> open_writer(const SqliteStoreOptions& options);
  static Result<Reader> open_reader(const SqliteStoreOptions& options);

  // The parts of commit(), inside its transaction.
  Result<Revision> current_revision();
  Result<void> compare(const std::vector<Compare>& compares);
  Result<std::size_t> write(const Transaction& transaction, Revision revision);
  Result<void> put(std::string_view key, std::string_view value, Revision revision);
  Result<bool> erase(std::string_view key);
  Result<void> log(std::int64_t id, Change::Kind kind, std::string_view key,
                   std::string_view value);
  Result<std::int64_t> trim(std::int64_t changes_kept);

  // The parts of reads, inside their transaction.
  Result<std::vector<KeyValue>> read_entries(std::string_view prefix, std::string_view after,
                                             std::size_t count);
  Result<std::vector<Change>> read_changes(Revision from, std::size_t count);

  const SqliteStoreOptions options_;
  const StoreLock lock_;  // before the connections: freed after they close

  std::mutex writer_mutex_;
  Writer writer_;  // guarded by writer_mutex_
  std::mutex reader_mutex_;
  Reader reader_;  // guarded by reader_mutex_
};

}  // namespace gridfold
