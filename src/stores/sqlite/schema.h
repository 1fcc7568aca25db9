// What is in the file: identity, schema version, migrations, checksums.
#pragma once

#include <span>
#include <string_view>

#include "control/store.h"
#include "stores/sqlite/database.h"

namespace gridfold {

// "Grid" in the header's application_id: the file is a Gridfold store.
inline constexpr std::uint32_t kApplicationId = 0x47726964;

// One step of the schema, to `version` (in the header's user_version) from the
// one before it. All its statements and the new version are one transaction.
struct Migration {
  int version = 0;
  std::span<const char* const> statements;
};

// In order of version, from 1. A released step never changes; add another.
std::span<const Migration> migrations();

// Brings the database to the last of `steps`. kInvalid when it is newer. Killed
// anywhere, it leaves the old version or the new one of some step.
Result<void> migrate(Database& database, std::span<const Migration> steps);

// A change's row number: in order of revision, then of position in the commit.
inline constexpr int kPositionBits = 20;
inline constexpr std::int64_t change_id(Revision revision, std::size_t position) {
  return static_cast<std::int64_t>(revision << kPositionBits | position);
}
inline constexpr Revision change_revision(std::int64_t id) {
  return static_cast<Revision>(id) >> kPositionBits;
}
// The largest revision that change_id() can hold.
inline constexpr Revision kLastRevision = (Revision{1} << (63 - kPositionBits)) - 1;

// CRC-32 of a row. SQLite checks the structure of its pages, not what is in a
// row; this finds a flipped bit in a key, a value or a number.
std::int64_t entry_checksum(std::string_view key, std::string_view value, Revision revision);
std::int64_t change_checksum(std::int64_t id, Change::Kind kind, std::string_view key,
                             std::string_view value);

}  // namespace gridfold
