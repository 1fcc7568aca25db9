#include "forecast/goodput_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include <nlopt.h>

namespace gridfold {
namespace {

// All but gamma are sought by their logarithm: they are positive and differ by
// orders of magnitude.
enum Parameter : std::size_t {
  kAlphaGradient,
  kBetaGradient,
  kAlphaBetween,
  kBetaBetween,
  kAlphaWithin,
  kBetaWithin,
  kGamma,
  kParameters
};
using Parameters = std::array<double, kParameters>;

constexpr double kLeast = 1e-8;  // seconds: as good as nothing
constexpr double kMost = 1e4;
constexpr double kMostGamma = 10;
constexpr double kGammaPull = 1e-3;
constexpr double kGrowthPull = 1e-2;
// Under the root of the mean squares, so that it has a slope at zero too.
constexpr double kSmooth = 1e-9;

enum class Network : std::uint8_t { kNone, kWithin, kBetween };

struct Observation {
  double local_batch = 0;
  double more_tasks = 0;  // beyond two
  Network network = Network::kNone;
  double log_gradient = 0;
  double log_step = 0;
};

std::vector<Observation> observations(std::span<const StepMeasurement> steps) {
  std::vector<Observation> seen;
  seen.reserve(steps.size());
  for (const auto& step : steps) {
    Observation one;
    one.local_batch = static_cast<double>(step.local_batch);
    one.more_tasks = std::max<double>(step.tasks - 2, kLeast);
    one.network = step.nodes > 1   ? Network::kBetween
                  : step.tasks > 1 ? Network::kWithin
                                   : Network::kNone;
    one.log_gradient = std::log(std::max((step.step - step.sync).in_seconds(), kLeast));
    one.log_step = std::log(std::max(step.step.in_seconds(), kLeast));
    seen.push_back(one);
  }
  return seen;
}

class Fit {
 public:
  explicit Fit(std::span<const StepMeasurement> steps) : seen_(observations(steps)) {
    set_start(steps);
  }

  ThroughputModel solve() {
    const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> search(
        nlopt_create(NLOPT_LD_TNEWTON_PRECOND_RESTART, kParameters), nlopt_destroy);
    nlopt_set_min_objective(search.get(), &Fit::loss, this);
    nlopt_set_lower_bounds(search.get(), low_.data());
    nlopt_set_upper_bounds(search.get(), high_.data());
    nlopt_set_ftol_rel(search.get(), 1e-6);
    nlopt_set_maxeval(search.get(), 200);
    double value = 0;
    best_ = start_;
    // Where the search ends early, by its limit or for round-off, the best place
    // that it came by is the answer.
    nlopt_optimize(search.get(), start_.data(), &value);
    return model(best_);
  }

 private:
  void set_start(std::span<const StepMeasurement> steps) {
    const bool one_batch = std::all_of(steps.begin(), steps.end(), [&](const auto& s) {
      return s.local_batch == steps.front().local_batch;
    });
    const bool between = any([](const auto& s) { return s.network == Network::kBetween; });
    const bool within = any([](const auto& s) { return s.network == Network::kWithin; });
    const bool more = any([](const auto& s) { return s.more_tasks > kLeast; });
    for (const auto alpha : {kAlphaGradient, kAlphaBetween, kAlphaWithin}) set(alpha, 1e-1);
    for (const auto beta : {kBetaGradient, kBetaBetween, kBetaWithin}) set(beta, 1e-2);
    start_[kGamma] = 1.001;
    low_[kGamma] = 1;
    high_[kGamma] = kMostGamma;
    if (one_batch) {
      double sum = 0;
      for (const auto& s : seen_) sum += std::exp(s.log_gradient);
      pin(kAlphaGradient, sum / static_cast<double>(seen_.size()) / 2);
    }
    if (!between) pin(kAlphaBetween, kLeast);
    if (!within) pin(kAlphaWithin, kLeast);
    if (!between || !more) pin(kBetaBetween, kLeast);
    if (!within || !more) pin(kBetaWithin, kLeast);
    pulled_between_ = between && more;
    pulled_within_ = within && more;
    between_ = between;
  }
  template <class Test>
  bool any(Test test) const {
    return std::any_of(seen_.begin(), seen_.end(), test);
  }
  void set(Parameter which, double value) {
    start_[which] = std::log(value);
    low_[which] = std::log(kLeast);
    high_[which] = std::log(kMost);
  }
  void pin(Parameter which, double value) {
    start_[which] = low_[which] = high_[which] = std::log(std::max(value, kLeast));
  }

  ThroughputModel model(const Parameters& at) const {
    ThroughputModel found{std::exp(at[kAlphaGradient]),
                          std::exp(at[kBetaGradient]),
                          std::exp(at[kAlphaBetween]),
                          std::exp(at[kBetaBetween]),
                          std::exp(at[kAlphaWithin]),
                          std::exp(at[kBetaWithin]),
                          at[kGamma]};
    if (!between_) {
      // Never seen: between nodes is at least as slow as within one.
      found.alpha_between = std::max(found.alpha_between, found.alpha_within * 1.1);
      found.beta_between = std::max(found.beta_between, found.beta_within * 1.1);
    }
    return found;
  }

