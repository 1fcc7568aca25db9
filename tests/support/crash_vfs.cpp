#include "tests/support/crash_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace gridfold {
namespace {

constexpr std::uint64_t kSector = 512;
// What SQLite's own VFS says of a disk on Linux.
constexpr int kReportedSector = 4096;

void place(std::string& content, std::uint64_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size(), '\0');
  content.replace(offset, bytes.size(), bytes);
}

}  // namespace

// One open file, as SQLite lays it out: its methods first.
struct CrashHandle {
  sqlite3_file base;
  CrashDisk* disk;
  std::shared_ptr<CrashDisk::File>* file;  // owned; SQLite's memory has no destructor
  CrashDisk::Lock* lock;                   // owned
  bool delete_on_close;
  std::string* path;  // owned
};

// ---- the disk -------------------------------------------------------------

CrashDisk::Counts CrashDisk::counts() const {
  const std::lock_guard guard(mutex_);
  return counts_;
}

void CrashDisk::crash_at(CrashPlan plan) {
  const std::lock_guard guard(mutex_);
  plan_ = plan;
  counts_ = {};
}

bool CrashDisk::crashed() const {
  const std::lock_guard guard(mutex_);
  return crashed_;
}

void CrashDisk::restart() {
  const std::lock_guard guard(mutex_);
  if (!crashed_) return;
  files_.clear();
  undeletable_.clear();
  for (auto& [path, content] : survivors_) {
    auto file = std::make_shared<File>();
    file->content = file->durable = content;
    file->name_durable = true;
    files_.emplace(path, std::move(file));
  }
  survivors_.clear();
  plan_ = {};
  counts_ = {};
  crashed_ = false;
}

void CrashDisk::set_capacity(std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  capacity_ = bytes;
}
void CrashDisk::fail_writes(std::uint64_t passing, std::uint64_t count) {
  const std::lock_guard guard(mutex_);
  failing_writes_ = {passing, count};
}
void CrashDisk::fail_syncs(std::uint64_t passing, std::uint64_t count) {
  const std::lock_guard guard(mutex_);
  failing_syncs_ = {passing, count};
}
void CrashDisk::fail_reads(std::uint64_t passing, std::uint64_t count) {
  const std::lock_guard guard(mutex_);
  failing_reads_ = {passing, count};
}
void CrashDisk::flip_bits_on_read(std::uint64_t one_in, std::uint64_t seed) {
  const std::lock_guard guard(mutex_);
  flip_one_in_ = one_in;
  flips_ = RandomStream(seed, "flips");
}

std::string& CrashDisk::content(const std::string& path) {
  const std::lock_guard guard(mutex_);
  auto& file = files_[path];
  if (!file) file = std::make_shared<File>();
  return file->content;
}

std::uint64_t CrashDisk::used_bytes() const {
  const std::lock_guard guard(mutex_);
  return used();
}

bool CrashDisk::exists(const std::string& path) const {
  const std::lock_guard guard(mutex_);
  return files_.contains(path);
}

void CrashDisk::remove(const std::string& path) {
  const std::lock_guard guard(mutex_);
  files_.erase(path);
  undeletable_.erase(path);
}

std::uint64_t CrashDisk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, file] : files_) bytes += file->content.size();
  return bytes;
}

bool CrashDisk::count(std::uint64_t& counter, File* file, std::uint64_t offset,
                      std::string_view bytes, bool& crash_after) {
  crash_after = false;
  if (crashed_) return true;
  ++counter;
  if (counts_.total() != plan_.operation) return false;
  if (plan_.mode == CrashMode::kAfter) {
    crash_after = true;
    return false;
  }
  crash(file, offset, bytes);
  return true;
}

void CrashDisk::crash_if(bool due) {
  if (due) crash(nullptr, 0, {});
}

