// Migrations: whole steps or nothing, whatever happens in between.
#include "stores/sqlite/schema.h"

#include <gtest/gtest.h>

#include "tests/support/crash_vfs.h"

namespace gridfold {
namespace {

constexpr const char* kFirst[] = {"CREATE TABLE old (a INTEGER) STRICT",
                                  "INSERT INTO old VALUES (1), (2), (3)"};
constexpr const char* kSecond[] = {"CREATE TABLE new (a INTEGER, b TEXT) STRICT",
                                   "INSERT INTO new SELECT a, 'from ' || a FROM old",
                                   "DROP TABLE old"};
constexpr const char* kThird[] = {"CREATE INDEX new_b ON new (b)"};
constexpr const char* kBroken[] = {"DROP TABLE old", "CREATE TABLE old"};
constexpr Migration kSteps[] = {{1, kFirst}, {2, kSecond}, {3, kThird}};

constexpr std::string_view kPath = "/store.db";

Result<Database> open(const CrashDisk& disk) {
  auto database = Database::open(std::string(kPath), disk.vfs(), Database::Mode::kCreate);
  if (!database) return database;
  if (auto done = database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", "open");
      !done)
    return done.error();
  return database;
}

std::int64_t version_of(Database& database) {
  return database.query_integer("PRAGMA user_version", "test").value_or(-1);
}

// The rows where the version says they are, and nowhere else.
void expect_consistent(Database& database) {
  const char* count = "SELECT count(*) FROM sqlite_schema WHERE name IN ('old', 'new', 'new_b')";
  const std::int64_t objects = database.query_integer(count, "test").value_or(-1);
  const std::int64_t version = version_of(database);
  EXPECT_EQ(objects, version == 0 ? 0 : version == 3 ? 2 : 1);
  if (version == 0) return;
  const char* rows = version == 1 ? "SELECT count(*) FROM old" : "SELECT count(*) FROM new";
  EXPECT_EQ(database.query_integer(rows, "test").value_or(-1), 3);
}

TEST(Migrate, BringsAnyVersionToTheLast) {
  for (std::size_t from = 0; from <= 3; ++from) {
    CrashDisk disk;
    auto database = open(disk);
    ASSERT_TRUE(database);
    if (from > 0) {
      ASSERT_TRUE(migrate(*database, std::span(kSteps, from)));
    }
    EXPECT_EQ(version_of(*database), static_cast<std::int64_t>(from));
    ASSERT_TRUE(migrate(*database, kSteps));
    EXPECT_EQ(version_of(*database), 3);
    expect_consistent(*database);
  }
}

TEST(Migrate, AFailedStepLeavesTheOldVersion) {
  CrashDisk disk;
  auto database = open(disk);
  const Migration steps[] = {{1, kFirst}, {2, kBroken}};
  auto failed = migrate(*database, steps);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("migrate to schema 2"), std::string::npos);
  EXPECT_EQ(version_of(*database), 1);
  expect_consistent(*database);
  EXPECT_TRUE(migrate(*database, kSteps));
}

TEST(Migrate, CutOffAnywhereItLeavesAWholeVersion) {
  std::uint64_t operations = 0;
  {
    CrashDisk disk;
    auto database = open(disk);
    ASSERT_TRUE(migrate(*database, kSteps));
    operations = disk.counts().total();
  }
  ASSERT_GT(operations, 20u);
  for (const CrashMode mode : {CrashMode::kBefore, CrashMode::kAfter, CrashMode::kUnsyncedDropped,
                               CrashMode::kTornWrite}) {
    for (std::uint64_t operation = 1; operation <= operations; ++operation) {
      SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + ", operation " +
                   std::to_string(operation));
      CrashDisk disk;
      disk.crash_at({.operation = operation, .mode = mode, .seed = operation});
      if (auto database = open(disk)) {
        auto migrated = migrate(*database, kSteps);
        ASSERT_FALSE(migrated && !disk.crashed());
      }
      disk.restart();
      auto database = open(disk);
      ASSERT_TRUE(database) << database.error().describe();
      expect_consistent(*database);
      ASSERT_TRUE(migrate(*database, kSteps));
      EXPECT_EQ(version_of(*database), 3);
      expect_consistent(*database);
    }
  }
}

TEST(Migrations, AreNumberedFromOneWithoutGaps) {
  int version = 0;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, ++version);
}

// The first schema, as released: a changed step would leave stores in the field
// with another schema than the one this program writes.
TEST(Migrations, AReleasedStepNeverChanges) {
  std::string text;
  for (const char* statement : migrations()[0].statements) text += statement + std::string(";");
  EXPECT_EQ(
      text,
      "PRAGMA application_id = 0x47726964;"
      "CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
      " value BLOB NOT NULL, revision INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;"
      "CREATE TABLE changes (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key TEXT NOT NULL,"
      " value BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;");
}

}  // namespace
}  // namespace gridfold
