#include "stores/sqlite/schema.h"

#include <zlib.h>

namespace gridfold {
namespace {

// Entries are found through the index of their key; the rows themselves are in
// order of arrival, which keeps values of a kilobyte dense.
// Changes are appended at the end and trimmed at the start, by id.
constexpr const char* kVersion1[] = {
    "PRAGMA application_id = 0x47726964",
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
    " value BLOB NOT NULL, revision INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT",
    "CREATE TABLE changes (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key TEXT NOT NULL,"
    " value BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT",
};

constexpr Migration kMigrations[] = {
    {1, kVersion1},
};

Result<void> apply(Database& database, const Migration& step) {
  const std::string doing = "migrate to schema " + std::to_string(step.version);
  auto transaction = DatabaseTransaction::begin(database, DatabaseTransaction::Kind::kWrite, doing);
  if (!transaction) return transaction.error();
  for (const char* statement : step.statements)
    if (auto done = database.execute(statement, doing); !done) return done;
  const std::string version = "PRAGMA user_version = " + std::to_string(step.version);
  if (auto done = database.execute(version.c_str(), doing); !done) return done;
  return transaction->commit(doing);
}

unsigned long add(unsigned long crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib takes a null pointer for "start anew"
  return crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

unsigned long add(unsigned long crc, std::uint64_t number) {
  unsigned char bytes[8];
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(number);
    number >>= 8;
  }
  return crc32_z(crc, bytes, sizeof bytes);
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<void> migrate(Database& database, std::span<const Migration> steps) {
  auto version = database.query_integer("PRAGMA user_version", "read the schema version");
  if (!version) return version.error();
  if (*version > steps.back().version)
    return Error{ErrorKind::kInvalid,
                 "store " + database.path() + ": schema version " + std::to_string(*version) +
                     " is newer than " + std::to_string(steps.back().version) +
                     ", the newest this program knows",
                 {},
                 "use the newer gridfold that wrote it, or restore a backup made before the "
                 "upgrade"};
  for (const Migration& step : steps)
    if (step.version > *version)
      if (auto done = apply(database, step); !done) return done;
  return {};
}

std::int64_t entry_checksum(std::string_view key, std::string_view value, Revision revision) {
  // The key's length separates key from value.
  unsigned long crc = add(add(0, revision), static_cast<std::uint64_t>(key.size()));
  return static_cast<std::int64_t>(add(add(crc, key), value));
}

std::int64_t change_checksum(std::int64_t id, Change::Kind kind, std::string_view key,
                             std::string_view value) {
  unsigned long crc = add(add(0, static_cast<std::uint64_t>(id)),
                          static_cast<std::uint64_t>(kind) << 32 | key.size());
  return static_cast<std::int64_t>(add(add(crc, key), value));
}

}  // namespace gridfold