  static double loss(unsigned, const double* at, double* slope, void* self) {
    return static_cast<Fit*>(self)->loss_at(at, slope);
  }

  double loss_at(const double* at, double* slope_out) {
    Parameters p{};
    for (std::size_t i = 0; i < kGamma; ++i) p[i] = std::exp(at[i]);
    p[kGamma] = at[kGamma];
    double gradient_squares = 0;
    double step_squares = 0;
    Parameters gradient_slope{};
    Parameters step_slope{};
    for (const auto& one : seen_) {
      gradient_squares += add_gradient(one, p, gradient_slope);
      step_squares += add_step(one, p, step_slope);
    }
    const auto n = static_cast<double>(seen_.size());
    const double gradient_error = std::sqrt(gradient_squares / n + kSmooth);
    const double step_error = std::sqrt(step_squares / n + kSmooth);
    const double gamma = p[kGamma] - 1;
    double value = gradient_error + step_error + kGammaPull * gamma * gamma;
    Parameters slope{};
    for (std::size_t i = 0; i < kParameters; ++i) {
      slope[i] = gradient_slope[i] / (n * gradient_error) + step_slope[i] / (n * step_error);
    }
    slope[kGamma] += 2 * kGammaPull * gamma;
    if (pulled_between_) value += pull(p, kAlphaBetween, kBetaBetween, slope);
    if (pulled_within_) value += pull(p, kAlphaWithin, kBetaWithin, slope);
    if (slope_out != nullptr) std::copy(slope.begin(), slope.end(), slope_out);
    if (value < best_value_) {
      best_value_ = value;
      std::copy_n(at, kParameters, best_.begin());
    }
    return value;
  }

  // Square of the gradient's log error; adds error x slope of its logarithm.
  static double add_gradient(const Observation& one, const Parameters& p, Parameters& slope) {
    const double seconds = p[kAlphaGradient] + p[kBetaGradient] * one.local_batch;
    const double error = std::log(seconds) - one.log_gradient;
    slope[kAlphaGradient] += error * p[kAlphaGradient] / seconds;
    slope[kBetaGradient] += error * p[kBetaGradient] * one.local_batch / seconds;
    return error * error;
  }

  static double add_step(const Observation& one, const Parameters& p, Parameters& slope) {
    const double gradient = p[kAlphaGradient] + p[kBetaGradient] * one.local_batch;
    double alpha = kLeast;
    double beta = kLeast;
    if (one.network != Network::kNone) {
      const bool between = one.network == Network::kBetween;
      alpha = p[between ? kAlphaBetween : kAlphaWithin];
      beta = p[between ? kBetaBetween : kBetaWithin];
    }
    const double network = alpha + beta * one.more_tasks;
    const double log_gradient = std::log(gradient);
    const double log_network = std::log(network);
    const double gamma = p[kGamma];
    const double high = std::max(log_gradient, log_network);
    const double low = std::min(log_gradient, log_network);
    const double tail = std::exp(gamma * (low - high));  // <= 1
    const double log_step = high + std::log1p(tail) / gamma;
    const double share_low = tail / (1 + tail);
    const double share_gradient = log_gradient >= log_network ? 1 - share_low : share_low;
    const double error = log_step - one.log_step;
    const double by_gradient = error * share_gradient / gradient;
    slope[kAlphaGradient] += by_gradient * p[kAlphaGradient];
    slope[kBetaGradient] += by_gradient * p[kBetaGradient] * one.local_batch;
    if (one.network != Network::kNone) {
      const bool between = one.network == Network::kBetween;
      const double by_network = error * (1 - share_gradient) / network;
      slope[between ? kAlphaBetween : kAlphaWithin] += by_network * alpha;
      slope[between ? kBetaBetween : kBetaWithin] += by_network * beta * one.more_tasks;
    }
    slope[kGamma] +=
        error * (share_gradient * log_gradient + (1 - share_gradient) * log_network - log_step) /
        gamma;
    return error * error;
  }

  // To no growth with tasks.
  static double pull(const Parameters& p, Parameter alpha, Parameter beta, Parameters& slope) {
    const double growth = p[beta] / p[alpha];
    const double value = kGrowthPull * growth * growth;
    slope[beta] += 2 * value;
    slope[alpha] -= 2 * value;
    return value;
  }

  std::vector<Observation> seen_;
  Parameters start_{}, low_{}, high_{};
  bool between_ = false;
  bool pulled_between_ = false;
  bool pulled_within_ = false;
  Parameters best_{};
  double best_value_ = HUGE_VAL;
};

}  // namespace

ThroughputModel fit_throughput(std::span<const StepMeasurement> steps) {
  return Fit(steps).solve();
}

}  // namespace gridfold
