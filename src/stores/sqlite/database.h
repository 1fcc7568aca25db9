// One connection to an SQLite database, its statements, and its errors as
// ours. Nothing here knows what a store is.
//
// A Database and its statements belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gridfold {

class Database;

// A prepared statement. Bound text and bytes are lent: they must live until
// the run that uses them ends.
class Statement {
 public:
  Statement() = default;

  Statement& bind(int index, std::int64_t value);
  Statement& bind_text(int index, std::string_view text);
  Statement& bind_bytes(int index, std::string_view bytes);

  // SQLITE_ROW, SQLITE_DONE or an error code; see Database::error().
  int step();
  // Makes it ready for the next run; ends a read that was not stepped to its end.
  void reset();

  std::int64_t integer(int column) const;
  // Lent until the next step or reset.
  std::string_view bytes(int column) const;

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Database {
 public:
  enum class Mode { kExisting, kCreate };
  // `vfs`: the name of a registered SQLite VFS; empty for the default one.
  static Result<Database> open(const std::string& path, const std::string& vfs, Mode mode);

  // Runs one or several statements and drops their rows.
  Result<void> execute(const char* sql, std::string_view doing);
  // The first column of the first row.
  Result<std::int64_t> query_integer(const char* sql, std::string_view doing);
  Result<std::string> query_text(const char* sql, std::string_view doing);
  // kCorrupt when a table or column that it names is not there.
  Result<Statement> prepare(const char* sql);

  // The last call's trouble: path, what was being done, SQLite's words, the
  // name of the code, errno where there is one, and the next step.
  Error error(int code, std::string_view doing) const;

  // kCorrupt unless every page, row and index entry is where it belongs.
  Result<void> check_integrity();

  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  int rows_changed() const { return sqlite3_changes(handle_.get()); }
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Closer> handle_;
  std::string path_;
};

// A transaction of `database` that is rolled back unless commit() succeeds.
class DatabaseTransaction {
 public:
  enum class Kind { kRead, kWrite };
  static Result<DatabaseTransaction> begin(Database& database, Kind kind, std::string_view doing);
  DatabaseTransaction(DatabaseTransaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)) {}
  DatabaseTransaction& operator=(DatabaseTransaction&&) = delete;
  ~DatabaseTransaction();

  Result<void> commit(std::string_view doing);

 private:
  explicit DatabaseTransaction(Database& database) : database_(&database) {}
  Database* database_;
};

// "store /path: what" with the next step for damage.
Error damaged(const std::string& path, std::string_view what);

}  // namespace gridfold
