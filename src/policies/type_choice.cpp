#include "policies/type_choice.h"

#include <algorithm>
#include <numeric>

#include "planner/linear_program.h"

namespace gridfold {
namespace {

struct Option {
  TypeChoice choice;
  std::int32_t devices = 0;
  double gain = 0;  // of it over none; above 0
};
using Options = std::vector<std::vector<Option>>;  // by job

Options options_of(std::span<const std::vector<ShareCurve>> jobs,
                   std::span<const std::int32_t> type_devices) {
  Options options(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (std::size_t t = 0; t < type_devices.size(); ++t) {
      const ShareCurve& curve = jobs[j][t];
      for (std::size_t n = 1; n < curve.costs.size(); ++n) {
        const auto tasks = static_cast<std::int32_t>(n);
        const std::int32_t devices = tasks * curve.devices_each;
        const double gain = curve.costs[0] - curve.costs[n];
        if (devices > type_devices[t] || curve.costs[n] >= kNotOffered || gain <= 0) continue;
        options[j].push_back({{t, tasks}, devices, gain});
      }
    }
  }
  return options;
}

// Free devices of each type as one number; 0: none of any.
class Grid {
 public:
  explicit Grid(std::span<const std::int32_t> type_devices) {
    for (const std::int32_t devices : type_devices) {
      strides_.push_back(size_);
      widths_.push_back(static_cast<std::size_t>(devices) + 1);
      size_ *= widths_.back();
    }
  }
  std::size_t size() const { return size_; }
  std::size_t stride(std::size_t type) const { return strides_[type]; }
  std::int32_t free(std::size_t state, std::size_t type) const {
    return static_cast<std::int32_t>(state / strides_[type] % widths_[type]);
  }

 private:
  std::vector<std::size_t> strides_, widths_;
  std::size_t size_ = 1;
};

// As a double: many types of many devices are more than fit a whole number.
double states_of(std::span<const std::int32_t> type_devices) {
  double states = 1;
  for (const std::int32_t devices : type_devices) states *= devices + 1.0;
  return states;
}

std::vector<TypeChoice> choose_exactly(const Options& options,
                                       std::span<const std::int32_t> type_devices,
                                       std::int64_t& steps) {
  const Grid grid(type_devices);
  std::vector<double> best(grid.size(), 0);  // most gain of the jobs so far on at most so many
  std::vector<double> next(grid.size());
  std::vector<std::uint16_t> chosen(options.size() * grid.size(), 0);  // option + 1
  for (std::size_t j = 0; j < options.size(); ++j) {
    next = best;
    std::uint16_t* const mark = chosen.data() + j * grid.size();
    for (std::size_t o = 0; o < options[j].size(); ++o) {
      const Option& option = options[j][o];
      const std::size_t back =
          static_cast<std::size_t>(option.devices) * grid.stride(option.choice.type);
      for (std::size_t state = back; state < grid.size(); ++state) {
        if (grid.free(state, option.choice.type) < option.devices) continue;
        const double gain = best[state - back] + option.gain;
        if (gain > next[state]) {
          next[state] = gain;
          mark[state] = static_cast<std::uint16_t>(o + 1);
        }
      }
    }
    steps += static_cast<std::int64_t>(grid.size() * (options[j].size() + 1));
    std::swap(best, next);
  }
  std::vector<TypeChoice> choices(options.size());
  std::size_t state = grid.size() - 1;
  for (std::size_t j = options.size(); j-- > 0;) {
    const std::uint16_t o = chosen[j * grid.size() + state];
    if (o == 0) continue;
    const Option& option = options[j][o - 1u];
    choices[j] = option.choice;
    state -= static_cast<std::size_t>(option.devices) * grid.stride(option.choice.type);
  }
  return choices;
}

// What the linear relaxation gives whole; nothing when it was not solved.
std::vector<const Option*> choose_relaxed(const Options& options,
                                          std::span<const std::int32_t> type_devices,
                                          std::int64_t iterations) {
  LinearProgram program;
  std::vector<int> rooms;
  for (const std::int32_t devices : type_devices)
    rooms.push_back(program.add_row(-kNoBound, devices));
  std::vector<int> once;
  for (std::size_t j = 0; j < options.size(); ++j) once.push_back(program.add_row(-kNoBound, 1));
  std::vector<std::vector<int>> columns(options.size());
  for (std::size_t j = 0; j < options.size(); ++j) {
    for (const Option& option : options[j]) {
      columns[j].push_back(program.add_column(
          option.gain, 0, 1,
          {{rooms[option.choice.type], static_cast<double>(option.devices)}, {once[j], 1}}));
    }
  }
  std::vector<const Option*> chosen(options.size(), nullptr);
  if (program.maximize(iterations) != LinearStatus::kOptimal) return chosen;
  constexpr double kWhole = 1 - 1e-6;
  for (std::size_t j = 0; j < options.size(); ++j) {
    for (std::size_t o = 0; o < options[j].size(); ++o) {
      if (program.value(columns[j][o]) >= kWhole) chosen[j] = &options[j][o];
    }
  }
  return chosen;
}

// Gives what is free to the jobs without, the most gain a device first.
void fill_up(const Options& options, std::vector<std::int32_t> free,
             std::vector<const Option*>& chosen, std::int64_t& steps) {
  struct Wish {
    std::size_t job;
    const Option* option;
  };
  std::vector<Wish> wishes;
  for (std::size_t j = 0; j < options.size(); ++j) {
    if (chosen[j] != nullptr) {
      free[chosen[j]->choice.type] -= chosen[j]->devices;
      continue;
    }
    for (const Option& option : options[j]) wishes.push_back({j, &option});
  }
  steps += static_cast<std::int64_t>(wishes.size());
  std::stable_sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) {
    return a.option->gain * b.option->devices > b.option->gain * a.option->devices;
  });
  for (const Wish& wish : wishes) {
    std::int32_t& room = free[wish.option->choice.type];
    if (chosen[wish.job] != nullptr || room < wish.option->devices) continue;
    chosen[wish.job] = wish.option;
    room -= wish.option->devices;
  }
}