void CrashDisk::crash(File* file, std::uint64_t offset, std::string_view bytes) {
  RandomStream random(plan_.seed, "crash");
  if (plan_.mode == CrashMode::kTornWrite && file != nullptr && !bytes.empty()) {
    // The cut is at a sector of the disk, not of the write.
    const std::uint64_t first = offset / kSector;
    const std::uint64_t last = (offset + bytes.size() - 1) / kSector;
    const std::uint64_t cut = (first + random.below(last - first + 1)) * kSector;
    if (cut > offset) write(*file, offset, bytes.substr(0, cut - offset));
  }
  for (const auto& [path, each] : files_) {
    if (plan_.mode != CrashMode::kUnsyncedDropped) {
      survivors_[path] = each->content;
    } else if (each->name_durable || (plan_.seed % 2 == 1 && random.chance(1, 2))) {
      survivors_[path] = plan_.seed % 2 == 1 ? after_power_loss(*each, random) : each->durable;
    }
  }
  for (const auto& [path, deleted] : undeletable_)
    if (plan_.mode == CrashMode::kUnsyncedDropped && !survivors_.contains(path) &&
        (plan_.seed % 2 == 0 || random.chance(1, 2)))
      survivors_[path] = deleted->durable;
  crashed_ = true;
}

std::string CrashDisk::after_power_loss(const File& file, RandomStream& random) {
  std::string content = file.durable;
  for (const Unsynced& change : file.unsynced) {
    if (change.truncates) {
      if (random.chance(1, 2)) land(content, change);
      continue;
    }
    for (std::uint64_t at = 0; at < change.bytes.size();) {
      const std::uint64_t sector_end = ((change.offset + at) / kSector + 1) * kSector;
      const std::uint64_t size =
          std::min<std::uint64_t>(change.bytes.size() - at, sector_end - change.offset - at);
      if (random.chance(1, 2))
        place(content, change.offset + at, std::string_view(change.bytes).substr(at, size));
      at += size;
    }
  }
  return content;
}

void CrashDisk::land(std::string& content, const Unsynced& change) {
  if (change.truncates)
    content.resize(change.offset, '\0');
  else
    place(content, change.offset, change.bytes);
}

void CrashDisk::write(File& file, std::uint64_t offset, std::string_view bytes) {
  place(file.content, offset, bytes);
  file.unsynced.push_back({false, offset, std::string(bytes)});
}

void CrashDisk::truncate(File& file, std::uint64_t size) {
  file.content.resize(size, '\0');
  file.unsynced.push_back({true, size, {}});
}

void CrashDisk::sync(const std::string& path, File& file) {
  for (const Unsynced& change : file.unsynced) land(file.durable, change);
  file.unsynced.clear();
  if (!file.name_durable) undeletable_.erase(path);
  file.name_durable = true;
}

void CrashDisk::remove_name(const std::string& path, bool sync_directory) {
  const auto found = files_.find(path);
  if (found->second->name_durable) undeletable_[path] = found->second;
  files_.erase(found);
  if (!sync_directory) return;
  undeletable_.clear();
  for (const auto& [name, file] : files_) file->name_durable = true;
}

// ---- SQLite's calls -------------------------------------------------------

