#include "simulator/verify/faulty_store.h"

namespace gridfold::verify {

Result<Revision> FaultyStore::commit(const Transaction& transaction, int daemon) {
  const bool writes = !transaction.put.empty() || !transaction.erase.empty();
  if (!writes) return inner_.commit(transaction);
  if (crash_ && crash_daemon_ == daemon) {
    const CommitCrash how = *crash_;
    crash_.reset();
    switch (how) {
      case CommitCrash::kBefore: throw DaemonCrash{};
      case CommitCrash::kAfter:
        if (store(transaction, daemon)) throw DaemonCrash{};
        break;
      case CommitCrash::kInLimbo:
        limbo_ = Limbo{transaction, daemon};
        ++refusals_;
        return unavailable("input/output error (injected)");
    }
  }
  if (disk_ != Disk::kHealthy) {
    ++refusals_;
    return disk_ == Disk::kFull ? unavailable("no space left on device (injected)")
                                : internal("input/output error (injected)");
  }
  return store(transaction, daemon);
}

void FaultyStore::settle_limbo() {
  if (!limbo_) return;
  const Limbo limbo = std::move(*limbo_);
  limbo_.reset();
  // A compare that no longer holds: others have written since, and it is lost.
  static_cast<void>(store(limbo.transaction, limbo.daemon));
}

Result<Revision> FaultyStore::store(const Transaction& transaction, int daemon) {
  const auto revision = inner_.commit(transaction);
  if (!revision) return revision;
  limbo_.reset();
  if (observer_) observer_(transaction, *revision, daemon);
  return revision;
}

}  // namespace gridfold::verify