double gain_of(const std::vector<const Option*>& chosen) {
  double gain = 0;
  for (const Option* option : chosen) gain += option == nullptr ? 0 : option->gain;
  return gain;
}

std::vector<TypeChoice> choose_nearly(const Options& options,
                                      std::span<const std::int32_t> type_devices,
                                      std::int64_t iterations, std::int64_t& steps) {
  const std::vector<std::int32_t> free(type_devices.begin(), type_devices.end());
  std::vector<const Option*> greedy(options.size(), nullptr);
  fill_up(options, free, greedy, steps);
  std::vector<const Option*> relaxed = choose_relaxed(options, type_devices, iterations);
  for (const auto& of_job : options) steps += static_cast<std::int64_t>(of_job.size());
  fill_up(options, free, relaxed, steps);
  const auto& better = gain_of(relaxed) > gain_of(greedy) ? relaxed : greedy;
  std::vector<TypeChoice> choices(options.size());
  for (std::size_t j = 0; j < options.size(); ++j) {
    if (better[j] != nullptr) choices[j] = better[j]->choice;
  }
  return choices;
}

}  // namespace

std::vector<TypeChoice> choose_types(std::span<const std::vector<ShareCurve>> jobs,
                                     std::span<const std::int32_t> type_devices,
                                     std::int64_t& steps, const TypeChoiceLimits& limits) {
  if (type_devices.size() == 1) {
    std::vector<ShareCurve> curves;
    curves.reserve(jobs.size());
    for (const auto& job : jobs) curves.push_back(job.front());
    std::vector<TypeChoice> choices;
    for (const std::int32_t tasks : share_out(curves, type_devices.front(), steps))
      choices.push_back({0, tasks});
    return choices;
  }
  const Options options = options_of(jobs, type_devices);
  double combinations = 0;
  for (const auto& of_job : options) combinations += static_cast<double>(of_job.size()) + 1;
  combinations *= states_of(type_devices);
  if (combinations <= static_cast<double>(limits.exact))
    return choose_exactly(options, type_devices, steps);
  return choose_nearly(options, type_devices, limits.iterations, steps);
}

}  // namespace gridfold
