#include "forecast/goodput.h"

#include <algorithm>
#include <cmath>

namespace gridfold {
namespace {

constexpr int kBatches = 50;
constexpr double kRoundingSlack = 1e-8;
constexpr double kNoNetworkSeconds = 1e-8;

std::int64_t ceiling(double value) {
  return static_cast<std::int64_t>(std::ceil(value - kRoundingSlack));
}

}  // namespace

NoiseModel noise_of(const TrainingHistory& history) {
  return {history.gradient_square, history.gradient_variance};
}

BatchLimits limits_of(const TrainingDeclaration& declaration) {
  return {declaration.initial_batch, declaration.max_batch, declaration.min_local_batch,
          declaration.max_local_batch};
}

GoodputModel::GoodputModel(const ThroughputModel& speed, const NoiseModel& noise,
                           const BatchLimits& limits)
    : speed_(speed), noise_(noise), limits_(limits) {}

double GoodputModel::network_seconds(std::int32_t nodes, std::int32_t tasks) const {
  if (tasks < 2) return kNoNetworkSeconds;
  const double more = std::max<double>(tasks - 2, kNoNetworkSeconds);
  return nodes > 1 ? speed_.alpha_between + speed_.beta_between * more
                   : speed_.alpha_within + speed_.beta_within * more;
}

double GoodputModel::goodput(std::int32_t tasks, std::int64_t local, std::int32_t accumulation,
                             double network) const {
  const double gradient = speed_.alpha_gradient + speed_.beta_gradient * static_cast<double>(local);
  // (g^c + n^c)^(1/c) by the larger of the two, so that nothing overflows.
  const double high = std::max(gradient, network);
  const double low = std::min(gradient, network);
  const double step = high * std::pow(1 + std::pow(low / high, speed_.gamma), 1 / speed_.gamma);
  const double scale = static_cast<double>(tasks * local * (accumulation + 1)) /
                       static_cast<double>(limits_.initial);
  const double below = noise_.variance / scale + noise_.square;
  const double gain = below > 0 ? (noise_.variance + noise_.square) / below : 1;
  return gain / (step + accumulation * gradient);
}

GoodputChoice GoodputModel::best(std::int32_t nodes, std::int32_t tasks) const {
  GoodputChoice best;
  const double least =
      static_cast<double>(std::max(limits_.initial, limits_.min_local * std::int64_t{tasks}));
  const auto most = static_cast<double>(limits_.most);
  if (least > most) return best;
  const double network = network_seconds(nodes, tasks);
  const double ratio = std::pow(most / least, 1.0 / (kBatches - 1));
  double batch = least;
  std::int64_t last_local = 0;
  std::int32_t last_accumulation = -1;
  for (int i = 0; i < kBatches; ++i, batch *= ratio) {
    const double share = std::min(batch, most) / tasks;
    auto accumulation =
        static_cast<std::int32_t>(ceiling(share / static_cast<double>(limits_.max_local))) - 1;
    if (tasks == 1 && share > static_cast<double>(limits_.initial) + kRoundingSlack) {
      accumulation = std::max(accumulation, 1);
    }
    const std::int64_t local = ceiling(share / (accumulation + 1));
    if (local == last_local && accumulation == last_accumulation) continue;
    last_local = local;
    last_accumulation = accumulation;
    if (local < limits_.min_local || local > limits_.max_local) continue;
    const double value = goodput(tasks, local, accumulation, network);
    if (value > best.goodput) best = {value, local, accumulation};
  }
  return best;
}

}  // namespace gridfold
