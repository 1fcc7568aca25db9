// What is the local backend's own: whole trees, crashes, hostile jobs.
#include "backends/local/local_backend.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backends/local/local_harness.h"

namespace gridfold::local {
namespace {

constexpr TaskId kTask{JobId(7), 0};
const std::string kHostile = GRIDFOLD_BINARY_DIR "/local_hostile_program";

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

template <class Fact>
std::optional<Fact> find_fact(LocalHarness& harness, std::uint32_t attempt = 1) {
  for (const Event& event : harness.events()) {
    const auto* fact = std::get_if<Fact>(&event);
    if (fact != nullptr && fact->task == kTask && fact->attempt == attempt) return *fact;
  }
  return std::nullopt;
}

template <class Fact>
bool wait_fact(LocalHarness& harness, std::uint32_t attempt = 1) {
  return harness.wait_until([&] { return find_fact<Fact>(harness, attempt).has_value(); });
}

bool wait_output(LocalHarness& harness, const std::string& text) {
  return harness.wait_until([&] { return harness.output().find(text) != std::string::npos; });
}

void stop(LocalHarness& harness, Duration grace, const char* signal = "TERM") {
  harness.backend().stop({kTask, 1, "here", signal, grace});
}

LaunchOrder with_spec(LaunchOrder order, const std::function<void(JobSpec&)>& change) {
  auto spec = std::make_shared<JobSpec>(*order.spec);
  change(*spec);
  order.spec = std::move(spec);
  return order;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The identity of the task's shim, once it has one.
pid_t shim_pid(LocalHarness& harness) {
  pid_t pid = 0;
  harness.wait_until([&] {
    const auto identity = parse_identity(read_text(harness.attempt_folder() + "/shim.json"));
    if (identity) pid = identity->pid;
    return pid != 0;
  });
  return pid;
}

#define SKIP_WITHOUT(what, have) \
  if (!(have)) GTEST_SKIP() << "this machine gives no right to " << what

// F23: the signal reaches the whole tree; who saves is given the time, who
// ignores it is killed when the grace is over, and only then is it clean.
void stops_the_whole_tree(LocalHarness& harness) {
  harness.backend().launch(harness.order(
      shell("sh -c 'trap \"sleep 0.5; echo saved > checkpoint; exit 0\" TERM; echo r1;"
            "       while :; do sleep 0.05; done' &"
            "sh -c 'trap \"\" TERM; echo r2; while :; do sleep 0.05; done' &"
            "wait; wait; wait")));
  ASSERT_TRUE(wait_output(harness, "r1") && wait_output(harness, "r2"));
  const auto begin = std::chrono::steady_clock::now();
  stop(harness, Duration::milliseconds(1500));
  ASSERT_TRUE(wait_fact<TaskExited>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status, (ExitStatus{.signal = 15}));
  EXPECT_FALSE(find_fact<TaskCleaned>(harness)) << "a child still has its grace";
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1400));
  EXPECT_EQ(read_text(harness.state() + "/work/job-7/checkpoint"), "saved\n");
  EXPECT_TRUE(harness.task_groups().empty());
}

TEST(LocalBackend, F23StopsTheWholeTree) {
  LocalHarness harness;
  stops_the_whole_tree(harness);
}

TEST(LocalBackend, F23StopsTheWholeTreeWithoutCgroups) {
  LocalHarness harness([](LocalOptions& options) { options.cgroups = CgroupUse::kNever; });
  stops_the_whole_tree(harness);
}

// N10: a follower from the start and one after the end both get every line,
// and the end is told after the last byte. 100 runs.
TEST(LocalBackend, N10TheLastLineIsNeverLost) {
  LocalHarness harness;
  const auto follow = [&](TaskId task) {
    std::string text;
    bool ended = false;
    harness.wait_until([&] {
      const auto chunk = harness.backend().read_log(LocalHarness::job_uid(task.job), task, 1,
                                                    LogStream::kOutput, text.size(), 7);
      if (!chunk) {
        text += chunk.error().describe();
        return true;
      }
      text += chunk->bytes;
      return ended = chunk->ended;
    });
    return ended ? text : "not ended: " + text;
  };
  for (std::uint64_t run = 0; run < 100; ++run) {
    const TaskId task{JobId(1000 + run), 0};
    const auto script = "echo one; sleep 0.02; echo two; sleep 0.02; printf three";
    harness.backend().launch(harness.order(shell(script), task));
    ASSERT_EQ(follow(task), "one\ntwo\nthree") << "from the start, run " << run;
    ASSERT_EQ(follow(task), "one\ntwo\nthree") << "after the end, run " << run;
    const auto seen = harness.backend().observe();
    const auto& last = seen->tasks.back();
    ASSERT_EQ(last.task, task);
    ASSERT_TRUE(last.status.ok());
  }
}

// N11, without a device: what the worker's child holds goes with the group.
TEST(LocalBackend, N11AChildThatHoldsMemoryEndsWithItsWorker) {
  LocalHarness harness;
  harness.backend().launch(harness.order({kHostile, "hold", "64"}));
  ASSERT_TRUE(wait_output(harness, "ready"));
  const auto before = processes_of(harness.state());
  pid_t worker = 0;
  for (const pid_t pid : before) {
    const auto line = read_text("/proc/" + std::to_string(pid) + "/stat");
    if (line.find(" " + std::to_string(shim_pid(harness)) + " ") != std::string::npos) worker = pid;
  }
  ASSERT_NE(worker, 0);
  ::kill(worker, SIGKILL);
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status, (ExitStatus{.signal = 9}));
  EXPECT_TRUE(harness.task_groups().empty());
}

