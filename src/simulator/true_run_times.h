// Run times as they will be: what no scheduler knows, for comparison.
#pragma once

#include <deque>

#include "engine/run_times.h"

namespace gridfold {

class TrueRunTimes final : public RunTimes {
 public:
  // Of the jobs in order of submission, each before it is taken in.
  void tell(Limit<Duration> run) { told_.push_back(run); }

  std::optional<Duration> predict(const JobSpec& spec, Duration ran) override {
    static_cast<void>(spec);
    if (told_.empty() || ran > Duration{}) return std::nullopt;
    const Limit<Duration> run = told_.front();
    told_.pop_front();
    if (run.is_unlimited()) return std::nullopt;
    return run.bound();
  }
  void observe(const JobSpec& spec, Duration ran) override {
    static_cast<void>(spec);
    static_cast<void>(ran);
  }

 private:
  std::deque<Limit<Duration>> told_;
};

}  // namespace gridfold
