// A job of the Pollux world as it really runs: by measured tables, never by a
// fitted formula.
//
// Progress is counted in steps of the initial batch. An epoch ends when progress
// reaches its end, at a time rounded to a whole second after the last change of
// rate, as in the artefact. Every start on new places costs a restart, during
// which nothing advances. The agent chooses the batch anew at each start, at
// each epoch's end and each minute, before a policy's round at that minute.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "simulator/training/job_agent.h"
#include "simulator/training/pollux_program.h"
#include "simulator/training_process.h"

namespace gridfold {

struct TableProcessOptions {
  Duration restart = Duration::seconds(30);
  Duration settle = Duration::seconds(60);  // the agent chooses anew this often
};

class TableProcess final : public TrainingProcess {
 public:
  TableProcess(std::shared_ptr<const PolluxProgram> program, std::unique_ptr<JobAgent> agent,
               const TableProcessOptions& options);

  void start(Instant now, std::span<const TrainingPlace> places) override;
  void stop(Instant now) override;
  void advance(Instant now) override;
  Instant next_event() const override { return running_ ? stretch_.due : Instant::never(); }
  bool finished() const override { return epoch_ == program_->curve.epochs(); }
  std::optional<TrainingHistory> report() const override;
  Known<double> productive_seconds() const override { return productive_; }

 private:
  // Time over which nothing changes: it restarts, or trains at one rate.
  struct Stretch {
    Instant from{};
    Instant end{};
    Instant due{};        // when to look again: end, or a moment later
    double rate = 0;      // initial-batch steps a second
    double progress = 0;  // at `from`
    bool ends_epoch = false;
  };
  void begin_stretch(Instant from);
  void count_until(Instant now);
  void finish_stretch();
  // Steps of the initial batch a second; 0 where nothing was measured: it
  // cannot run so. Keeps what it measures for the report.
  double measured_rate();
  void keep_measurement(const StepTimes& times, const GradientNoise& noise, std::int64_t batch);
  double progress_at(Instant now) const;
  Instant next_settling(Instant now) const;

  std::shared_ptr<const PolluxProgram> program_;
  std::unique_ptr<JobAgent> agent_;
  TableProcessOptions options_;

  bool running_ = false;
  Instant now_{};
  Duration restart_left_{};
  TasksByNode tasks_by_node_;
  std::int32_t tasks_ = 0;
  std::string device_model_;
  BatchSplit split_;
  std::int32_t epoch_ = 0;
  double progress_ = 0;
  double productive_ = 0;  // task-seconds
  Stretch stretch_;
  TrainingHistory history_;
};

}  // namespace gridfold
