#include "simulator/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gridfold {

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(double share) {
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  if (!terminal_ || now - began_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  drawn_ = true;
  constexpr int kWidth = 40;
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  std::fprintf(stderr, "\r%s %s %3.0f %%\x1b[K", title_.c_str(), bar.c_str(), share * 100);
  std::fflush(stderr);
}

}  // namespace gridfold