TEST(LocalBackend, ADaemonKilledLosesNeitherTaskNorExitCode) {
  LocalHarness harness;
  const std::string state = harness.state() + "/of-the-killed";
  const std::string instance = harness.options().instance + "-killed";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::dup2(ends[1], 1);
    const std::string program = GRIDFOLD_BINARY_DIR "/local_owner_program";
    ::execl(program.c_str(), program.c_str(), state.c_str(), instance.c_str(),
            harness.options().program.c_str(), "/bin/sh", "-c",
            "while [ ! -e go ]; do sleep 0.02; done; echo done; exit 42", nullptr);
    ::_exit(127);
  }
  char text[16];
  ASSERT_GT(::read(ends[0], text, sizeof text), 0);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);

  LocalBackend next(test_options(state, instance));
  std::mutex mutex;
  std::vector<Event> events;
  ASSERT_TRUE(next.open([&](Event event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }));
  const auto seen = next.observe();
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->tasks.size(), 1u);
  EXPECT_EQ(seen->tasks[0].phase, ObservedTask::Phase::kRunning);
  std::ofstream(state + "/work/job-7/go") << "go";
  ASSERT_TRUE(harness.wait_until([&] {
    const std::lock_guard lock(mutex);
    return !events.empty() && std::holds_alternative<TaskCleaned>(events.back());
  }));
  const auto after = next.observe();
  EXPECT_EQ(after->tasks[0].status, (ExitStatus{.code = 42}));
  EXPECT_EQ(next.read_log("job-7", kTask, 1, LogStream::kOutput, 0, 100)->bytes, "done\n");
  harness.wait_until([&] { return processes_of(state).size() <= 1; });
}

void loses_its_shim(LocalHarness& harness, const std::string& script) {
  harness.backend().launch(harness.order(shell(script)));
  ASSERT_TRUE(wait_output(harness, "ready"));
  ::kill(shim_pid(harness), SIGKILL);
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_TRUE(find_fact<TaskExited>(harness)->status.lost);
  EXPECT_TRUE(harness.task_groups().empty());
}

constexpr const char* kWithChildren = "setsid sleep 1000 & (sleep 1000 &) ; echo ready; sleep 1000";

TEST(LocalBackend, AShimKilledMeansLostAndNothingLeft) {
  LocalHarness harness;
  loses_its_shim(harness, kWithChildren);
}

TEST(LocalBackend, AShimKilledMeansLostAndNothingLeftWithoutCgroups) {
  LocalHarness harness([](LocalOptions& options) { options.cgroups = CgroupUse::kNever; });
  loses_its_shim(harness, kWithChildren);
}

