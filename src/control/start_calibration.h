// The band around an estimated start, learned from what became of the estimates
// before it.
//
//   calibration.band(estimated)          // waits between which 80 % of such lie
//   calibration.started(issued, actual)  // what it was in the end
//
// Forward runs know nothing of the jobs that will come, of early ends and of
// failures. So the band is the 10th to the 90th percentile of the ratios of real
// waits to estimated ones, of the last that were estimated about as long (a
// conformal prediction, split by size). Each side is moved outwards a little when
// a start falls beyond it and inwards when not, so that in the long run as many
// fall out as were meant, whatever the workload turns into (quantile tracking, as
// in Angelopoulos, Candès, Tibshirani, "Conformal PID Control for Time Series
// Prediction", NeurIPS 2023). A value.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "base/time.h"

namespace gridfold {

// Waits from the moment of the estimate on.
struct WaitBand {
  Duration estimated{};
  Duration from{};
  Duration until{};
  friend bool operator==(const WaitBand&, const WaitBand&) = default;
};

class StartCalibration {
 public:
  WaitBand band(Duration estimated) const;
  void started(const WaitBand& issued, Duration waited);
  // Starts that it has learned from.
  std::size_t learned() const { return learned_; }

  // Of real waits so many lie below a band, and as many above it.
  static constexpr double kOutside = 0.1;

 private:
  struct Side {
    double margin = 0;  // logarithm, outwards
    void follow(bool missed);
  };
  struct Size {
    std::deque<double> in_order;  // logarithms of real to estimated wait
    std::vector<double> sorted;   // the same
    Side low, high;
    void add(double score);
    double at(double quantile) const;
  };
  static constexpr std::size_t kSizes = 8;
  static std::size_t size_of(Duration estimated);

  std::array<Size, kSizes> sizes_;
  Size all_;
  std::size_t learned_ = 0;
};

}  // namespace gridfold
