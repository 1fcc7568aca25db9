#include "stores/transaction_rules.h"

#include <algorithm>

#include "base/utf8.h"

namespace gridfold {
namespace {

Result<void> check_key(std::string_view key) {
  if (key.empty()) return invalid("a transaction has an empty key");
  const std::size_t wrong = std::min(first_invalid_utf8(key), key.find('\0'));
  if (wrong == std::string_view::npos) return {};
  return invalid("a transaction has a key that is not UTF-8 text without NUL, at byte " +
                 std::to_string(wrong) + " of " + std::to_string(key.size()));
}

Result<void> check_size(const Transaction& transaction, const StoreLimits& limits) {
  const std::size_t operations =
      transaction.compare.size() + transaction.put.size() + transaction.erase.size();
  if (operations > limits.operations)
    return Error{ErrorKind::kLimit,
                 "a transaction has " + std::to_string(operations) +
                     " operations, the store takes " + std::to_string(limits.operations),
                 {},
                 "split it"};
  std::size_t bytes = 0;
  for (const auto& compare : transaction.compare) bytes += compare.key.size();
  for (const auto& [key, value] : transaction.put) bytes += key.size() + value.size();
  for (const auto& key : transaction.erase) bytes += key.size();
  if (bytes > limits.bytes)
    return Error{ErrorKind::kLimit,
                 "a transaction has " + std::to_string(bytes) + " bytes, the store takes " +
                     std::to_string(limits.bytes),
                 {},
                 "split it"};
  return {};
}

Result<void> check_written_once(const Transaction& transaction) {
  if (transaction.put.size() + transaction.erase.size() < 2) return {};
  std::vector<std::string_view> written;
  written.reserve(transaction.put.size() + transaction.erase.size());
  for (const auto& [key, value] : transaction.put) written.push_back(key);
  for (const auto& key : transaction.erase) written.push_back(key);
  std::sort(written.begin(), written.end());
  const auto twice = std::adjacent_find(written.begin(), written.end());
  if (twice == written.end()) return {};
  return invalid("a transaction writes key \"" + std::string(*twice) + "\" twice");
}

std::string describe(Revision revision) {
  return revision == 0 ? "absent" : "revision " + std::to_string(revision);
}

}  // namespace

Result<void> check_transaction(const Transaction& transaction, const StoreLimits& limits) {
  if (auto fits = check_size(transaction, limits); !fits) return fits;
  for (const auto& compare : transaction.compare)
    if (auto valid = check_key(compare.key); !valid) return valid;
  for (const auto& [key, value] : transaction.put)
    if (auto valid = check_key(key); !valid) return valid;
  for (const auto& key : transaction.erase)
    if (auto valid = check_key(key); !valid) return valid;
  return check_written_once(transaction);
}

Error compare_failed(const Compare& compare, Revision found) {
  return {ErrorKind::kConflict,
          "key \"" + compare.key + "\": expected " + describe(compare.expected) + ", found " +
              describe(found),
          {},
          "read it again and decide anew"};
}

Result<void> check_changes_kept(Revision from, Revision first_kept, Revision current) {
  if (from > current)
    return Error{ErrorKind::kNotFound,
                 "changes after revision " + std::to_string(from) +
                     " are gone: the store is at revision " + std::to_string(current) +
                     ", perhaps restored from a backup",
                 {},
                 "relist"};
  if (from < current && from + 1 < first_kept)
    return Error{ErrorKind::kNotFound,
                 "changes after revision " + std::to_string(from) +
                     " are gone: the oldest kept are of revision " + std::to_string(first_kept),
                 {},
                 "relist"};
  return {};
}

Result<void> check_page_size(std::size_t count) {
  if (count == 0) return invalid("a page needs at least one entry");
  return {};
}

}  // namespace gridfold
