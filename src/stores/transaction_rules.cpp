#include "stores/transaction_rules.h"

#include <algorithm>

namespace gridfold {
namespace {

// Length of the UTF-8 sequence that `text` begins with; 0 when it is none
// (overlong forms, surrogates and values over U+10FFFF included).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

Result<void> check_key(std::string_view key) {
  if (key.empty()) return invalid("a transaction has an empty key");
  for (std::string_view rest = key; !rest.empty();) {
    const std::size_t length = sequence_length(rest);
    if (length == 0 || rest.front() == '\0')
      return invalid("a transaction has a key that is not UTF-8 text without NUL, at byte " +
                     std::to_string(key.size() - rest.size()) + " of " +
                     std::to_string(key.size()));
    rest.remove_prefix(length);
  }
  return {};
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
