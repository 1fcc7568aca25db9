#include "stores/sqlite/database.h"

#include <cstring>

namespace gridfold {
namespace {

constexpr std::string_view kDamageHint =
    "nothing was changed; copy the whole directory aside, then restore a backup: docs/store.md, "
    "\"Damage\"";

// Another program that reads the file must not fail a commit at once.
constexpr int kBusyTimeoutMilliseconds = 1000;

struct Meaning {
  ErrorKind kind;
  std::string_view hint;
};

Meaning meaning_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorKind::kUnavailable,
              "the store is unchanged; free space on its file system, then commits succeed again"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {ErrorKind::kUnavailable,
              "the store is unchanged; make its directory, file and file system writable"};
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_CORRUPTFS || code == SQLITE_IOERR_DATA)
        return {ErrorKind::kCorrupt, kDamageHint};
      return {ErrorKind::kUnavailable,
              "the store is unchanged; check the disk and the kernel's log"};
    case SQLITE_CANTOPEN:
      return {ErrorKind::kUnavailable, "check that the directory is there, writable and not full"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {ErrorKind::kUnavailable, "another program holds the file; end it and try again"};
    case SQLITE_NOMEM: return {ErrorKind::kUnavailable, "free memory and try again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return {ErrorKind::kCorrupt, kDamageHint};
    case SQLITE_TOOBIG: return {ErrorKind::kLimit, "split it"};
    default: return {ErrorKind::kInternal, {}};
  }
}

// "SQLITE_FULL" and its like for the codes a disk can cause; the number stands
// beside it for the rest.
std::string_view name_of(int code) {
  switch (code & 0xff) {
    case SQLITE_ERROR: return "SQLITE_ERROR";
    case SQLITE_PERM: return "SQLITE_PERM";
    case SQLITE_BUSY: return "SQLITE_BUSY";
    case SQLITE_LOCKED: return "SQLITE_LOCKED";
    case SQLITE_NOMEM: return "SQLITE_NOMEM";
    case SQLITE_READONLY: return "SQLITE_READONLY";
    case SQLITE_IOERR: return code == SQLITE_IOERR_FSYNC ? "SQLITE_IOERR_FSYNC" : "SQLITE_IOERR";
    case SQLITE_CORRUPT: return "SQLITE_CORRUPT";
    case SQLITE_FULL: return "SQLITE_FULL";
    case SQLITE_CANTOPEN: return "SQLITE_CANTOPEN";
    case SQLITE_PROTOCOL: return "SQLITE_PROTOCOL";
    case SQLITE_CONSTRAINT: return "SQLITE_CONSTRAINT";
    case SQLITE_NOTADB: return "SQLITE_NOTADB";
    default: return "SQLite";
  }
}

}  // namespace

Error damaged(const std::string& path, std::string_view what) {
  return {ErrorKind::kCorrupt,
          "store " + path + ": " + std::string(what),
          {},
          std::string(kDamageHint)};
}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_bytes(int index, std::string_view bytes) {
  // A null pointer would bind NULL instead of no bytes.
  sqlite3_bind_blob64(statement_.get(), index, bytes.data() ? bytes.data() : "", bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

int Statement::step() { return sqlite3_step(statement_.get()); }

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string_view{}
             : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

Result<Database> Database::open(const std::string& path, const std::string& vfs, Mode mode) {
  sqlite3* handle = nullptr;
  // No mutex inside SQLite: whoever owns the connection serialises its use.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database(handle, path);
  if (code != SQLITE_OK) return database.error(code, "open");
  sqlite3_busy_timeout(handle, kBusyTimeoutMilliseconds);
  return database;
}

Result<void> Database::execute(const char* sql, std::string_view doing) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code, doing);
  return {};
}

Result<std::int64_t> Database::query_integer(const char* sql, std::string_view doing) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  if (const int code = statement->step(); code != SQLITE_ROW) return error(code, doing);
  return statement->integer(0);
}

Result<std::string> Database::query_text(const char* sql, std::string_view doing) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  if (const int code = statement->step(); code != SQLITE_ROW) return error(code, doing);
  return std::string(statement->bytes(0));
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code == SQLITE_OK) return Statement(statement);
  // The SQL is ours and valid, so the schema is not what the version says.
  if (code == SQLITE_ERROR)
    return damaged(path_, std::string("the schema is damaged: ") + sqlite3_errmsg(handle_.get()));
  return error(code, "read the schema");
}

Error Database::error(int code, std::string_view doing) const {
  const auto [kind, hint] = meaning_of(code);
  std::string message = "store " + path_ + ": " + std::string(doing) + ": ";
  message += handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  message += " (" + std::string(name_of(code)) + " " + std::to_string(code);
  const int system_error = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  const bool from_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN ||
                           (code & 0xff) == SQLITE_FULL;
  if (from_system && system_error != 0) message += std::string(", ") + std::strerror(system_error);
  message += ")";
  return {kind, std::move(message), {}, std::string(hint)};
}

Result<void> Database::check_integrity() {
  // integrity_check is quick_check plus "every row has its index entry":
  // without that a key with a flipped bit would be missing from a load unseen.
  auto verdict = query_text("PRAGMA integrity_check(1)", "check");
  if (!verdict) return verdict.error();
  if (*verdict != "ok") return damaged(path_, "the file is damaged: " + *verdict);
  return {};
}

Result<DatabaseTransaction> DatabaseTransaction::begin(Database& database, Kind kind,
                                                       std::string_view doing) {
  const char* sql = kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN";
  if (auto begun = database.execute(sql, doing); !begun) return begun.error();
  return DatabaseTransaction(database);
}

DatabaseTransaction::~DatabaseTransaction() {
  // SQLite itself has rolled back after some errors. A ROLLBACK can only fail
  // where there is nothing left to roll back.
  if (database_ != nullptr && database_->in_transaction())
    sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> DatabaseTransaction::commit(std::string_view doing) {
  return database_->execute("COMMIT", doing);
}

}  // namespace gridfold
