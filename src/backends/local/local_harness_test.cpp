// The harness's own code; it has no tests but is compiled with them.
#include "backends/local/local_harness.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace gridfold::local {

using contract::Program;

namespace {

constexpr auto kLongTime = std::chrono::seconds(15);

std::string new_state() {
  std::string path = "/tmp/gridfold-local-test-XXXXXX";
  return ::mkdtemp(path.data());
}

std::string new_instance() {
  static std::atomic<int> next{0};
  return "test-" + std::to_string(::getpid()) + "-" + std::to_string(next++);
}

std::vector<std::string> command_of(Program program) {
  switch (program) {
    case Program::kSucceeds: return {"/bin/true"};
    case Program::kFails: return {"/bin/sh", "-c", "exit 3"};
    case Program::kPrints: return {"/bin/sh", "-c", "printf 'one\\ntwo\\nthree'; echo trouble >&2"};
    case Program::kRuns: return {"/bin/sh", "-c", "echo ready; exec sleep 1000"};
    case Program::kIgnoresTerm:
      return {"/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"};
    case Program::kMissing: return {"/no/such/program"};
  }
  return {};
}

}  // namespace

LocalOptions test_options(const std::string& state, const std::string& instance) {
  LocalOptions options;
  options.node.name = "here";
  options.node.cpu = MilliCores(2000);
  options.node.memory = Bytes(std::int64_t{1} << 30);
  options.state = state;
  options.program = GRIDFOLD_BINARY_DIR "/local_shim_program";
  options.instance = instance;
  options.host = host_environment(environ);
  return options;
}

LocalHarness::LocalHarness(const std::function<void(LocalOptions&)>& change)
    : options_(test_options(new_state(), new_instance())) {
  if (change) change(options_);
  begin();
}

LocalHarness::~LocalHarness() {
  end_everything();
  const CgroupParent parent = CgroupParent::open(options_.instance);
  EXPECT_EQ(parent.children(), std::vector<std::string>()) << "cgroups are left behind";
  parent.remove_if_empty();
  EXPECT_EQ(processes_of(options_.state), std::vector<pid_t>()) << "processes are left behind";
  std::filesystem::remove_all(options_.state);
}

void LocalHarness::begin() {
  backend_ = std::make_unique<LocalBackend>(options_);
  const auto opened = backend_->open([this](Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  });
  ASSERT_TRUE(opened) << opened.error().describe();
  wait_until([this] { return !events().empty(); });
}

void LocalHarness::end_everything() {
  const auto is_over = [](const ObservedTask& task) {
    return task.phase >= ObservedTask::Phase::kCleaned;
  };
  const auto running = backend_->observe();
  for (const auto& task : running->tasks) {
    if (!is_over(task)) {
      backend_->stop({task.task, task.attempt, "here", "KILL", Duration::seconds(0)});
    }
  }
  EXPECT_TRUE(wait_until([&] {
    const auto seen = backend_->observe();
    return std::all_of(seen->tasks.begin(), seen->tasks.end(), is_over);
  })) << "a task does not end";
  // The shims end right after their last record; the nursery alone is left.
  EXPECT_TRUE(wait_until([&] { return processes_of(options_.state).size() <= 1; }));
  backend_.reset();
}

LaunchOrder LocalHarness::order(Program program, TaskId task, std::uint32_t attempt) {
  return order(command_of(program), task, attempt);
}

LaunchOrder LocalHarness::order(std::vector<std::string> command, TaskId task,
                                std::uint32_t attempt) const {
  auto spec = std::make_shared<JobSpec>();
  spec->name = "test";
  spec->roles = {Role{.count = static_cast<std::int32_t>(task.index) + 1}};
  spec->roles[0].command = std::move(command);
  return {.task = task,
          .attempt = attempt,
          .job_uid = job_uid(task.job),
          .spec = std::move(spec),
          .node = "here",
          .peers = {"here"}};
}

std::vector<Event> LocalHarness::events() {
  const std::lock_guard lock(mutex_);
  return events_;
}

bool LocalHarness::wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kLongTime;
  while (std::chrono::steady_clock::now() < end) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return holds();
}

void LocalHarness::pass(Duration time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns));
}

bool LocalHarness::is_ready(TaskId task, std::uint32_t attempt) {
  return output(task, attempt).find("ready") != std::string::npos;
}

bool LocalHarness::restart() {
  backend_.reset();
  begin();
  return true;
}

std::string LocalHarness::output(TaskId task, std::uint32_t attempt, LogStream stream) {
  const auto chunk = backend_->read_log(job_uid(task.job), task, attempt, stream, 0, 1 << 20);
  return chunk ? chunk->bytes : "";
}

std::string LocalHarness::attempt_folder(TaskId task, std::uint32_t attempt) const {
  return options_.state + "/tasks/" + AttemptName{job_uid(task.job), task.index, attempt}.path();
}

std::vector<std::string> LocalHarness::task_groups() const {
  auto names = CgroupParent::open(options_.instance).children();
  std::erase(names, kShimsGroup);
  return names;
}

std::vector<pid_t> processes_of(const std::string& state) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name[0] < '1' || name[0] > '9' || std::stoi(name) == ::getpid()) continue;
    std::string text;
    for (const char* file : {"/environ", "/cmdline"}) {
      std::ifstream in(entry.path().string() + file);
      std::stringstream all;
      all << in.rdbuf();
      text += all.str();
    }
    if (text.find(state) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace gridfold::local
