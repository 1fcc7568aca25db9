// One process a store: an flock on a file beside it that names the holder.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace gridfold {

// Creates the directory of `file` and those above it that are missing, with
// mode 0700.
Result<void> create_private_directory_of(const std::string& file);

class StoreLock {
 public:
  // kUnavailable when another open store holds it; the message names the
  // process. The kernel frees it when the holder ends, however it ends.
  static Result<StoreLock> acquire(const std::string& path);

  StoreLock(StoreLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  StoreLock& operator=(StoreLock&&) = delete;
  ~StoreLock();

 private:
  explicit StoreLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace gridfold