// The shim dies at each named place; what had been recorded stays true.
TEST(LocalBackend, AShimKilledAtEachFailpointLeavesTheTruth) {
  for (const char* place : {"runtime.before_exec", "runtime.after_exec", "shim.exit_seen",
                            "shim.exit_fsynced", "shim.cleanup_half"}) {
    LocalHarness harness([&](LocalOptions& options) { options.fail_at = place; });
    harness.backend().launch(harness.order(shell("exit 5")));
    ASSERT_TRUE(wait_fact<TaskCleaned>(harness)) << place;
    const ExitStatus status = find_fact<TaskExited>(harness)->status;
    const bool recorded = std::string(place) > "shim.cleanup" && place[5] != 'e';
    const bool after_record = recorded || std::string(place) == "shim.exit_fsynced";
    EXPECT_EQ(status, after_record ? (ExitStatus{.code = 5}) : (ExitStatus{.lost = true})) << place;
  }
}

TEST(LocalBackend, ANurseryKilledIsReplaced) {
  LocalHarness harness;
  harness.backend().launch(harness.order(shell("echo ready; sleep 1000")));
  ASSERT_TRUE(wait_output(harness, "ready"));
  for (const pid_t pid : processes_of(harness.state())) {
    const auto words = read_text("/proc/" + std::to_string(pid) + "/cmdline");
    if (words.find("--socket") != std::string::npos && pid != shim_pid(harness))
      ::kill(pid, SIGKILL);
  }
  harness.pass(Duration::milliseconds(50));
  const TaskId other{JobId(8), 0};
  harness.backend().launch(harness.order({"/bin/true"}, other));
  ASSERT_TRUE(harness.wait_until([&] {
    const auto seen = harness.backend().observe();
    return seen->tasks.back().phase == ObservedTask::Phase::kCleaned;
  }));
  EXPECT_FALSE(find_fact<TaskExited>(harness)) << "the first task's shim lives on";
}

// Ordered by a daemon that was killed before the shim began: begun, and no
// launch failure that would count against the node.
TEST(LocalBackend, WhatWasOrderedAndNeverBegunIsBegunAfterARestart) {
  LocalHarness harness;
  ShimOrder order;
  order.task = kTask;
  order.name = {LocalHarness::job_uid(kTask.job), kTask.index, 1};
  order.command = shell("echo begun; exit 4");
  order.log_limit_bytes = 1 << 20;
  std::filesystem::create_directories(harness.attempt_folder());
  std::ofstream(harness.attempt_folder() + "/order.json") << to_json(order);
  ASSERT_TRUE(harness.restart());
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_FALSE(find_fact<LaunchFailed>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status, (ExitStatus{.code = 4}));
  EXPECT_EQ(harness.output(), "begun\n");
}

// A socket that a shim holds would still seem to be served after the daemon's
// death.
TEST(LocalBackend, AShimHoldsNothingThatTheDaemonHasOpen) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);  // not close-on-exec
  const auto link = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(pipe[0]));
  LocalHarness harness;
  harness.backend().launch(harness.order(shell("echo ready; exec sleep 1000")));
  ASSERT_TRUE(wait_output(harness, "ready"));
  const auto files = "/proc/" + std::to_string(shim_pid(harness)) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(files))
    EXPECT_NE(std::filesystem::read_symlink(entry.path()), link);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(LocalBackend, ALaunchFailureNamesTheCause) {
  const auto message = [](std::vector<std::string> command, const std::string& workdir = "") {
    LocalHarness harness;
    harness.backend().launch(with_spec(harness.order(std::move(command)),
                                       [&](JobSpec& spec) { spec.workdir = workdir; }));
    if (!wait_fact<LaunchFailed>(harness)) return std::string("no failure");
    const auto failed = find_fact<LaunchFailed>(harness);
    return (failed->fault == LaunchFault::kJob ? "job: " : "node: ") + failed->message;
  };
  EXPECT_EQ(message({"no-such-program"}),
            "job: cannot run no-such-program: No such file or directory");
  EXPECT_EQ(message({"/etc/passwd"}), "job: cannot run /etc/passwd: Permission denied");
  EXPECT_EQ(message({"/bin/true"}, "/no/such/folder"),
            "job: cannot enter the working directory /no/such/folder: No such file or directory");
  EXPECT_EQ(message({}), "job: command: names no program");
  EXPECT_EQ(message({"/bin/echo", std::string("a\0b", 3)}), "job: command[1]: has a zero byte");
}

void nothing_escapes(LocalHarness& harness, const char* how) {
  harness.backend().launch(with_spec(harness.order({kHostile, how}), [](JobSpec& spec) {
    spec.stop.grace = Duration::milliseconds(300);
  }));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status, ExitStatus{});
  EXPECT_EQ(harness.output(), "ready\n");
}

