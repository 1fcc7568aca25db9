// The contract of all backends, held by the simulated cluster.
#include "tests/contracts/backend_contract.h"

#include <set>

#include "simulator/cluster_text.h"
#include "simulator/simulated_cluster.h"

namespace gridfold::contract {
namespace {

TaskTruth truth_of(Program program) {
  TaskTruth truth;
  switch (program) {
    case Program::kSucceeds:
    case Program::kPrints: truth.duration = Duration{}; break;
    case Program::kFails:
      truth.duration = Duration{};
      truth.exit_code = 3;
      break;
    case Program::kRuns: break;
    case Program::kIgnoresTerm: truth.stop_time = Duration::hours(1000); break;
    case Program::kMissing: truth.startable = false; break;
  }
  return truth;
}

class SimulatedHarness : public BackendHarness {
 public:
  explicit SimulatedHarness(SimulatedClusterOptions options)
      : cluster_(parse_cluster_text("nodes=2,gpus=4")->nodes, options, clock_) {
    open();
    pass(Duration{});  // the nodes are told
  }

  Backend& backend() override { return cluster_; }
  std::vector<Event> events() override { return events_; }
  bool has_logs() const override { return false; }
  bool restart() override { return open(); }

  LaunchOrder order(Program program, TaskId task, std::uint32_t attempt) override {
    // The truth is a job's, and what is already under way keeps its own.
    pass(Duration::seconds(5));
    if (known_.insert({task, attempt}).second) cluster_.set_truth(task.job, truth_of(program));
    LaunchOrder order;
    order.task = task;
    order.attempt = attempt;
    order.job_uid = "job-" + std::to_string(task.job.value);
    order.spec = std::make_shared<JobSpec>();
    order.node = "node-0001";
    return order;
  }

  bool wait_until(const std::function<bool()>& holds) override {
    while (!holds()) {
      if (cluster_.next_event().is_never()) return false;
      clock_.advance_to(std::max(clock_.now(), cluster_.next_event()));
      cluster_.advance();
    }
    return true;
  }

  void pass(Duration time) override {
    const Instant end = clock_.now() + time;
    wait_until([&] { return cluster_.next_event() > end; });
    clock_.advance_to(end);
  }

 private:
  bool open() {
    return cluster_.open([this](Event event) { events_.push_back(std::move(event)); }).has_value();
  }

  VirtualClock clock_;
  SimulatedCluster cluster_;
  std::vector<Event> events_;
  std::set<std::pair<TaskId, std::uint32_t>> known_;
};

std::unique_ptr<BackendHarness> instant() {
  return std::make_unique<SimulatedHarness>(SimulatedClusterOptions{});
}
std::unique_ptr<BackendHarness> slow() {
  return std::make_unique<SimulatedHarness>(
      SimulatedClusterOptions{Duration::seconds(2), Duration::seconds(1)});
}

INSTANTIATE_TEST_SUITE_P(Simulated, BackendContract,
                         ::testing::Values(BackendMaker{"instant", instant},
                                           BackendMaker{"slow", slow}),
                         [](const auto& made) { return std::string(made.param.name); });

}  // namespace
}  // namespace gridfold::contract
