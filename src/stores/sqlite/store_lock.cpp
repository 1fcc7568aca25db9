#include "stores/sqlite/store_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/file_lock.h"

namespace gridfold {
namespace {

// Always as long, so that naming the holder needs no room on a full disk.
constexpr std::size_t kHolderSize = 32;

std::string describe_holder(int descriptor) {
  std::array<char, kHolderSize + 1> text{};
  const ssize_t size = pread(descriptor, text.data(), kHolderSize, 0);
  const long process = size > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  if (process <= 0) return "another process";
  std::string holder = "process " + std::to_string(process);
  std::string command;
  if (std::ifstream file("/proc/" + std::to_string(process) + "/comm"); std::getline(file, command))
    holder += " (" + command + ")";
  return holder;
}

Result<void> name_holder(int descriptor, const std::string& path) {
  std::string text = std::to_string(getpid());
  text.resize(kHolderSize - 1, ' ');
  text += '\n';
  if (pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return from_errno(errno, "write " + path);
  return {};
}

}  // namespace

Result<void> create_private_directory_of(const std::string& file) {
  std::string built;
  for (const auto& part : std::filesystem::path(file).parent_path()) {
    built = (std::filesystem::path(built) / part).string();
    if (mkdir(built.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      // Where the parents may only be passed through, mkdir says EACCES or EROFS first.
      const int error_number = errno;
      if (!std::filesystem::is_directory(built)) return from_errno(error_number, "create " + built);
    }
  }
  return {};
}

Result<StoreLock> StoreLock::acquire(const std::string& path) {
  // Close-on-exec: a task that outlives the daemon must not keep its lock.
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return from_errno(errno, "open " + path);
  StoreLock lock(descriptor);
  if (!lock_file(descriptor)) {
    if (errno != EWOULDBLOCK) return from_errno(errno, "lock " + path);
    return Error{ErrorKind::kUnavailable,
                 "the store is in use by " + describe_holder(descriptor) + ", which holds " + path,
                 {},
                 "end that process, or use another state directory"};
  }
  if (auto named = name_holder(descriptor, path); !named) return named.error();
  return lock;
}

StoreLock::~StoreLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace gridfold