TEST(LocalBackend, ADoubleForkDoesNotEscape) {
  LocalHarness harness;
  nothing_escapes(harness, "escape");
}

TEST(LocalBackend, ADoubleForkDoesNotEscapeWithoutCgroups) {
  LocalHarness harness([](LocalOptions& options) { options.cgroups = CgroupUse::kNever; });
  nothing_escapes(harness, "escape");
}

TEST(LocalBackend, LeavingTheCgroupsDoesNotEscape) {
  LocalHarness harness;
  SKIP_WITHOUT("cgroups", !CgroupParent::open(harness.options().instance).hierarchies().empty());
  nothing_escapes(harness, "leave_groups");
}

void survives_fork_bomb(LocalHarness& harness) {
  harness.backend().launch(harness.order({kHostile, "fork_bomb"}));
  ASSERT_TRUE(wait_output(harness, "ready"));
  stop(harness, Duration::milliseconds(100));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_TRUE(harness.task_groups().empty());
}

TEST(LocalBackend, AForkBombHurtsOnlyItself) {
  LocalHarness harness([](LocalOptions& options) { options.processes_per_task = 40; });
  SKIP_WITHOUT("limit processes",
               CgroupParent::open(harness.options().instance).limits_processes());
  survives_fork_bomb(harness);
}

TEST(LocalBackend, AMemoryBombEndsItsOwnTreeOnly) {
  LocalHarness harness;
  SKIP_WITHOUT("limit memory", harness.backend().capabilities().memory == Enforcement::kEnforced);
  const TaskId other{JobId(8), 0};
  harness.backend().launch(harness.order(shell("echo ready; sleep 1000"), other));
  harness.backend().launch(with_spec(harness.order({kHostile, "memory_bomb"}), [](JobSpec& spec) {
    spec.roles[0].each.memory = Bytes(48 << 20);
  }));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_TRUE(find_fact<TaskExited>(harness)->status.out_of_memory);
  EXPECT_FALSE(find_fact<TaskExited>(harness)->status.ok());
  const auto seen = harness.backend().observe();
  EXPECT_EQ(seen->tasks.back().task, other);
  EXPECT_LE(seen->tasks.back().phase, ObservedTask::Phase::kRunning);
}

TEST(LocalBackend, CpuAndMemoryLimitsAreSet) {
  LocalHarness harness;
  const auto can = harness.backend().capabilities();
  SKIP_WITHOUT("limits", can.cpu == Enforcement::kEnforced && can.memory == Enforcement::kEnforced);
  harness.backend().launch(with_spec(
      harness.order(shell("cat /proc/self/cgroup; echo ready; sleep 1000")), [](JobSpec& spec) {
        spec.roles[0].each.memory = Bytes(64 << 20);
        spec.roles[0].each.cpu = MilliCores(1500);
      }));
  ASSERT_TRUE(wait_output(harness, "ready"));
  const CgroupParent parent = CgroupParent::open(harness.options().instance);
  for (const auto& hierarchy : parent.hierarchies()) {
    const std::string folder = hierarchy.folder + "/job-7.0.1";
    if (hierarchy.version == CgroupVersion::kV1 && hierarchy.memory) {
      EXPECT_EQ(read_text(folder + "/memory.limit_in_bytes"), "67108864\n");
    }
    if (hierarchy.version == CgroupVersion::kV1 && hierarchy.cpu) {
      EXPECT_EQ(read_text(folder + "/cpu.cfs_quota_us"), "150000\n");
    }
    if (hierarchy.version == CgroupVersion::kV2 && hierarchy.memory) {
      EXPECT_EQ(read_text(folder + "/memory.max"), "67108864\n");
    }
  }
  EXPECT_NE(harness.output().find("/job-7.0.1"), std::string::npos);
}

TEST(LocalBackend, ATaskCannotGainRights) {
  LocalHarness harness;
  harness.backend().launch(harness.order({"/bin/grep", "NoNewPrivs", "/proc/self/status"}));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(harness.output(), "NoNewPrivs:\t1\n");
}

