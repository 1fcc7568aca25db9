// A store that keeps nothing, for a simulation's run, whose records nobody
// reads: it counts revisions, and what it is told to write is not even written
// out. It has one owner from its making to its end, so every compare holds.
//
// It is no place for anything that is read back (tests/contracts does not run
// on it): use MemoryStore there.
#pragma once

#include "control/store.h"

namespace gridfold {

class NullStore final : public Store {
 public:
  Result<Snapshot> load(std::string_view) override { return Snapshot{{}, revision_}; }
  Result<std::vector<KeyValue>> page(std::string_view, std::string_view, std::size_t) override {
    return std::vector<KeyValue>{};
  }
  Result<Revision> commit(const Transaction&) override { return ++revision_; }
  Result<Revision> commit_lazily(const TransactionWriter&) override { return ++revision_; }
  Result<std::vector<Change>> changes_after(Revision, std::size_t) override;
  StoreLimits limits() const override;

 private:
  Revision revision_ = 0;
};

}  // namespace gridfold
