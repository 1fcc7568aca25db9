// Run times for planning as the history of the grid tells them.
#pragma once

#include "engine/run_times.h"
#include "forecast/run_time.h"

namespace gridfold {

class LearnedRunTimes final : public RunTimes {
 public:
  std::optional<Duration> predict(const JobSpec& spec, Duration ran) override {
    return forecast_.predict(spec, ran);
  }
  void observe(const JobSpec& spec, Duration ran) override { forecast_.observe(spec, ran); }
  std::shared_ptr<const SolveProblem> problem() override { return forecast_.problem(); }
  void adopt(const SolveAnswer& answer) override { forecast_.adopt(answer); }

 private:
  RunTimeForecast forecast_;
};

}  // namespace gridfold
