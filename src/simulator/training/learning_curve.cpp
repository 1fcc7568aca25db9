#include "simulator/training/learning_curve.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace gridfold {
namespace {

double between(double batch, double low_batch, double high_batch, double low, double high) {
  return ((batch - low_batch) * high + (high_batch - batch) * low) / (high_batch - low_batch);
}

}  // namespace

LearningCurve::LearningCurve(std::map<std::int64_t, std::vector<MeasuredEpoch>> by_batch,
                             std::int32_t epochs)
    : by_batch_(std::move(by_batch)), epochs_(epochs) {
  assert(!by_batch_.empty());
  progress_after_.push_back(0);
  for (std::int32_t e = 0; e < epochs_; ++e) {
    double least = by_batch_.begin()->second[static_cast<std::size_t>(e)].progress;
    for (const auto& [batch, curve] : by_batch_) {
      least = std::min(least, curve[static_cast<std::size_t>(e)].progress);
    }
    progress_after_.push_back(least);
  }
}

double LearningCurve::progress_after(std::int32_t epochs) const {
  return progress_after_[static_cast<std::size_t>(epochs)];
}

Known<LearningCurve::Neighbours> LearningCurve::neighbours(std::int64_t batch) const {
  const auto high = by_batch_.lower_bound(batch);
  if (high == by_batch_.end()) return Unknown{};
  auto low = high;
  if (high->first != batch) {
    if (high == by_batch_.begin()) return Unknown{};
    --low;
  }
  return Neighbours{&low->second, &high->second, static_cast<double>(low->first),
                    static_cast<double>(high->first)};
}

Known<GradientNoise> LearningCurve::noise(std::int64_t batch, std::int32_t epoch) const {
  const auto found = neighbours(batch);
  if (!found.is_known()) return Unknown{};
  const Neighbours& n = found.value();
  const MeasuredEpoch& low = (*n.low)[static_cast<std::size_t>(epoch)];
  const MeasuredEpoch& high = (*n.high)[static_cast<std::size_t>(epoch)];
  if (n.low == n.high) return GradientNoise{low.gradient_square, low.gradient_variance};
  const auto at = static_cast<double>(batch);
  return GradientNoise{
      between(at, n.low_batch, n.high_batch, low.gradient_square, high.gradient_square),
      between(at, n.low_batch, n.high_batch, low.gradient_variance, high.gradient_variance)};
}

Known<double> LearningCurve::iterations(std::int64_t batch, std::int32_t epoch) const {
  const auto found = neighbours(batch);
  if (!found.is_known()) return Unknown{};
  const Neighbours& n = found.value();
  const double low = (*n.low)[static_cast<std::size_t>(epoch)].iterations;
  const double high = (*n.high)[static_cast<std::size_t>(epoch)].iterations;
  if (n.low == n.high) return low;
  return between(static_cast<double>(batch), n.low_batch, n.high_batch, low, high);
}

Known<double> LearningCurve::gain(std::int64_t batch, std::int32_t epoch) const {
  const auto found = noise(batch, epoch);
  if (!found.is_known()) return Unknown{};
  const auto [square, variance] = found.value();
  const double scale = static_cast<double>(batch) / static_cast<double>(initial_batch());
  return (variance + square) / (variance / scale + square);
}

}  // namespace gridfold
