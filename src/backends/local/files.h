// Files of the state directory: descriptors that close themselves, whole-file
// reads, durable writes, and paths that cannot be led out of a folder.
//
// "Beneath" means: the path is relative, has no "..", and no symbolic link is
// followed on the way, not even by one who changes the tree meanwhile
// (openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; on kernels without
// it, the path is walked one folder at a time with O_NOFOLLOW).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gridfold::local {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset();

 private:
  int number_ = -1;
};

Result<FileDescriptor> open_folder(const std::string& path);
// Opens `path` beneath `folder`. kNotFound also for a path that leaves the
// folder or passes through a symbolic link: to the caller it is not there.
Result<FileDescriptor> open_beneath(int folder, std::string_view path, int flags, mode_t mode = 0);
// Makes the folders of `path`, all of it, beneath `folder`; those that exist
// are kept. Returns the last one, open.
Result<FileDescriptor> make_folders_beneath(int folder, std::string_view path, mode_t mode);

// Up to `limit` bytes; kLimit when the file is longer.
Result<std::string> read_file(int folder, const std::string& name, std::size_t limit);
bool write_all(int file, std::string_view bytes);

enum class Durability : std::uint8_t {
  kOrdered,  // whole or absent for every reader, but a power cut may undo it
  kDurable,  // on disk when this returns
};
// Replaces `name` in `folder`: written beside, then renamed, so that a reader
// sees the old or the new bytes.
Result<void> replace_file(int folder, const std::string& name, std::string_view bytes,
                          Durability durability);

// Names in a folder, without "." and ".."; empty when it cannot be read.
std::vector<std::string> list_folder(int folder);
// Removes `name` in `folder` with everything in it; never follows a link.
Result<void> remove_tree(int folder, const std::string& name);

}  // namespace gridfold::local
