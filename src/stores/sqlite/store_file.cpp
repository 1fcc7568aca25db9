#include "stores/sqlite/store_file.h"

#include <sqlite3.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "stores/sqlite/schema.h"

namespace gridfold {
namespace {

constexpr std::string_view kUnfinishedSuffix = "-new";
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kHeaderSize = 100;
constexpr std::size_t kPageSizeOffset = 16;
constexpr std::size_t kApplicationIdOffset = 68;

using Header = std::array<unsigned char, kHeaderSize>;

// One file of a VFS, opened the way SQLite opens its own.
class VfsFile {
 public:
  VfsFile(sqlite3_vfs* vfs, const std::string& path, int flags)
      : name_(sqlite3_create_filename(path.c_str(), "", "", 0, nullptr)),
        storage_(static_cast<std::size_t>(vfs->szOsFile)) {
    int out_flags = 0;
    code_ = vfs->xOpen(vfs, name_, file(), flags, &out_flags);
  }
  ~VfsFile() {
    if (file()->pMethods != nullptr) file()->pMethods->xClose(file());
    sqlite3_free_filename(name_);
  }
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  int open_code() const { return code_; }
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(storage_.data()); }

 private:
  sqlite3_filename name_;
  std::vector<unsigned char> storage_;  // from operator new, so aligned for any type
  int code_ = SQLITE_OK;
};

Error file_error(int code, const std::string& path, std::string_view doing) {
  const bool full = (code & 0xff) == SQLITE_FULL;
  return {ErrorKind::kUnavailable,
          std::string(doing) + " " + path + ": " + sqlite3_errstr(code) + " (SQLite " +
              std::to_string(code) + ")",
          {},
          full ? "free space on its file system and try again"
               : "check the disk, the kernel's log and the rights of the directory"};
}

bool exists(sqlite3_vfs* vfs, const std::string& path) {
  // SQLITE_ACCESS_EXISTS alone takes an empty file for none.
  int found = 0;
  vfs->xAccess(vfs, path.c_str(), SQLITE_ACCESS_EXISTS, &found);
  if (found == 0) vfs->xAccess(vfs, path.c_str(), SQLITE_ACCESS_READWRITE, &found);
  return found != 0;
}

std::uint32_t big_endian(const Header& header, std::size_t offset, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | header[offset + i];
  return value;
}

// SQLite takes what is missing of the last page for zeros.
Result<void> check_whole_pages(const Header& header, sqlite3_int64 size, const std::string& path) {
  const std::uint32_t stored = big_endian(header, kPageSizeOffset, 2);
  const std::uint32_t page_size = stored == 1 ? 65536 : stored;
  if (page_size == 0 || size % page_size != 0)
    return damaged(path, "the file is cut off: " + std::to_string(size) +
                             " bytes are not whole pages of " + std::to_string(page_size));
  return {};
}

Result<void> check_header(const Header& header, const std::string& path) {
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0)
    return damaged(path, "the file does not begin like an SQLite database");
  const std::uint32_t id = big_endian(header, kApplicationIdOffset, 4);
  if (id == kApplicationId) return {};
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", id);
  return Error{ErrorKind::kInvalid,
               "store " + path + ": is an SQLite database of another program (application_id " +
                   text + ", a Gridfold store has 0x47726964)",
               {},
               "give the path of a store, or of a file that does not exist yet"};
}

Result<void> check_complete(sqlite3_vfs* vfs, const std::string& path) {
  VfsFile opened(vfs, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB);
  if (opened.open_code() != SQLITE_OK) return file_error(opened.open_code(), path, "open");
  sqlite3_int64 size = 0;
  if (const int code = opened.file()->pMethods->xFileSize(opened.file(), &size); code != SQLITE_OK)
    return file_error(code, path, "read the size of");
  if (size == 0) return damaged(path, "the file is empty");
  if (size < static_cast<sqlite3_int64>(kHeaderSize))
    return damaged(path, "the file is cut off after " + std::to_string(size) + " bytes");
  Header header{};
  if (const int code = opened.file()->pMethods->xRead(opened.file(), header.data(), kHeaderSize, 0);
      code != SQLITE_OK)
    return file_error(code, path, "read");
  if (auto ours = check_header(header, path); !ours) return ours;
  // With a log, a crash may have left the last page half written; the log has it.
  if (!exists(vfs, path + "-wal")) return check_whole_pages(header, size, path);
  return {};
}

std::string marker_of(const std::string& path) { return path + std::string(kUnfinishedSuffix); }

}  // namespace

Result<StoreFileState> inspect_store_file(const std::string& path, const std::string& vfs_name) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
  if (vfs == nullptr) return internal("no SQLite VFS named \"" + vfs_name + "\"");
  if (exists(vfs, marker_of(path))) return StoreFileState::kUnfinished;
  if (!exists(vfs, path)) {
    if (exists(vfs, path + "-wal"))
      return damaged(path, "the file is missing, but its log " + path + "-wal is there");
    return StoreFileState::kAbsent;
  }
  if (auto checked = check_complete(vfs, path); !checked) return checked.error();
  return StoreFileState::kComplete;
}

Result<void> mark_unfinished(const std::string& path, const std::string& vfs_name) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
  const std::string marker = marker_of(path);
  // The type whose sync also syncs the directory.
  VfsFile created(vfs, marker,
                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_SUPER_JOURNAL);
  if (created.open_code() != SQLITE_OK) return file_error(created.open_code(), marker, "create");
  const sqlite3_io_methods* methods = created.file()->pMethods;
  int code = methods->xWrite(created.file(), "new\n", 4, 0);
  if (code == SQLITE_OK) code = methods->xSync(created.file(), SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) return file_error(code, marker, "write");
  return {};
}

Result<void> mark_finished(const std::string& path, const std::string& vfs_name) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
  const std::string marker = marker_of(path);
  // With a sync of the directory: from here on an empty file is damage.
  if (const int code = vfs->xDelete(vfs, marker.c_str(), 1);
      code != SQLITE_OK && code != SQLITE_IOERR_DELETE_NOENT)
    return file_error(code, marker, "remove");
  return {};
}

}  // namespace gridfold
