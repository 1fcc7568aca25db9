#include "backends/local/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace gridfold::local {
namespace {

Error no_such_path(std::string_view path) {
  return not_found("no file \"" + std::string(path) + "\" beneath this folder");
}

// The parts of a relative path; empty when it is absolute or climbs.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) return {};
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "..") return {};
    if (!part.empty() && part != ".") parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

// The fallback for kernels before 5.6, and for sandboxes that deny openat2.
int walk_beneath(int folder, const std::vector<std::string>& parts, int flags, mode_t mode) {
  FileDescriptor here(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  for (std::size_t i = 0; i + 1 < parts.size() && here.is_open(); ++i) {
    here = FileDescriptor(
        ::openat(here.get(), parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!here.is_open()) return -1;
  return ::openat(here.get(), parts.back().c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

int open_beneath_raw(int folder, const std::vector<std::string>& parts, int flags, mode_t mode) {
  std::string path;
  for (const auto& part : parts) path += (path.empty() ? "" : "/") + part;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: the tree was renamed meanwhile and the kernel cannot tell.
  for (int tries = 0; tries < 100; ++tries) {
    const int file =
        static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
    if (file >= 0 || errno != EAGAIN) {
      if (file < 0 && (errno == ENOSYS || errno == EPERM)) break;
      return file;
    }
  }
  return walk_beneath(folder, parts, flags, mode);
}

}  // namespace

void FileDescriptor::reset() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Result<FileDescriptor> open_folder(const std::string& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return from_errno(errno, "open " + path);
  return folder;
}

Result<FileDescriptor> open_beneath(int folder, std::string_view path, int flags, mode_t mode) {
  const auto parts = parts_of(path);
  if (parts.empty()) return no_such_path(path);
  FileDescriptor file(open_beneath_raw(folder, parts, flags, mode));
  if (file.is_open()) return file;
  if (errno == ENOENT || errno == ELOOP || errno == EXDEV || errno == ENOTDIR) {
    return no_such_path(path);
  }
  return from_errno(errno, "open " + std::string(path));
}

Result<FileDescriptor> make_folders_beneath(int folder, std::string_view path, mode_t mode) {
  FileDescriptor here(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  const auto parts = parts_of(path);
  if (parts.empty()) return no_such_path(path);
  for (const auto& part : parts) {
    if (::mkdirat(here.get(), part.c_str(), mode) != 0 && errno != EEXIST) {
      return from_errno(errno, "make folder " + std::string(path));
    }
    FileDescriptor next(
        ::openat(here.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) return from_errno(errno, "open folder " + std::string(path));
    here = std::move(next);
  }
  return here;
}

Result<std::string> read_file(int folder, const std::string& name, std::size_t limit) {
  const FileDescriptor file(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return from_errno(errno, "open " + name);
  std::string bytes;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return from_errno(errno, "read " + name);
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(n));
    if (bytes.size() > limit) {
      return Error{ErrorKind::kLimit, name + " is longer than " + std::to_string(limit) + " bytes"};
    }
  }
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Result<void> replace_file(int folder, const std::string& name, std::string_view bytes,
                          Durability durability) {
  const std::string beside = name + ".new";
  const FileDescriptor file(::openat(folder, beside.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return from_errno(errno, "write " + beside);
  if (!write_all(file.get(), bytes)) return from_errno(errno, "write " + beside);
  const bool durable = durability == Durability::kDurable;
  if (durable && ::fsync(file.get()) != 0) return from_errno(errno, "fsync " + beside);
  if (::renameat(folder, beside.c_str(), folder, name.c_str()) != 0) {
    return from_errno(errno, "rename " + beside);
  }
  if (durable && ::fsync(folder) != 0) return from_errno(errno, "fsync the folder of " + name);
  return {};
}

std::vector<std::string> list_folder(int folder) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

Result<void> remove_tree(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return from_errno(errno, "remove " + name);
  {
    const FileDescriptor inside(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inside.is_open()) return from_errno(errno, "remove " + name);
    for (const auto& entry : list_folder(inside.get())) {
      if (auto done = remove_tree(inside.get(), entry); !done) return done;
    }
  }
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return from_errno(errno, "remove folder " + name);
  }
  return {};
}

}  // namespace gridfold::local
