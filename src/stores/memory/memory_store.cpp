#include "stores/memory/memory_store.h"

#include <algorithm>
#include <mutex>

#include "stores/transaction_rules.h"

namespace gridfold {

Result<Store::Snapshot> MemoryStore::load(std::string_view prefix) {
  const std::shared_lock lock(mutex_);
  Snapshot snapshot;
  snapshot.revision = revision_;
  for (auto at = entries_.lower_bound(prefix);
       at != entries_.end() && at->first.starts_with(prefix); ++at)
    snapshot.entries.push_back({at->first, at->second.value, at->second.revision});
  return snapshot;
}

Result<std::vector<KeyValue>> MemoryStore::page(std::string_view prefix, std::string_view after,
                                                std::size_t count) {
  if (auto valid = check_page_size(count); !valid) return valid.error();
  const std::shared_lock lock(mutex_);
  std::vector<KeyValue> entries;
  auto at = after < prefix ? entries_.lower_bound(prefix) : entries_.upper_bound(after);
  for (; at != entries_.end() && at->first.starts_with(prefix) && entries.size() < count; ++at)
    entries.push_back({at->first, at->second.value, at->second.revision});
  return entries;
}

Result<Revision> MemoryStore::commit(const Transaction& transaction) {
  if (auto valid = check_transaction(transaction, options_.limits); !valid) return valid.error();
  const std::lock_guard lock(mutex_);
  if (auto holds = compare(transaction.compare); !holds) return holds.error();
  const Revision next = revision_ + 1;
  bool changed = !transaction.put.empty();
  for (const auto& [key, value] : transaction.put) put(key, value, next);
  for (const auto& key : transaction.erase) changed |= erase(key, next);
  if (!changed) return revision_;
  revision_ = next;
  trim_log();
  return revision_;
}

Result<std::vector<Change>> MemoryStore::changes_after(Revision from, std::size_t count) {
  const std::shared_lock lock(mutex_);
  if (auto kept = check_changes_kept(from, first_kept_, revision_); !kept) return kept.error();
  const auto by_revision = [](Revision revision, const Change& change) {
    return revision < change.entry.revision;
  };
  std::vector<Change> changes;
  for (auto at = std::upper_bound(log_.begin(), log_.end(), from, by_revision); at != log_.end();
       ++at) {
    const bool begins_revision =
        changes.empty() || changes.back().entry.revision != at->entry.revision;
    if (begins_revision && !changes.empty() && changes.size() >= count) break;
    changes.push_back(*at);
  }
  return changes;
}

Result<void> MemoryStore::compare(const std::vector<Compare>& compares) const {
  for (const Compare& wanted : compares) {
    const auto at = entries_.find(wanted.key);
    const Revision found = at == entries_.end() ? 0 : at->second.revision;
    if (found != wanted.expected) return compare_failed(wanted, found);
  }
  return {};
}

void MemoryStore::put(const std::string& key, const std::string& value, Revision revision) {
  Entry& entry = entries_[key];
  entry.value = value;
  entry.revision = revision;
  log(Change::Kind::kPut, key, value, revision);
}

bool MemoryStore::erase(const std::string& key, Revision revision) {
  if (entries_.erase(key) == 0) return false;
  log(Change::Kind::kErase, key, {}, revision);
  return true;
}

void MemoryStore::log(Change::Kind kind, const std::string& key, const std::string& value,
                      Revision revision) {
  if (options_.kept_changes > 0) log_.push_back({kind, {key, value, revision}});
}

void MemoryStore::trim_log() {
  if (options_.kept_changes == 0) first_kept_ = revision_ + 1;
  while (log_.size() > options_.kept_changes) {
    // Drop the oldest revision, unless the bound would cut into it.
    const Revision oldest = log_.front().entry.revision;
    const Revision must_keep = log_[log_.size() - options_.kept_changes].entry.revision;
    if (oldest == must_keep) break;
    while (log_.front().entry.revision == oldest) log_.pop_front();
    first_kept_ = log_.front().entry.revision;
  }
}

}  // namespace gridfold
