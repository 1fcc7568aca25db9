// Follows a task's output to its last byte: over restarts of the task, over a
// lost connection and over a restart of the daemon. No line is lost or shown
// twice, because it goes on by byte offset.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/client.h"

namespace gridfold {

enum class Attempts : std::uint8_t {
  kOne,  // the one that is named
  kOn,   // that one and all that come after it, until the job has ended
};

struct FollowRequest {
  std::string job;  // id
  std::uint32_t task = 0;
  std::uint32_t first_attempt = 1;
  Attempts attempts = Attempts::kOn;
  std::string stream = "stdout";
};

// `talk` gets a sentence when the daemon cannot be reached for a while.
// Returns when all is shown, or `take` says stop, or with an error that no
// waiting will mend.
Result<void> follow_output(Client& client, const FollowRequest& request,
                           const std::function<Reading(std::string_view)>& take,
                           const std::function<void(std::string_view)>& talk);

// Puts "[prefix] " before each line. Lines of several writers do not mix: a
// line is written whole.
class LinePrefixer {
 public:
  LinePrefixer(std::string prefix, std::function<void(std::string_view)> write)
      : prefix_(std::move(prefix)), write_(std::move(write)) {}
  void take(std::string_view bytes);
  // Writes a last line that has no end.
  void finish();

 private:
  std::string prefix_;
  std::function<void(std::string_view)> write_;
  std::string line_;
};

}  // namespace gridfold
