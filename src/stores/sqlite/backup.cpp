// Online backup: a copy of one revision, checked and synced.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "stores/sqlite/sqlite_store.h"

namespace gridfold {
namespace {

// In one step, so that the copy is of one revision and commits cannot make it
// start again; the log grows until it is done.
Result<void> copy_pages(Database& source, Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
  if (backup == nullptr) return target.error(sqlite3_errcode(target.handle()), "back up");
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return target.error(code, "back up");
  return {};
}

Result<void> sync_path(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return from_errno(errno, "open " + path);
  const int failed = fsync(descriptor);
  const int error_number = errno;
  close(descriptor);
  if (failed != 0) return from_errno(error_number, "sync " + path);
  return {};
}

Result<void> write_copy(const std::string& source_path, const std::string& vfs,
                        const std::string& copy_path) {
  auto source = Database::open(source_path, vfs, Database::Mode::kExisting);
  if (!source) return source.error();
  auto copy = Database::open(copy_path, {}, Database::Mode::kCreate);
  if (!copy) return copy.error();
  if (chmod(copy_path.c_str(), 0600) != 0)
    return from_errno(errno, "set the rights of " + copy_path);
  if (auto copied = copy_pages(*source, *copy); !copied) return copied;
  return copy->check_integrity();
}

}  // namespace

Result<void> SqliteStore::backup(const std::string& target) {
  const std::string path = std::filesystem::absolute(target).lexically_normal().string();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return Error{ErrorKind::kConflict,
                 "backup " + path + ": a file is there already",
                 {},
                 "give the path of a new file"};
  if (auto made = create_private_directory_of(path); !made) return made;
  // Left over from a backup that was cut off.
  const std::string partial = path + ".partial";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    std::filesystem::remove(partial + suffix, ignored);
  if (auto written = write_copy(options_.path, options_.vfs, partial); !written) {
    std::filesystem::remove(partial, ignored);
    return written.error().with_context("backup " + path);
  }
  if (auto synced = sync_path(partial); !synced) return synced;
  if (std::rename(partial.c_str(), path.c_str()) != 0)
    return from_errno(errno, "rename " + partial + " to " + path);
  return sync_path(std::filesystem::path(path).parent_path().string());
}

}  // namespace gridfold
