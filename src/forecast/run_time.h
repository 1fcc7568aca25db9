// How long a job will run, learned from those that have ended.
//
//   RunTimeForecast forecast;
//   forecast.observe(spec, ran);
//   forecast.predict(spec, {})      // nothing: nobody like it has run yet
//
// Three of four jobs like it took no longer. Work that outlasts what was thought
// of it delays others, so a forecast that is rather long does less harm than one
// that is right in the mean. At first that is the upper quartile of the last
// twenty of the most alike that have run (after Tsafrir, Etsion, Feitelson,
// "Backfilling using system-generated predictions", TPDS 2007, who take the mean
// of the last two); once some hundreds have ended, a model of the same quantile
// that sees more (run_time_model.h). Of a job that has outlasted that, only who
// ran for longer tells.
#pragma once

#include <optional>

#include "forecast/run_history.h"
#include "forecast/run_time_model.h"

namespace gridfold {

class RunTimeForecast {
 public:
  // Its whole run when it has lasted for `ran` already. Never longer than the
  // job's limit.
  std::optional<Duration> predict(const JobSpec& spec, Duration ran) const;
  // 0 <= ran.
  void observe(const JobSpec& spec, Duration ran);
  // Work for elsewhere, and its answer: a model. Null: nothing to do.
  std::shared_ptr<const SolveProblem> problem() { return model_.problem(); }
  void adopt(const SolveAnswer& answer) { model_.adopt(answer); }

 private:
  RunHistory history_;
  RunTimeModel model_;
};

}  // namespace gridfold