struct CrashVfs {
  static CrashHandle& handle(sqlite3_file* file) { return *reinterpret_cast<CrashHandle*>(file); }
  static CrashDisk& disk(sqlite3_vfs* vfs) { return *static_cast<CrashDisk*>(vfs->pAppData); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                  int* out_flags) {
    CrashDisk& on = disk(vfs);
    const std::lock_guard guard(on.mutex_);
    file->pMethods = nullptr;
    if (on.crashed_) return SQLITE_IOERR;
    const std::string path = name == nullptr ? "" : name;
    auto found = on.files_.find(path);
    if (found == on.files_.end() && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    auto node = found != on.files_.end() ? found->second : std::make_shared<CrashDisk::File>();
    if (!path.empty()) on.files_[path] = node;
    CrashHandle& opened = handle(file);
    opened.disk = &on;
    opened.lock = new CrashDisk::Lock;
    node->locks.push_back(opened.lock);
    opened.file = new std::shared_ptr<CrashDisk::File>(std::move(node));
    opened.path = new std::string(path);
    opened.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    file->pMethods = &kMethods;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* file) {
    CrashHandle& closed = handle(file);
    const std::lock_guard guard(closed.disk->mutex_);
    std::erase((*closed.file)->locks, closed.lock);
    if (closed.delete_on_close && !closed.disk->crashed_) closed.disk->files_.erase(*closed.path);
    delete closed.lock;
    delete closed.file;
    delete closed.path;
    file->pMethods = nullptr;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* out, int amount, sqlite3_int64 at) {
    CrashHandle& from = handle(file);
    const std::lock_guard guard(from.disk->mutex_);
    CrashDisk& on = *from.disk;
    if (on.crashed_) return SQLITE_IOERR_READ;
    if (on.failing_reads_.strikes()) return SQLITE_IOERR_READ;
    const std::string& content = (*from.file)->content;
    const auto offset = static_cast<std::uint64_t>(at);
    const auto wanted = static_cast<std::uint64_t>(amount);
    const std::uint64_t there =
        offset < content.size() ? std::min(wanted, content.size() - offset) : 0;
    std::memcpy(out, content.data() + std::min<std::uint64_t>(offset, content.size()), there);
    std::memset(static_cast<char*>(out) + there, 0, wanted - there);
    if (on.flip_one_in_ > 0 && there > 0 && on.flips_.chance(1, on.flip_one_in_)) {
      const std::uint64_t bit = on.flips_.below(there * 8);
      static_cast<unsigned char*>(out)[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
    }
    return there < wanted ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
  }

  static int write(sqlite3_file* file, const void* data, int amount, sqlite3_int64 at) {
    CrashHandle& to = handle(file);
    const std::lock_guard guard(to.disk->mutex_);
    CrashDisk& on = *to.disk;
    CrashDisk::File& node = **to.file;
    std::string_view bytes(static_cast<const char*>(data), static_cast<std::size_t>(amount));
    const auto offset = static_cast<std::uint64_t>(at);
    bool crash_after = false;
    if (on.count(on.counts_.writes, &node, offset, bytes, crash_after)) return SQLITE_IOERR_WRITE;
    if (on.failing_writes_.strikes()) return SQLITE_IOERR_WRITE;
    const std::uint64_t end = offset + bytes.size();
    const std::uint64_t growth = end > node.content.size() ? end - node.content.size() : 0;
    const bool full = on.capacity_ > 0 && growth > 0 && on.used() + growth > on.capacity_;
    // A full disk takes what fits, as write(2) does.
    if (full) {
      const std::uint64_t room = on.capacity_ - std::min(on.capacity_, on.used());
      bytes = bytes.substr(
          0, bytes.size() - std::min<std::uint64_t>(growth - std::min(room, growth), bytes.size()));
    }
    if (!bytes.empty()) CrashDisk::write(node, offset, bytes);
    on.crash_if(crash_after);
    return full ? SQLITE_FULL : crash_after ? SQLITE_IOERR_WRITE : SQLITE_OK;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    bool crash_after = false;
    if (of.disk->count(of.disk->counts_.truncates, nullptr, 0, {}, crash_after))
      return SQLITE_IOERR_TRUNCATE;
    CrashDisk::truncate(**of.file, static_cast<std::uint64_t>(size));
    of.disk->crash_if(crash_after);
    return crash_after ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
  }

  static int sync(sqlite3_file* file, int) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    bool crash_after = false;
    if (of.disk->count(of.disk->counts_.syncs, nullptr, 0, {}, crash_after))
      return SQLITE_IOERR_FSYNC;
    if (of.disk->failing_syncs_.strikes()) return SQLITE_IOERR_FSYNC;
    of.disk->sync(*of.path, **of.file);
    of.disk->crash_if(crash_after);
    return crash_after ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    if (of.disk->crashed_) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>((*of.file)->content.size());
    return SQLITE_OK;
  }

  // The highest level that another handle of the file holds.
  static int held_by_others(const CrashHandle& mine) {
    int highest = SQLITE_LOCK_NONE;
    for (const CrashDisk::Lock* lock : (*mine.file)->locks)
      if (lock != mine.lock) highest = std::max(highest, lock->level);
    return highest;
  }

  static int lock(sqlite3_file* file, int level) {
    CrashHandle& mine = handle(file);
    const std::lock_guard guard(mine.disk->mutex_);
    if (mine.lock->level >= level) return SQLITE_OK;
    const int others = held_by_others(mine);
    if (level == SQLITE_LOCK_SHARED && others >= SQLITE_LOCK_PENDING) return SQLITE_BUSY;
    if (level == SQLITE_LOCK_RESERVED && others >= SQLITE_LOCK_RESERVED) return SQLITE_BUSY;
    if (level == SQLITE_LOCK_EXCLUSIVE && others >= SQLITE_LOCK_SHARED) return SQLITE_BUSY;
    mine.lock->level = level;
    return SQLITE_OK;
  }

  static int unlock(sqlite3_file* file, int level) {
    CrashHandle& mine = handle(file);
    const std::lock_guard guard(mine.disk->mutex_);
    mine.lock->level = std::min(mine.lock->level, level);
    return SQLITE_OK;
  }

  static int check_reserved(sqlite3_file* file, int* reserved) {
    CrashHandle& mine = handle(file);
    const std::lock_guard guard(mine.disk->mutex_);
    *reserved = std::max(mine.lock->level, held_by_others(mine)) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
  }

  static int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return kReportedSector; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int shared_map(sqlite3_file* file, int region, int size, int extend,
                        void volatile** mapped) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    *mapped = nullptr;
    if (of.disk->crashed_) return SQLITE_IOERR_SHMMAP;
    auto& regions = (*of.file)->shared_regions;
    const auto index = static_cast<std::size_t>(region);
    if (index >= regions.size() && extend == 0) return SQLITE_OK;
    while (index >= regions.size())
      regions.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
    *mapped = regions[index].get();
    return SQLITE_OK;
  }

