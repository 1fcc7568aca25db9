// For tests: a LocalBackend on a state directory of its own, its events, and
// the check that it leaves nothing behind.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/local/local_backend.h"
#include "tests/contracts/backend_harness.h"

namespace gridfold::local {

LocalOptions test_options(const std::string& state, const std::string& instance);

class LocalHarness final : public contract::BackendHarness {
 public:
  // `change` may alter the options before the backend is made.
  explicit LocalHarness(const std::function<void(LocalOptions&)>& change = {});
  // Ends what runs and fails the test when a cgroup or a process is left.
  ~LocalHarness() override;

  LocalBackend& backend() override { return *backend_; }
  LaunchOrder order(contract::Program program, TaskId task, std::uint32_t attempt) override;
  // Any command.
  LaunchOrder order(std::vector<std::string> command, TaskId task = TaskId{JobId(7), 0},
                    std::uint32_t attempt = 1) const;
  std::vector<Event> events() override;
  bool wait_until(const std::function<bool()>& holds) override;
  void pass(Duration time) override;
  bool is_ready(TaskId task, std::uint32_t attempt) override;
  bool restart() override;

  const std::string& state() const { return options_.state; }
  const LocalOptions& options() const { return options_; }
  std::string output(TaskId task = TaskId{JobId(7), 0}, std::uint32_t attempt = 1,
                     LogStream stream = LogStream::kOutput);
  std::string attempt_folder(TaskId task = TaskId{JobId(7), 0}, std::uint32_t attempt = 1) const;
  static std::string job_uid(JobId job) { return "job-" + std::to_string(job.value); }
  // Groups of tasks that are there now.
  std::vector<std::string> task_groups() const;

 private:
  void begin();
  void end_everything();

  LocalOptions options_;
  std::unique_ptr<LocalBackend> backend_;
  std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
};

// Processes whose environment names this state directory.
std::vector<pid_t> processes_of(const std::string& state);

}  // namespace gridfold::local
