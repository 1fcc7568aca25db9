// The store port: keys with revisions, and nothing more. Memory, SQLite and
// etcd implement it and pass one contract suite
// (tests/contracts/store_contract.h).
//
// Keys are UTF-8 paths such as "live/job/42"; values are bytes. Every commit
// that changes something gets the next revision; one that changes nothing (no
// put, no erase of a present key) gives the current one, as in etcd. A key
// carries the revision of the commit that last wrote it. One writer thread;
// readers may be others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gridfold {

using Revision = std::uint64_t;  // 0: never written

struct KeyValue {
  std::string key;
  std::string value;
  Revision revision = 0;
};

// Holds when the key's revision is `expected` (0: the key is absent).
struct Compare {
  std::string key;
  Revision expected = 0;
};

struct Transaction {
  std::vector<Compare> compare;
  std::vector<std::pair<std::string, std::string>> put;
  std::vector<std::string> erase;
};

struct StoreLimits {
  std::size_t operations = 0;  // puts + erases + compares a transaction
  std::size_t bytes = 0;       // keys + values a transaction
};

// One change, in order of revision. Several changes may share one revision.
struct Change {
  enum class Kind : std::uint8_t { kPut, kErase };
  Kind kind = Kind::kPut;
  KeyValue entry;  // value empty for kErase
};

// Writes a transaction out when a store asks for it, as often as it asks.
using TransactionWriter = std::function<Transaction()>;

class Store {
 public:
  virtual ~Store() = default;

  // All entries whose key begins with `prefix`, in order of key, and the
  // revision they were read at.
  struct Snapshot {
    std::vector<KeyValue> entries;
    Revision revision = 0;
  };
  virtual Result<Snapshot> load(std::string_view prefix) = 0;

  // Up to `count` entries with key > `after` and the prefix: for history,
  // which is paged and never loaded whole.
  virtual Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                             std::size_t count) = 0;

  // All or nothing, durable before it returns. Errors: kConflict when a
  // compare fails (its key in the message), kInvalid for a key written twice
  // or not UTF-8, kLimit over limits(), kUnavailable when the disk is full or
  // read-only, kCorrupt. After kUnavailable nothing is applied as long as the
  // store stays open; a crash right then may yet bring the whole commit back.
  virtual Result<Revision> commit(const Transaction& transaction) = 0;

  // The same of a transaction that costs something to write out: a store that
  // keeps it asks for it, within the call; one that keeps nothing need not.
  virtual Result<Revision> commit_lazily(const TransactionWriter& write) { return commit(write()); }

  // Changes with revision > from, in order, each exactly once, at most `count`
  // (whole revisions, at least one). Error kNotFound ("gone, relist") when
  // they are no longer kept, or `from` is ahead of the store.
  virtual Result<std::vector<Change>> changes_after(Revision from, std::size_t count) = 0;

  virtual StoreLimits limits() const = 0;
};

}  // namespace gridfold
