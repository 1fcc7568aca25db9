// A disk in memory for SQLite that loses power, fills up and fails at will.
//
//   CrashDisk disk;
//   disk.crash_at({.operation = 17, .mode = CrashMode::kTornWrite, .seed = 5});
//   { auto store = SqliteStore::open({.path = "/x/store.db", .vfs = disk.vfs()}); … }
//   disk.restart();     // what a machine finds after the power came back
//
// Operations are what changes a disk: xWrite, xSync, xTruncate, xDelete; they
// are counted from 1. After the crash every call fails, so that nothing that
// the dying program does can reach the disk.
//
// The model: a write or truncation is certain to survive only once its file was
// synced. A file's name is durable once the file, or a deletion beside it with a
// sync of the directory, was synced; a deletion without that sync may be undone.
// Sectors of 512 bytes land whole or not at all.
//
// Any thread may use a disk; connections to it see each other's locks.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"

namespace gridfold {

enum class CrashMode : std::uint8_t {
  kBefore,           // the operation does not happen; all before it survives
  kAfter,            // it happens and survives, like all before it
  kUnsyncedDropped,  // what was not synced is lost: all of it, or, for odd
                     // seeds, a random half of its sectors
  kTornWrite,        // only the first sectors of the write land; an operation
                     // that is no write does not happen
};

struct CrashPlan {
  std::uint64_t operation = 0;  // 0: never
  CrashMode mode = CrashMode::kBefore;
  std::uint64_t seed = 0;
};

class CrashDisk {
 public:
  CrashDisk();
  // All connections must be closed.
  ~CrashDisk();
  CrashDisk(const CrashDisk&) = delete;
  CrashDisk& operator=(const CrashDisk&) = delete;

  // The name under which SQLite knows this disk.
  const std::string& vfs() const { return name_; }

  struct Counts {
    std::uint64_t writes = 0, syncs = 0, truncates = 0, deletes = 0;
    std::uint64_t total() const { return writes + syncs + truncates + deletes; }
  };
  Counts counts() const;

  // Also starts the count anew.
  void crash_at(CrashPlan plan);
  bool crashed() const;
  // Puts the surviving state in place. All connections must be closed.
  void restart();

  // Faults that pass; 0 ends them.
  void set_capacity(std::uint64_t bytes);  // beyond it: SQLITE_FULL; 0: no bound
  // After `passing` more of its kind, the next `count` fail: with EIO, or as a
  // sync that does not say what of the file reached the disk.
  void fail_writes(std::uint64_t passing, std::uint64_t count);
  void fail_syncs(std::uint64_t passing, std::uint64_t count);
  void fail_reads(std::uint64_t passing, std::uint64_t count);
  void flip_bits_on_read(std::uint64_t one_in, std::uint64_t seed);  // one bit in a read

  // A file as the program sees it, for damage by hand. Creates it when absent.
  std::string& content(const std::string& path);
  std::uint64_t used_bytes() const;
  bool exists(const std::string& path) const;
  void remove(const std::string& path);

 private:
  friend struct CrashVfs;  // SQLite's calls
  friend struct CrashHandle;

  struct Unsynced {
    bool truncates = false;
    std::uint64_t offset = 0;  // or the new size
    std::string bytes;
  };
  struct Fault {
    std::uint64_t passing = 0, count = 0;
    // Whether this operation fails.
    bool strikes() {
      if (count == 0) return false;
      if (passing > 0) return --passing, false;
      return --count, true;
    }
  };
  struct Lock {  // one handle's, of SQLite's five levels
    int level = SQLITE_LOCK_NONE;
  };
  struct File {
    std::string content;        // with everything written
    std::string durable;        // with everything synced
    bool name_durable = false;  // else the file may vanish
    std::vector<Unsynced> unsynced;
    std::vector<Lock*> locks;
    // Shared memory of the write-ahead log's index; gone with the power.
    std::vector<std::unique_ptr<char[]>> shared_regions;
    int shared_locks[SQLITE_SHM_NLOCK] = {};  // -1: exclusive, n: shared by n
  };
  using Files = std::map<std::string, std::shared_ptr<File>>;

  // Counts one operation. True: the power is off and the call must fail.
  bool count(std::uint64_t& counter, File* file, std::uint64_t offset, std::string_view bytes,
             bool& crash_after);
  void crash(File* file, std::uint64_t offset, std::string_view bytes);
  void crash_if(bool due);
  static void write(File& file, std::uint64_t offset, std::string_view bytes);
  static void truncate(File& file, std::uint64_t size);
  void sync(const std::string& path, File& file);
  void remove_name(const std::string& path, bool sync_directory);
  static void land(std::string& content, const Unsynced& change);
  static std::string after_power_loss(const File& file, RandomStream& random);
  std::uint64_t used() const;

  std::string name_;
  std::unique_ptr<sqlite3_vfs> registered_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Files files_;
  Files undeletable_;  // deleted, but the directory was not synced since
  std::map<std::string, std::string> survivors_;
  Counts counts_;
  CrashPlan plan_;
  bool crashed_ = false;
  std::uint64_t capacity_ = 0;
  Fault failing_writes_, failing_syncs_, failing_reads_;
  std::uint64_t flip_one_in_ = 0;
  RandomStream flips_{0, "flips"};
};

}  // namespace gridfold
