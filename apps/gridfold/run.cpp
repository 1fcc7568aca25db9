// gridfold run: submits one job, shows its output, returns its code. The first
// Ctrl-C cancels the job with its grace, the second leaves it alone and ends.
#include <pthread.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>

#include "apps/gridfold/follow.h"
#include "apps/gridfold/job_output.h"
#include "apps/gridfold/job_source.h"

namespace gridfold {
namespace {

// Each task is followed by two connections of their own.
constexpr std::size_t kMaxFollowedTasks = 64;
constexpr Duration kOneWait = Duration::seconds(30);
constexpr int kExitInterrupted = 128 + SIGINT;

// Hears SIGINT and SIGTERM on a thread of its own while it exists.
class Interrupts {
 public:
  explicit Interrupts(std::function<void(int count)> on_signal) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this, on_signal = std::move(on_signal)] {
      const timespec step{0, 100'000'000};
      for (int count = 0; !ended_;)
        if (sigtimedwait(&signals_, nullptr, &step) > 0) on_signal(++count);
    });
  }
  ~Interrupts() {
    ended_ = true;
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signals_{}, before_{};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

// Writes of several followers, one at a time.
class Writer {
 public:
  void write(std::FILE* file, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fflush(file);
  }

 private:
  std::mutex mutex_;
};

void talk(const Cli& cli, const std::string& sentence) {
  if (!cli.quiet) std::fprintf(stderr, "gridfold: %s\n", sentence.c_str());
}

void follow_stream(const Cli& cli, const ClientOptions& options, FollowRequest request,
                   const std::string& prefix, Writer& writer) {
  Client client(options);
  std::FILE* file = request.stream == "stdout" ? stdout : stderr;
  LinePrefixer lines(prefix, [&](std::string_view line) { writer.write(file, line); });
  const auto done = follow_output(
      client, request,
      [&](std::string_view bytes) {
        prefix.empty() ? writer.write(file, bytes) : lines.take(bytes);
        return Reading::kGoOn;
      },
      [&](std::string_view sentence) { talk(cli, std::string(sentence)); });
  lines.finish();
  if (!done) talk(cli, request.stream + ": " + done.error().describe());
}

// Shows the output of all tasks until the job has ended.
void follow_job(const Cli& cli, const ClientOptions& options, const JobView& job) {
  Writer writer;
  std::vector<std::thread> threads;
  const auto shown = std::min(job.tasks.size(), kMaxFollowedTasks);
  if (shown < job.tasks.size())
    talk(cli, "the output of the first " + std::to_string(shown) +
                  " tasks is shown; the others': gridfold logs " + std::to_string(job.number) +
                  " --task N");
  for (std::size_t i = 0; i < shown; ++i)
    for (const char* stream : {"stdout", "stderr"}) {
      FollowRequest request{job.id, static_cast<std::uint32_t>(i)};
      request.stream = stream;
      const auto prefix = job.tasks.size() == 1
                              ? std::string()
                              : "[" + job.tasks[i].role + "/" + std::to_string(i) + "] ";
      threads.emplace_back(
          [&, request, prefix] { follow_stream(cli, options, request, prefix, writer); });
    }
  for (auto& thread : threads) thread.join();
}

Result<JobView> wait_for_end(Client& client, const std::string& id) {
  while (true) {
    auto job = client.wait(id, kOneWait);
    if (!job && job.error().kind == ErrorKind::kUnavailable) {
      sleep(1);
      continue;
    }
    if (!job || job->has_ended()) return job;
  }
}

int code_of(const JobView& job) {
  if (job.state == "succeeded") return kExitOk;
  for (const auto& task : job.tasks) {
    if (!task.has_exit) continue;
    if (task.exit_signal != 0) return 128 + task.exit_signal;
    if (task.exit_code != 0) return task.exit_code;
  }
  return kExitFailed;
}

int run_to_end(const Cli& cli, const ClientOptions& options, const std::string& id) {
  Client client(options);
  auto job = client.job(id);
  if (!job) return report(job.error());
  talk(cli, "job " + std::to_string(job->number) + " (" + job->name + ") is " + job->state +
                (job->reason ? ": " + reason_sentence(*job->reason, cli.language()) : ""));
  const Interrupts interrupts([&](int count) {
    if (count > 1) {
      talk(cli, "the job goes on; see gridfold job get " + id);
      _exit(kExitInterrupted);
    }
    talk(cli, "cancelling; again to leave the job alone");
    Client canceller(options);
    const auto done = canceller.act(id, "cancel");
    if (done) return;
    const int code = report(done.error());
    // Nobody to ask: waiting for it would make us deaf to the one signal that
    // a supervisor sends.
    if (done.error().kind == ErrorKind::kUnavailable) _exit(code);
  });
  follow_job(cli, options, *job);
  job = wait_for_end(client, id);
  if (!job) return report(job.error());
  talk(cli, "job " + std::to_string(job->number) + " (" + job->name + ") " + job->state +
                (job->reason ? ": " + reason_sentence(*job->reason, cli.language()) : ""));
  return code_of(*job);
}

int run(const Cli& cli, const JobSource& source) {
  const auto submission = read_source(source, cli.trailing);
  if (!submission) return report(submission.error());
  auto options = client_options(cli);
  if (!options) return report(options.error());
  Client client(*options);
  const auto submitted = client.submit(*submission);
  if (!submitted) return report(submitted.error());
  if (submitted->jobs.size() == 1) return run_to_end(cli, *options, submitted->jobs.front().id);
  talk(cli, std::to_string(submitted->jobs.size()) +
                " jobs were submitted; run follows one only. See gridfold ps");
  return kExitOk;
}

}  // namespace

void add_run_command(Cli& cli) {
  auto* command =
      cli.root.add_subcommand("run", "submit a job, show its output and return its exit code");
  command->fallthrough();
  const auto source = add_job_source(*command);
  command->callback([&cli, source] { cli.chosen = [&cli, source] { return run(cli, *source); }; });
}

}  // namespace gridfold
