// What a user meets on the way to an open store.
#include "stores/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace gridfold {
namespace {

class SqliteStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open({.path = path_});
    EXPECT_TRUE(store) << store.error().describe();
    return store ? std::move(*store) : nullptr;
  }

  // The error, after a look that it is printable and names the file.
  Error open_error() {
    auto store = SqliteStore::open({.path = path_});
    EXPECT_FALSE(store);
    if (store) return internal("opened");
    EXPECT_NE(store.error().message.find(path_), std::string::npos) << store.error().describe();
    EXPECT_FALSE(store.error().hint.empty()) << store.error().describe();
    return store.error();
  }

  void fill(int entries) {
    auto store = open();
    for (int i = 0; i < entries; ++i)
      ASSERT_TRUE(store->commit({.put = {{"live/" + std::to_string(i), std::string(500, 'v')}}}));
  }

  std::string read_file() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write_file(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  void run_sql(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  static mode_t rights(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "a/b/store.db";
};

TEST_F(SqliteStoreTest, CreatesEverythingForItsOwnerOnly) {
  const mode_t before = umask(0);
  auto store = open();
  ASSERT_TRUE(store->commit({.put = {{"a", "1"}}}));
  umask(before);
  EXPECT_EQ(rights(directory_ / "a"), 0700u);
  EXPECT_EQ(rights(directory_ / "a/b"), 0700u);
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) EXPECT_EQ(rights(path_ + suffix), 0600u);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-new"));
}

TEST_F(SqliteStoreTest, ASecondOpenIsRefusedAndNamesTheHolder) {
  auto store = open();
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_NE(error.message.find("process " + std::to_string(getpid()) + " ("), std::string::npos)
      << error.describe();
  store.reset();
  EXPECT_TRUE(open());
}

TEST_F(SqliteStoreTest, AnEmptyFileIsDamage) {
  fill(1);
  write_file("");
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
  EXPECT_NE(error.message.find("empty"), std::string::npos);
  EXPECT_TRUE(read_file() == "");
}

TEST_F(SqliteStoreTest, ACutHeaderIsDamage) {
  fill(1);
  const std::string cut = read_file().substr(0, 60);
  write_file(cut);
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
  EXPECT_NE(error.message.find("60 bytes"), std::string::npos);
  EXPECT_TRUE(read_file() == cut);
}

TEST_F(SqliteStoreTest, AFileThatIsNotSqliteIsDamage) {
  fill(1);
  const std::string text(5000, 'x');
  write_file(text);
  EXPECT_EQ(open_error().kind, ErrorKind::kCorrupt);
  EXPECT_TRUE(read_file() == text);
}

TEST_F(SqliteStoreTest, ATruncatedFileIsDamage) {
  fill(100);
  const std::string whole = read_file();
  for (const std::size_t size :
       {std::size_t{4096}, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    write_file(whole.substr(0, size));
    EXPECT_EQ(open_error().kind, ErrorKind::kCorrupt) << size;
    EXPECT_TRUE(read_file() == whole.substr(0, size)) << "the damaged file was changed";
  }
}

TEST_F(SqliteStoreTest, ADamagedPageIsDamage) {
  fill(100);
  const std::string whole = read_file();
  for (std::size_t page = 1; page < 6; ++page) {
    std::string broken = whole;
    broken.replace(page * 4096, 100, std::string(100, '\x5A'));
    write_file(broken);
    const Error error = open_error();
    EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
    EXPECT_TRUE(read_file() == broken) << "the damaged file was changed";
  }
  write_file(whole);
  EXPECT_EQ(open()->load("live/")->entries.size(), 100u);
}

TEST_F(SqliteStoreTest, AMissingFileBesideItsLogIsDamage) {
  fill(1);
  std::filesystem::rename(path_, path_ + ".moved");
  std::ofstream(path_ + "-wal") << "log";
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
  EXPECT_TRUE(std::filesystem::exists(path_ + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqliteStoreTest, ADamagedValueIsFoundWhenItIsRead) {
  fill(3);
  std::string bytes = read_file();
  const std::size_t first = bytes.find(std::string(400, 'v'));
  bytes[first + 100] = 'w';
  write_file(bytes);
  auto store = open();  // the structure is whole
  auto loaded = store->load("live/");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(loaded.error().message.find("\"live/"), std::string::npos);
}

TEST_F(SqliteStoreTest, RefusesAnotherProgramsDatabase) {
  fill(1);
  run_sql("PRAGMA application_id = 1234");
  const std::string bytes = read_file();
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_NE(error.message.find("0x000004d2"), std::string::npos) << error.describe();
  EXPECT_TRUE(read_file() == bytes);
}

TEST_F(SqliteStoreTest, RefusesANewerSchema) {
  fill(1);
  run_sql("PRAGMA user_version = 1000");
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_NE(error.message.find("1000 is newer than"), std::string::npos) << error.describe();
}

TEST_F(SqliteStoreTest, RefusesASchemaVersionThatIsNone) {
  fill(1);
  for (const int version : {0, -3}) {
    run_sql("PRAGMA user_version = " + std::to_string(version));
    EXPECT_EQ(open_error().kind, ErrorKind::kInvalid);
  }
}

TEST_F(SqliteStoreTest, ASchemaWithoutItsTableIsDamage) {
  fill(1);
  run_sql("DROP TABLE changes");
  const Error error = open_error();
  EXPECT_EQ(error.kind, ErrorKind::kCorrupt);
  EXPECT_NE(error.message.find("changes"), std::string::npos) << error.describe();
}

TEST_F(SqliteStoreTest, RefusesOptionsOutOfRange) {
  const SqliteStoreOptions wrong[] = {
      {},
      {.path = path_, .kept_changes = 0},
      {.path = path_, .checkpoint_pages = 0},
      {.path = path_, .limits = {.operations = 1 << 20, .bytes = 1}}};
  for (const auto& options : wrong)
    EXPECT_EQ(SqliteStore::open(options).error().kind, ErrorKind::kInvalid);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a"));
}

TEST_F(SqliteStoreTest, APlaceThatCannotBeWrittenIsNamed) {
  std::ofstream(directory_ / "file") << "not a directory";
  path_ = directory_ / "file/store.db";
  auto store = SqliteStore::open({.path = path_});
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("file"), std::string::npos);
}

TEST_F(SqliteStoreTest, ReadersSeeWholeCommitsWhileAWriterCommits) {
  auto store = open();
  ASSERT_TRUE(store->commit({.put = {{"a", "0"}, {"b", "0"}}}));
  std::thread reader([&] {
    for (int i = 0; i < 500; ++i) {
      auto snapshot = store->load("");
      ASSERT_TRUE(snapshot) << snapshot.error().describe();
      ASSERT_EQ(snapshot->entries[0].value, snapshot->entries[1].value);
      ASSERT_EQ(snapshot->entries[0].revision, snapshot->revision);
    }
  });
  for (int i = 1; i <= 200; ++i) {
    const std::string value = std::to_string(i);
    ASSERT_TRUE(store->commit({.put = {{"a", value}, {"b", value}}}));
  }
  reader.join();
}

TEST_F(SqliteStoreTest, ABackupUnderLoadIsOneRevision) {
  auto store = open();
  const auto commit_pair = [&](int i) {
    const std::string value = std::to_string(i);
    return store->commit(
        {.put = {{"a", value}, {"b", value}, {"n/" + value, std::string(2000, 'x')}}});
  };
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(commit_pair(i));
  std::thread writer([&] {
    for (int i = 100; i < 300; ++i) ASSERT_TRUE(commit_pair(i));
  });
  const std::string target = directory_ / "backups/today.db";
  auto done = store->backup(target);
  writer.join();
  ASSERT_TRUE(done) << done.error().describe();
  EXPECT_EQ(rights(target), 0600u);
  for (const char* suffix : {".partial", ".partial-wal", ".partial-shm", "-wal", "-shm"})
    EXPECT_FALSE(std::filesystem::exists(target + suffix)) << suffix;

  auto restored = SqliteStore::open({.path = target});
  ASSERT_TRUE(restored) << restored.error().describe();
  auto snapshot = (*restored)->load("");
  ASSERT_TRUE(snapshot);
  EXPECT_GE(snapshot->revision, 100u);
  EXPECT_EQ(snapshot->entries.size(), snapshot->revision + 2);
  EXPECT_EQ(snapshot->entries[0].value, snapshot->entries[1].value);
  EXPECT_EQ(*(*restored)->commit({.put = {{"a", "next"}}}), snapshot->revision + 1);
}

TEST_F(SqliteStoreTest, ABackupNeverReplacesAFile) {
  auto store = open();
  const std::string target = directory_ / "taken";
  std::ofstream(target) << "precious";
  auto refused = store->backup(target);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(std::filesystem::file_size(target), 8u);
}

}  // namespace
}  // namespace gridfold
