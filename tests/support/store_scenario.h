// A fixed sequence of commits, and what a store must hold after part of it:
// the acknowledged commits, and of the one in flight all or nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "control/store.h"

namespace gridfold {

class StoreScenario {
 public:
  explicit StoreScenario(std::uint64_t seed) : random_(seed, "scenario") {}

  // The next commit of a scheduler's kind: a few jobs change, one ends.
  Transaction next() {
    Transaction transaction;
    for (std::uint64_t n = random_.between(1, 4); n > 0; --n) {
      const std::string key = "live/job/" + std::to_string(random_.below(40));
      bool fresh = true;
      for (const auto& [written, value] : transaction.put) fresh &= written != key;
      if (fresh)
        transaction.put.push_back(
            {key, std::string(random_.below(600), static_cast<char>('a' + random_.below(26)))});
    }
    if (random_.chance(1, 3)) {
      const std::string number = std::to_string(random_.below(40));
      const std::string key = "live/job/" + number;
      std::erase_if(transaction.put, [&](const auto& put) { return put.first == key; });
      transaction.erase.push_back(key);
      transaction.put.push_back({"history/" + number, "ended"});
    }
    return transaction;
  }

  // Commits and keeps account. False when the store did not acknowledge.
  bool run(Store& store, const Transaction& transaction) {
    in_flight_ = transaction;
    auto revision = store.commit(transaction);
    if (!revision) return false;
    acknowledged_ = apply(acknowledged_, transaction);
    in_flight_.reset();
    return acknowledged_.revision == *revision;
  }

  // Empty when the store holds what it must, else what is wrong. Takes what it
  // found of the commit in flight as the truth from here on.
  std::string check(Store& store) {
    auto snapshot = store.load("");
    if (!snapshot) return snapshot.error().describe();
    if (snapshot->revision == acknowledged_.revision + 1 && in_flight_)
      acknowledged_ = apply(acknowledged_, *in_flight_);
    in_flight_.reset();
    if (snapshot->revision != acknowledged_.revision)
      return "revision " + std::to_string(snapshot->revision) + ", acknowledged " +
             std::to_string(acknowledged_.revision);
    if (snapshot->entries.size() != acknowledged_.entries.size())
      return std::to_string(snapshot->entries.size()) + " entries instead of " +
             std::to_string(acknowledged_.entries.size());
    auto wanted = acknowledged_.entries.begin();
    for (const auto& entry : snapshot->entries) {
      if (entry.key != wanted->first || entry.value != wanted->second.value ||
          entry.revision != wanted->second.revision)
        return "wrong entry at key " + wanted->first;
      ++wanted;
    }
    return check_last_change(store);
  }

  Revision revision() const { return acknowledged_.revision; }

 private:
  struct State {
    std::map<std::string, KeyValue> entries;
    Revision revision = 0;
  };

  static State apply(State state, const Transaction& transaction) {
    const Revision next = state.revision + 1;
    for (const auto& [key, value] : transaction.put) {
      state.entries[key] = {key, value, next};
      state.revision = next;
    }
    for (const auto& key : transaction.erase)
      if (state.entries.erase(key) > 0) state.revision = next;
    return state;
  }

  // The log ends with the store's revision, whole.
  std::string check_last_change(Store& store) {
    if (acknowledged_.revision == 0) return {};
    auto changes = store.changes_after(acknowledged_.revision - 1, 1);
    if (!changes) return changes.error().describe();
    std::size_t puts = 0, wanted = 0;
    for (const auto& change : *changes) puts += change.kind == Change::Kind::kPut;
    for (const auto& [key, entry] : acknowledged_.entries)
      wanted += entry.revision == acknowledged_.revision;
    return puts == wanted ? "" : "the log's last revision is not whole";
  }

  RandomStream random_;
  State acknowledged_;
  std::optional<Transaction> in_flight_;
};

}  // namespace gridfold
