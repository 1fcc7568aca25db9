#include "base/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace gridfold {

bool lock_file(int descriptor) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  constexpr int kTries = 100;
  for (int tried = 1;; ++tried) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK || tried == kTries) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gridfold
