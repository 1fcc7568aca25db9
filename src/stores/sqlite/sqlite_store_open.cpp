// Opening a store: what is there, is it ours, is it whole, is it current.
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "stores/sqlite/schema.h"
#include "stores/sqlite/sqlite_store.h"
#include "stores/sqlite/store_file.h"

namespace gridfold {
namespace {

Result<void> check_options(const SqliteStoreOptions& options) {
  if (options.path.empty()) return invalid("a store needs the path of its file");
  if (options.kept_changes < 1)
    return invalid("kept_changes is 0, but the last change carries the store's revision");
  if (options.checkpoint_pages < 1) return invalid("checkpoint_pages is less than 1");
  if (options.limits.operations >= std::size_t{1} << kPositionBits)
    return invalid("limits.operations is " + std::to_string(options.limits.operations) +
                   ", the log can number less than 1048576 changes of one commit");
  return {};
}

// Refuses a schema that the header did not show: version 0, or a newer one.
Result<void> check_version(Database& database) {
  auto version = database.query_integer("PRAGMA user_version", "read the schema version");
  if (!version) return version.error();
  if (*version < 1)
    return Error{ErrorKind::kInvalid,
                 "store " + database.path() + ": user_version is " + std::to_string(*version) +
                     ", no schema of a Gridfold store",
                 {},
                 "restore a backup, or give the path of a store"};
  return {};
}

Result<void> configure(Database& database, const SqliteStoreOptions& options) {
  const std::string doing = "configure";
  auto mode = database.query_text("PRAGMA journal_mode = WAL", doing);
  if (!mode) return mode.error();
  if (*mode != "wal")
    return unavailable("store " + database.path() + ": the log mode stays \"" + *mode +
                       "\" instead of \"wal\"; is it on a network file system?");
  const std::string settings =
      "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;"
      "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;"
      "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864;"
      "PRAGMA wal_autocheckpoint = " +
      std::to_string(options.checkpoint_pages);
  return database.execute(settings.c_str(), doing);
}

// A store holds what users submit: for its owner only, like its log and index,
// which SQLite gives the rights of the file.
Result<void> make_private(const std::string& path) {
  // A VFS that keeps its files elsewhere has none here.
  if (chmod(path.c_str(), 0600) != 0 && errno != ENOENT)
    return from_errno(errno, "set the rights of " + path);
  return {};
}

Result<Database> open_existing(const SqliteStoreOptions& options) {
  auto database = Database::open(options.path, options.vfs, Database::Mode::kExisting);
  if (!database) return database;
  if (sqlite3_db_readonly(database->handle(), "main") == 1)
    return unavailable("store " + options.path +
                       ": the file is not writable (make the file and its directory writable)");
  if (auto checked = check_version(*database); !checked) return checked.error();
  if (auto whole = database->check_integrity(); !whole) return whole.error();
  if (auto configured = configure(*database, options); !configured) return configured.error();
  if (auto current = migrate(*database, migrations()); !current) return current.error();
  return database;
}

// Also finishes a creation that was cut off. Everything is in the file itself,
// synced, before it counts as a store.
Result<Database> create(const SqliteStoreOptions& options) {
  if (auto marked = mark_unfinished(options.path, options.vfs); !marked) return marked.error();
  auto database = Database::open(options.path, options.vfs, Database::Mode::kCreate);
  if (!database) return database;
  if (auto done = make_private(options.path); !done) return done.error();
  if (auto configured = configure(*database, options); !configured) return configured.error();
  if (auto migrated = migrate(*database, migrations()); !migrated) return migrated.error();
  if (auto done = database->execute("PRAGMA wal_checkpoint(TRUNCATE)", "create"); !done)
    return done.error();
  if (auto done = mark_finished(options.path, options.vfs); !done) return done.error();
  return database;
}

Result<void> prepare(Database& database, Statement& statement, const char* sql) {
  auto prepared = database.prepare(sql);
  if (!prepared) return prepared.error();
  statement = std::move(*prepared);
  return {};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteStoreOptions options) {
  if (auto valid = check_options(options); !valid) return valid.error();
  options.path = std::filesystem::absolute(options.path).lexically_normal().string();
  if (auto made = create_private_directory_of(options.path); !made) return made.error();
  auto lock = StoreLock::acquire(options.path + ".lock");
  if (!lock) return lock.error();
  auto writer = open_writer(options);
  if (!writer) return writer.error();
  auto reader = open_reader(options);
  if (!reader) return reader.error();
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(options), std::move(*lock),
                                                      std::move(*writer), std::move(*reader)));
}

Result<SqliteStore::Writer> SqliteStore::open_writer(const SqliteStoreOptions& options) {
  auto state = inspect_store_file(options.path, options.vfs);
  if (!state) return state.error();
  auto database = *state == StoreFileState::kComplete ? open_existing(options) : create(options);
  if (!database) return database.error();
  auto kept = database->query_integer("SELECT count(*) FROM changes", "count the log");
  if (!kept) return kept.error();
  Writer writer{.database = std::move(*database), .changes_kept = *kept};
  const struct {
    Statement& statement;
    const char* sql;
  } wanted[] = {
      {writer.revision, "SELECT max(id) FROM changes"},
      {writer.find, "SELECT revision FROM entries WHERE key = ?1"},
      {writer.put,
       "INSERT INTO entries (key, value, revision, checksum) VALUES (?1, ?2, ?3, ?4)"
       " ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision,"
       " checksum = excluded.checksum"},
      {writer.erase, "DELETE FROM entries WHERE key = ?1"},
      {writer.log,
       "INSERT INTO changes (id, kind, key, value, checksum) VALUES (?1, ?2, ?3, ?4, ?5)"},
      {writer.cut, "SELECT id FROM changes ORDER BY id LIMIT 1 OFFSET ?1"},
      {writer.trim, "DELETE FROM changes WHERE id < ?1"},
  };
  for (const auto& [statement, sql] : wanted)
    if (auto done = prepare(writer.database, statement, sql); !done) return done.error();
  return writer;
}

Result<SqliteStore::Reader> SqliteStore::open_reader(const SqliteStoreOptions& options) {
  auto database = Database::open(options.path, options.vfs, Database::Mode::kExisting);
  if (!database) return database.error();
  if (auto done =
          database->execute("PRAGMA query_only = ON; PRAGMA cell_size_check = ON", "configure");
      !done)
    return done.error();
  Reader reader{.database = std::move(*database)};
  const struct {
    Statement& statement;
    const char* sql;
  } wanted[] = {
      {reader.revision, "SELECT max(id) FROM changes"},
      {reader.entries,
       "SELECT key, value, revision, checksum FROM entries WHERE key >= ?1 ORDER BY key"},
      {reader.first_change, "SELECT min(id) FROM changes"},
      {reader.changes,
       "SELECT id, kind, key, value, checksum FROM changes WHERE id >= ?1 ORDER BY id"},
  };
  for (const auto& [statement, sql] : wanted)
    if (auto done = prepare(reader.database, statement, sql); !done) return done.error();
  return reader;
}

}  // namespace gridfold
