// A store whose disk can be full or broken, and whose daemon can die in the
// middle of a commit. It tells what was really stored, and by which daemon.
//
//   FaultyStore disk(inner);
//   DaemonStore store(disk, 1);       // what daemon 1 writes through
//
// A crash is an exception that passes through the control loop: whoever
// catches it destroys the loop, as kill -9 would.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "control/store.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

// Thrown where the daemon dies.
struct DaemonCrash {};

class FaultyStore {
 public:
  explicit FaultyStore(Store& inner) : inner_(inner) {}

  enum class Disk : std::uint8_t { kHealthy, kFull, kBroken };
  void set_disk(Disk disk) { disk_ = disk; }
  // Daemon `daemon` dies at its next commit that writes.
  void crash_at_commit(CommitCrash how, int daemon) {
    crash_ = how;
    crash_daemon_ = daemon;
  }
  void cancel_crash() { crash_.reset(); }
  // The daemon is dead: a commit that was refused and is still in limbo is stored.
  void settle_limbo();
  bool in_limbo() const { return limbo_.has_value(); }
  // Called with each transaction that was stored.
  void on_stored(std::function<void(const Transaction&, Revision, int daemon)> observer) {
    observer_ = std::move(observer);
  }

  Result<Revision> commit(const Transaction& transaction, int daemon);
  Store& inner() { return inner_; }
  std::int64_t refusals() const { return refusals_; }

 private:
  Result<Revision> store(const Transaction& transaction, int daemon);

  Store& inner_;
  Disk disk_ = Disk::kHealthy;
  std::optional<CommitCrash> crash_;
  int crash_daemon_ = 0;
  struct Limbo {
    Transaction transaction;
    int daemon = 0;
  };
  std::optional<Limbo> limbo_;
  std::int64_t refusals_ = 0;
  std::function<void(const Transaction&, Revision, int)> observer_;
};

class DaemonStore : public Store {
 public:
  DaemonStore(FaultyStore& disk, int daemon) : disk_(disk), daemon_(daemon) {}

  Result<Snapshot> load(std::string_view prefix) override { return disk_.inner().load(prefix); }
  Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                     std::size_t count) override {
    return disk_.inner().page(prefix, after, count);
  }
  Result<Revision> commit(const Transaction& transaction) override {
    return disk_.commit(transaction, daemon_);
  }
  Result<std::vector<Change>> changes_after(Revision from, std::size_t count) override {
    return disk_.inner().changes_after(from, count);
  }
  StoreLimits limits() const override { return disk_.inner().limits(); }

 private:
  FaultyStore& disk_;
  const int daemon_;
};

}  // namespace gridfold::verify