TEST(LocalBackend, ATaskRunsAsTheUserThatIsSet) {
  SKIP_WITHOUT("other users", ::geteuid() == 0);
  LocalHarness harness([](LocalOptions& options) { options.run_as = RunAs{65534, 65534}; });
  ::chmod(harness.state().c_str(), 0711);
  harness.backend().launch(with_spec(
      harness.order(shell("id -u; id -G; cat note; cat order.json ../../tasks/job-7/0.1/order.json "
                          "2>&1 | grep -c denied; touch mine && echo wrote > $GRIDFOLD_REPORT")),
      [](JobSpec& spec) {
        spec.files = {{"note", "staged\n", false}};
      }));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(harness.output(), "65534\n65534\nstaged\n1\n");
  EXPECT_EQ(find_fact<TaskExited>(harness)->status, ExitStatus{});
  struct stat about {};
  ASSERT_EQ(::stat((harness.state() + "/work/job-7/mine").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 65534u);
}

TEST(LocalBackend, WhatATaskReportsIsHeard) {
  LocalHarness harness;
  harness.backend().launch(harness.order(
      shell("trap 'echo \"{\\\"saved\\\": 9}\" >> $GRIDFOLD_REPORT' USR1; "
            "echo '{\"step\": 3, \"saved\": 3}' >> $GRIDFOLD_REPORT; "
            "while :; do sleep 0.05; done")));
  ASSERT_TRUE(wait_fact<TaskReported>(harness));
  EXPECT_EQ(find_fact<TaskReported>(harness)->report.saved, 3);
  harness.backend().stop({kTask, 1, "here", "USR1", Duration::seconds(20)});
  ASSERT_TRUE(harness.wait_until([&] {
    const auto events = harness.events();
    return std::any_of(events.begin(), events.end(), [](const Event& event) {
      const auto* reported = std::get_if<TaskReported>(&event);
      return reported != nullptr && reported->report.saved == 9;
    });
  }));
  // As the control loop does once it has heard that.
  harness.backend().stop({kTask, 1, "here", "TERM", Duration::seconds(20)});
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status.signal, SIGTERM);
}

TEST(LocalBackend, FilesAreLaidOutAndNeverOutsideTheWorkingDirectory) {
  LocalHarness harness;
  const std::string outside = harness.state() + "/outside";
  std::filesystem::create_directories(harness.state() + "/work/job-7");
  std::filesystem::create_directories(outside);
  std::filesystem::create_symlink(outside, harness.state() + "/work/job-7/link");
  std::ofstream(outside + "/victim") << "safe";
  std::filesystem::create_symlink(outside + "/victim", harness.state() + "/work/job-7/trap");
  const auto run = [&](const std::string& path, std::uint32_t attempt) {
    harness.backend().launch(
        with_spec(harness.order(shell("./bin/tool"), kTask, attempt), [&](JobSpec& spec) {
          spec.files = {{"bin/tool", "#!/bin/sh\necho tool ran\n", true},
                        {path, std::string("\xff\0bytes", 7), false}};
        }));
    harness.wait_until([&] {
      return find_fact<TaskCleaned>(harness, attempt) || find_fact<LaunchFailed>(harness, attempt);
    });
    return !find_fact<LaunchFailed>(harness, attempt);
  };
  EXPECT_TRUE(run("data/deep/file", 1));
  EXPECT_EQ(harness.output(kTask, 1), "tool ran\n");
  EXPECT_EQ(read_text(harness.state() + "/work/job-7/data/deep/file"),
            std::string("\xff\0bytes", 7));
  EXPECT_FALSE(run("link/file", 2));
  EXPECT_FALSE(run("../escaped", 3));
  EXPECT_FALSE(run("/tmp/gridfold-absolute", 4));
  EXPECT_FALSE(run("data/../../escaped", 5));
  EXPECT_TRUE(run("trap", 6));  // replaces the link, not what it points to
  EXPECT_EQ(read_text(outside + "/victim"), "safe");
  EXPECT_TRUE(std::filesystem::is_regular_file(
      std::filesystem::symlink_status(harness.state() + "/work/job-7/trap")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside), {}), 1);
  EXPECT_FALSE(std::filesystem::exists(harness.state() + "/work/escaped"));
}

