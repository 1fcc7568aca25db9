#include "stores/sqlite/sqlite_store.h"

#include <limits>

#include "stores/sqlite/schema.h"
#include "stores/transaction_rules.h"

namespace gridfold {
namespace {

// Old changes are removed this many at a time, so that most commits do not
// touch the old end of the log.
constexpr std::int64_t kTrimLot = 256;

constexpr auto kRead = DatabaseTransaction::Kind::kRead;
constexpr auto kWrite = DatabaseTransaction::Kind::kWrite;

// Resets a statement at the end of its run, whatever way the run ends.
class Run {
 public:
  explicit Run(Statement& statement) : statement_(statement) {}
  ~Run() { statement_.reset(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  Statement* operator->() { return &statement_; }

 private:
  Statement& statement_;
};

// The log is never empty once something was committed, so its last row is the
// store's revision.
Result<Revision> read_revision(Database& database, Statement& statement) {
  Run run(statement);
  const int code = run->step();
  if (code != SQLITE_ROW) return database.error(code, "read the revision");
  return change_revision(run->integer(0));
}

}  // namespace

Result<Store::Snapshot> SqliteStore::load(std::string_view prefix) {
  const std::lock_guard guard(reader_mutex_);
  auto transaction = DatabaseTransaction::begin(reader_.database, kRead, "load");
  if (!transaction) return transaction.error();
  auto revision = read_revision(reader_.database, reader_.revision);
  if (!revision) return revision.error();
  auto entries = read_entries(prefix, {}, std::numeric_limits<std::size_t>::max());
  if (!entries) return entries.error();
  return Snapshot{std::move(*entries), *revision};
}

Result<std::vector<KeyValue>> SqliteStore::page(std::string_view prefix, std::string_view after,
                                                std::size_t count) {
  if (auto valid = check_page_size(count); !valid) return valid.error();
  const std::lock_guard guard(reader_mutex_);
  return read_entries(prefix, after, count);
}

Result<Revision> SqliteStore::commit(const Transaction& transaction) {
  if (auto valid = check_transaction(transaction, options_.limits); !valid) return valid.error();
  const std::lock_guard guard(writer_mutex_);
  auto scope = DatabaseTransaction::begin(writer_.database, kWrite, "commit");
  if (!scope) return scope.error();
  auto revision = current_revision();
  if (!revision) return revision.error();
  if (auto holds = compare(transaction.compare); !holds) return holds.error();
  const Revision next = *revision + 1;
  auto changes = write(transaction, next);
  if (!changes) return changes.error();
  if (*changes == 0) return *revision;
  auto kept = trim(writer_.changes_kept + static_cast<std::int64_t>(*changes));
  if (!kept) return kept.error();
  if (auto done = scope->commit("commit"); !done) return done.error();
  writer_.changes_kept = *kept;
  return next;
}

Result<std::vector<Change>> SqliteStore::changes_after(Revision from, std::size_t count) {
  const std::lock_guard guard(reader_mutex_);
  auto transaction = DatabaseTransaction::begin(reader_.database, kRead, "read changes");
  if (!transaction) return transaction.error();
  auto revision = read_revision(reader_.database, reader_.revision);
  if (!revision) return revision.error();
  // The log is trimmed by whole revisions, so its first one is complete.
  auto first = read_revision(reader_.database, reader_.first_change);
  if (!first) return first.error();
  if (auto kept = check_changes_kept(from, *first, *revision); !kept) return kept.error();
  return read_changes(from, count);
}

Result<Revision> SqliteStore::current_revision() {
  auto revision = read_revision(writer_.database, writer_.revision);
  if (revision && *revision >= kLastRevision)
    return internal("store " + options_.path + ": the last revision is used up");
  return revision;
}

Result<void> SqliteStore::compare(const std::vector<Compare>& compares) {
  for (const Compare& wanted : compares) {
    Run run(writer_.find);
    const int code = run->bind_text(1, wanted.key).step();
    if (code != SQLITE_ROW && code != SQLITE_DONE) return writer_.database.error(code, "compare");
    const Revision found = code == SQLITE_ROW ? static_cast<Revision>(run->integer(0)) : 0;
    if (found != wanted.expected) return compare_failed(wanted, found);
  }
  return {};
}

// How many changes it made; each is in the log under `revision`.
Result<std::size_t> SqliteStore::write(const Transaction& transaction, Revision revision) {
  std::size_t changes = 0;
  for (const auto& [key, value] : transaction.put) {
    if (auto done = put(key, value, revision); !done) return done.error();
    auto logged = log(change_id(revision, changes++), Change::Kind::kPut, key, value);
    if (!logged) return logged.error();
  }
  for (const auto& key : transaction.erase) {
    auto erased = erase(key);
    if (!erased) return erased.error();
    if (!*erased) continue;
    auto logged = log(change_id(revision, changes++), Change::Kind::kErase, key, {});
    if (!logged) return logged.error();
  }
  return changes;
}

Result<void> SqliteStore::put(std::string_view key, std::string_view value, Revision revision) {
  Run run(writer_.put);
  const int code = run->bind_text(1, key)
                       .bind_bytes(2, value)
                       .bind(3, static_cast<std::int64_t>(revision))
                       .bind(4, entry_checksum(key, value, revision))
                       .step();
  if (code != SQLITE_DONE) return writer_.database.error(code, "write an entry");
  return {};
}

Result<bool> SqliteStore::erase(std::string_view key) {
  Run run(writer_.erase);
  const int code = run->bind_text(1, key).step();
  if (code != SQLITE_DONE) return writer_.database.error(code, "erase an entry");
  return writer_.database.rows_changed() > 0;
}

Result<void> SqliteStore::log(std::int64_t id, Change::Kind kind, std::string_view key,
                              std::string_view value) {
  Run run(writer_.log);
  const int code = run->bind(1, id)
                       .bind(2, static_cast<std::int64_t>(kind))
                       .bind_text(3, key)
                       .bind_bytes(4, value)
                       .bind(5, change_checksum(id, kind, key, value))
                       .step();
  if (code != SQLITE_DONE) return writer_.database.error(code, "log a change");
  return {};
}

// Removes whole old revisions but keeps the newest kept_changes. Returns how
// many of `changes_kept` are left.
Result<std::int64_t> SqliteStore::trim(std::int64_t changes_kept) {
  const std::int64_t excess = changes_kept - static_cast<std::int64_t>(options_.kept_changes);
  if (excess < kTrimLot) return changes_kept;
  Run oldest_to_keep(writer_.cut);
  if (const int code = oldest_to_keep->bind(1, excess).step(); code != SQLITE_ROW)
    return writer_.database.error(code, "trim the log");
  const Revision first = change_revision(oldest_to_keep->integer(0));
  Run removal(writer_.trim);
  if (const int code = removal->bind(1, change_id(first, 0)).step(); code != SQLITE_DONE)
    return writer_.database.error(code, "trim the log");
  return changes_kept - writer_.database.rows_changed();
}

Result<std::vector<KeyValue>> SqliteStore::read_entries(std::string_view prefix,
                                                        std::string_view after, std::size_t count) {
  Run run(reader_.entries);
  run->bind_text(1, std::max(prefix, after));
  std::vector<KeyValue> entries;
  int code = SQLITE_DONE;
  while (entries.size() < count && (code = run->step()) == SQLITE_ROW) {
    KeyValue entry{std::string(run->bytes(0)), std::string(run->bytes(1)),
                   static_cast<Revision>(run->integer(2))};
    if (run->integer(3) != entry_checksum(entry.key, entry.value, entry.revision))
      return damaged(options_.path, "the entry of key \"" + entry.key + "\" is damaged");
    if (!entry.key.starts_with(prefix)) return entries;
    if (entry.key != after) entries.push_back(std::move(entry));
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return reader_.database.error(code, "read entries");
  return entries;
}

Result<std::vector<Change>> SqliteStore::read_changes(Revision from, std::size_t count) {
  Run run(reader_.changes);
  run->bind(1, change_id(from + 1, 0));
  std::vector<Change> changes;
  int code = SQLITE_DONE;
  while ((code = run->step()) == SQLITE_ROW) {
    const std::int64_t id = run->integer(0);
    Change change{static_cast<Change::Kind>(run->integer(1)),
                  {std::string(run->bytes(2)), std::string(run->bytes(3)), change_revision(id)}};
    const KeyValue& entry = change.entry;
    if (run->integer(4) != change_checksum(id, change.kind, entry.key, entry.value))
      return damaged(options_.path, "the logged change of revision " +
                                        std::to_string(entry.revision) + " is damaged");
    const bool begins_revision =
        !changes.empty() && changes.back().entry.revision != entry.revision;
    if (begins_revision && changes.size() >= count) return changes;
    changes.push_back(std::move(change));
  }
  if (code != SQLITE_DONE) return reader_.database.error(code, "read changes");
  return changes;
}

}  // namespace gridfold
