// Remembers for 24 hours which key a submission came with and what it was
// answered, so that a call told twice is one batch of jobs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/control_loop.h"
#include "control/store.h"

namespace gridfold {

class IdempotencyKeys {
 public:
  // The answer given to this key before, marked as repeated; null when it is
  // new. Error kConflict when it came with another body.
  Result<const SubmitAnswer*> find(const SubmitRequest& request) const;
  // Stored with the next transaction; forgotten again when that is rejected.
  void add(const SubmitRequest& request, Instant now, const SubmitAnswer& answer);
  void put_new(Transaction& transaction) const;
  void new_are_stored() { new_.clear(); }
  void forget_new();
  bool any_new() const { return !new_.empty(); }
  // Forgets a few that are too old; the keys of their records, to be erased.
  std::vector<std::string> expire(Instant now);
  // A record as it was stored. Error kCorrupt.
  Result<void> restore(std::string_view key, std::string_view value);

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, key
  struct Entry {
    std::string digest;  // of the body
    Instant at{};
    SubmitAnswer answer;
  };
  static std::string encode(const Entry& entry);

  std::map<Key, Entry> entries_;
  std::vector<Key> new_;
};

}  // namespace gridfold