  static int shared_lock(sqlite3_file* file, int offset, int n, int flags) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    int* locks = (*of.file)->shared_locks + offset;
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    if (flags & SQLITE_SHM_LOCK) {
      for (int i = 0; i < n; ++i)
        if (exclusive ? locks[i] != 0 : locks[i] < 0) return SQLITE_BUSY;
      for (int i = 0; i < n; ++i) locks[i] = exclusive ? -1 : locks[i] + 1;
    } else {
      for (int i = 0; i < n; ++i) locks[i] = exclusive || locks[i] <= 0 ? 0 : locks[i] - 1;
    }
    return SQLITE_OK;
  }

  static void shared_barrier(sqlite3_file* file) {
    const std::lock_guard guard(handle(file).disk->mutex_);
  }

  static int shared_unmap(sqlite3_file* file, int remove) {
    CrashHandle& of = handle(file);
    const std::lock_guard guard(of.disk->mutex_);
    if (remove != 0) (*of.file)->shared_regions.clear();
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_directory) {
    CrashDisk& on = disk(vfs);
    const std::lock_guard guard(on.mutex_);
    if (!on.files_.contains(name)) return SQLITE_IOERR_DELETE_NOENT;
    bool crash_after = false;
    if (on.count(on.counts_.deletes, nullptr, 0, {}, crash_after)) return SQLITE_IOERR_DELETE;
    on.remove_name(name, sync_directory != 0);
    on.crash_if(crash_after);
    return crash_after ? SQLITE_IOERR_DELETE : SQLITE_OK;
  }

  static int access(sqlite3_vfs* vfs, const char* name, int flags, int* found) {
    CrashDisk& on = disk(vfs);
    const std::lock_guard guard(on.mutex_);
    const auto at = on.files_.find(name);
    // As SQLite's own: for this flag an empty file does not exist.
    *found =
        at != on.files_.end() && (flags != SQLITE_ACCESS_EXISTS || !at->second->content.empty());
    return on.crashed_ ? SQLITE_IOERR_ACCESS : SQLITE_OK;
  }

  static int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }

  static const sqlite3_io_methods kMethods;
};

const sqlite3_io_methods CrashVfs::kMethods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shared_map,
    .xShmLock = shared_lock,
    .xShmBarrier = shared_barrier,
    .xShmUnmap = shared_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

CrashDisk::CrashDisk() {
  static std::atomic<int> next{0};
  name_ = "crash-disk-" + std::to_string(next++);
  // Time, sleep and random numbers are the default VFS's.
  registered_ = std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr));
  registered_->szOsFile = sizeof(CrashHandle);
  registered_->pNext = nullptr;
  registered_->zName = name_.c_str();
  registered_->pAppData = this;
  registered_->xOpen = CrashVfs::open;
  registered_->xDelete = CrashVfs::remove;
  registered_->xAccess = CrashVfs::access;
  registered_->xFullPathname = CrashVfs::full_path;
  sqlite3_vfs_register(registered_.get(), 0);
}

CrashDisk::~CrashDisk() { sqlite3_vfs_unregister(registered_.get()); }

}  // namespace gridfold
