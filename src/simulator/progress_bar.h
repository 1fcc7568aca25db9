// A bar on standard error for long runs: only on a terminal, and only once a
// run has lasted a second. Wiped when done, so that it leaves no trace.
#pragma once

#include <chrono>
#include <string>

namespace gridfold {

class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // share: 0 to 1.
  void show(double share);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
};

}  // namespace gridfold
