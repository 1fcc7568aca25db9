// A store in memory: for the simulator and for tests. It forgets everything
// when it is destroyed and is otherwise like every other store.
//
// One thread commits; any thread may read at any time.
#pragma once

#include <deque>
#include <map>
#include <shared_mutex>

#include "control/store.h"

namespace gridfold {

struct MemoryStoreOptions {
  StoreLimits limits = {.operations = 100'000, .bytes = std::size_t{64} << 20};
  // The newest changes that changes_after() can still give; older ones are
  // dropped by whole revisions. 0: no log, every watcher relists.
  std::size_t kept_changes = 100'000;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(MemoryStoreOptions options = {}) : options_(options) {}

  Result<Snapshot> load(std::string_view prefix) override;
  Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                     std::size_t count) override;
  Result<Revision> commit(const Transaction& transaction) override;
  Result<std::vector<Change>> changes_after(Revision from, std::size_t count) override;
  StoreLimits limits() const override { return options_.limits; }

 private:
  struct Entry {
    std::string value;
    Revision revision = 0;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Result<void> compare(const std::vector<Compare>& compares) const;
  void put(const std::string& key, const std::string& value, Revision revision);
  bool erase(const std::string& key, Revision revision);
  void log(Change::Kind kind, const std::string& key, const std::string& value, Revision revision);
  void trim_log();

  const MemoryStoreOptions options_;
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_.
  Entries entries_;
  Revision revision_ = 0;
  std::deque<Change> log_;   // in order of revision
  Revision first_kept_ = 1;  // log_ holds every change of this revision and later
};

}  // namespace gridfold