// N12: no path, no link, no foreign name leads out of a job's own logs.
TEST(LocalBackend, N12LogsAreReadBeneathTheJobsFolderOnly) {
  LocalHarness harness;
  harness.backend().launch(harness.order({"/bin/true"}));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  const auto kind = [&](const std::string& uid) {
    const auto chunk = harness.backend().read_log(uid, kTask, 1, LogStream::kOutput, 0, 100);
    return chunk ? std::string("read") : chunk.error().describe();
  };
  const std::string nothing = kind("job-foreign");
  EXPECT_NE(nothing, "read");
  for (const char* uid :
       {"../../etc/passwd", "..", "/etc/passwd", "%2e%2e%2f", "*", "", "job-7/0.1", "job-7/.."}) {
    EXPECT_EQ(kind(uid), nothing) << uid;
  }
  const std::string log = harness.attempt_folder() + "/stdout";
  std::filesystem::remove(log);
  std::filesystem::create_symlink("/etc/passwd", log);
  EXPECT_EQ(kind("job-7"), nothing);
  std::filesystem::remove(log);
  std::filesystem::create_directory_symlink("/etc", harness.state() + "/tasks/job-link");
  EXPECT_EQ(kind("job-link"), nothing);
}

TEST(LocalBackend, ALogHasABoundAndSaysWhatWasDropped) {
  LocalHarness harness([](LocalOptions& options) { options.log_limit = Bytes(1000); });
  harness.backend().launch(harness.order(shell("head -c 3000000 /dev/zero | tr '\\0' x; exit 4")));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  EXPECT_EQ(find_fact<TaskExited>(harness)->status.code, 4);
  EXPECT_EQ(harness.output(), std::string(1000, 'x') +
                                  "\n[gridfold: 2999000 bytes of output were dropped: over the "
                                  "limit of 1000 bytes]\n");
}

TEST(LocalBackend, TheWorkingDirectoryIsKeptBetweenAttemptsAndRemovedWithTheJob) {
  LocalHarness harness;
  harness.backend().launch(harness.order(shell("echo saved > checkpoint; exit 1")));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness));
  harness.backend().launch(harness.order(shell("cat checkpoint; sleep 1000"), kTask, 2));
  ASSERT_TRUE(harness.wait_until([&] { return harness.output(kTask, 2) == "saved\n"; }));
  EXPECT_EQ(harness.backend().remove_job("job-7").error().kind, ErrorKind::kConflict);
  harness.backend().stop({kTask, 2, "here", "KILL", Duration::seconds(0)});
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness, 2));
  ASSERT_TRUE(harness.backend().remove_job("job-7"));
  EXPECT_FALSE(std::filesystem::exists(harness.state() + "/work/job-7"));
  EXPECT_FALSE(std::filesystem::exists(harness.state() + "/tasks/job-7"));
  EXPECT_EQ(harness.backend().remove_job("../work").error().kind, ErrorKind::kNotFound);
}

TEST(LocalBackend, AShimRefusesAnOrderOlderThanTheLatest) {
  LocalHarness harness;
  harness.backend().launch(harness.order({"/bin/true"}, kTask, 2));
  ASSERT_TRUE(wait_fact<TaskCleaned>(harness, 2));
  // As a daemon of the past would have left it.
  std::filesystem::create_directory(harness.attempt_folder(kTask, 1));
  std::filesystem::copy(harness.attempt_folder(kTask, 2) + "/order.json",
                        harness.attempt_folder(kTask, 1) + "/order.json");
  const std::string command = harness.options().program + " shim --state " + harness.state() +
                              " --instance " + harness.options().instance + " --attempt job-7/0.1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const auto status = parse_status(read_text(harness.attempt_folder(kTask, 1) + "/status.json"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->phase, AttemptStatus::Phase::kLaunchFailed);
  EXPECT_EQ(status->message, "attempt 1 is older than attempt 2");
  EXPECT_FALSE(std::filesystem::exists(harness.attempt_folder(kTask, 1) + "/stdout"));
}

TEST(LocalBackend, AStateDirectoryHasOneBackend) {
  LocalHarness harness;
  LocalBackend second(harness.options());
  const auto opened = second.open([](Event) {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::kConflict);
}

TEST(LocalBackend, WithoutCgroupsItSaysThatLimitsAreOnlyAccounted) {
  LocalHarness harness([](LocalOptions& options) { options.cgroups = CgroupUse::kNever; });
  EXPECT_EQ(harness.backend().capabilities().cpu, Enforcement::kAccounted);
  EXPECT_EQ(harness.backend().capabilities().memory, Enforcement::kAccounted);
}

}  // namespace
}  // namespace gridfold::local
