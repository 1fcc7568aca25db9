#include "planner/type_shares.h"

#include <algorithm>
#include <numeric>

#include "planner/linear_program.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMostIterations = 200'000;
// It only breaks ties.
constexpr double kTie = 1e-4;

double best_rate(const SharedJob& job) {
  return job.rates.empty() ? 0 : *std::max_element(job.rates.begin(), job.rates.end());
}

// Rate on an equal share of the devices of every type.
double even_rate(const SharedJob& job, std::span<const std::int32_t> type_devices) {
  double rate = 0;
  double all = 0;
  for (std::size_t t = 0; t < type_devices.size(); ++t) {
    rate += job.rates[t] * type_devices[t];
    all += type_devices[t];
  }
  return all > 0 ? rate / all : 0;
}

// Maximises z with, for each job, sum of rate x share >= need x z.
class ShareProgram {
 public:
  ShareProgram(std::span<const SharedJob> jobs, std::span<const std::int32_t> type_devices,
               double tie)
      : tie_(tie), jobs_(jobs), types_(type_devices.size()), columns_(jobs.size() * types_, -1) {
    for (const std::int32_t devices : type_devices)
      rooms_.push_back(program_.add_row(-kNoBound, devices));
  }

  // scale: of the job's rates, so that numbers are near 1.
  void add_job(std::size_t j, double scale, double need) {
    const int time = program_.add_row(-kNoBound, 1);
    const int served = program_.add_row(0, kNoBound);
    needs_.push_back({served, -need});
    for (std::size_t t = 0; t < types_; ++t) {
      const double rate = jobs_[j].rates[t] * scale;
      if (rate <= 0) continue;
      pending_.push_back({j * types_ + t, tie_ * rate, rooms_[t],
                          static_cast<double>(jobs_[j].devices), time, served, rate});
    }
  }

  Result<TypeShareAnswer> solve() {
    for (const Pending& p : pending_) {
      columns_[p.cell] = program_.add_column(
          p.worth, 0, 1, {{p.room, p.devices}, {p.time, 1}, {p.served, p.rate}});
    }
    const int level = program_.add_column(1, 0, kNoBound, needs_);
    if (const LinearStatus status = program_.maximize(kMostIterations);
        status != LinearStatus::kOptimal)
      return error_of(status);
    TypeShareAnswer answer;
    answer.objective = program_.value(level);
    answer.shares.assign(jobs_.size(), std::vector<double>(types_, 0));
    for (std::size_t cell = 0; cell < columns_.size(); ++cell) {
      if (columns_[cell] < 0) continue;
      answer.shares[cell / types_][cell % types_] =
          std::clamp(program_.value(columns_[cell]), 0.0, 1.0);
    }
    return answer;
  }
  bool is_empty() const { return pending_.empty(); }

 private:
  struct Pending {
    std::size_t cell;
    double worth;
    int room;
    double devices;
    int time, served;
    double rate;
  };
  double tie_;  // worth of a job's whole rate beside the level
  std::span<const SharedJob> jobs_;
  std::size_t types_;
  LinearProgram program_;
  std::vector<int> rooms_;         // rows, by type
  std::vector<int> columns_;       // by job and type; -1: none
  std::vector<Pending> pending_;   // columns: they come after all rows
  std::vector<LinearTerm> needs_;  // of z
};

TypeShareAnswer nothing(std::size_t jobs, std::size_t types) {
  return {TypeShares(jobs, std::vector<double>(types, 0)), 0};
}

}  // namespace

Result<TypeShareAnswer> max_min_shares(std::span<const SharedJob> jobs,
                                       std::span<const std::int32_t> type_devices,
                                       std::int64_t& steps) {
  steps += static_cast<std::int64_t>(jobs.size() * type_devices.size());
  ShareProgram program(jobs, type_devices, kTie);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double even = even_rate(jobs[j], type_devices);
    if (even > 0) program.add_job(j, jobs[j].devices / even, 1);
  }
  if (program.is_empty()) return nothing(jobs.size(), type_devices.size());
  return program.solve();
}

Result<TypeShareAnswer> makespan_shares(std::span<const SharedJob> jobs,
                                        std::span<const std::int32_t> type_devices,
                                        std::int64_t& steps, ShareTies ties) {
  steps += static_cast<std::int64_t>(jobs.size() * type_devices.size());
  // Seconds at its best rate, of the longest: z is then near 1.
  double longest = 0;
  for (const SharedJob& job : jobs) {
    if (const double best = best_rate(job); best > 0)
      longest = std::max(longest, job.steps_left / best);
  }
  ShareProgram program(jobs, type_devices, ties == ShareTies::kExact ? 0 : kTie);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const double best = best_rate(jobs[j]);
    if (best > 0) program.add_job(j, 1 / best, jobs[j].steps_left / best / std::max(longest, 1.0));
  }
  if (program.is_empty() || longest <= 0) return nothing(jobs.size(), type_devices.size());
  auto answer = program.solve();
  if (answer)
    answer->objective = answer->objective > 0 ? std::max(longest, 1.0) / answer->objective : 0;
  return answer;
}

}  // namespace gridfold
