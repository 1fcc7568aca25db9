// Measures whole lives of /bin/true through the local backend alone: ordered,
// started, exit recorded on disk, cleaned, forgotten.
//
//   local_lifecycle_bench STATE SHIM_PROGRAM [count] [at once] [none|cgroups]
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backends/local/local_backend.h"

namespace gridfold::local {
namespace {

struct Progress {
  std::mutex mutex;
  std::condition_variable moved;
  std::uint64_t cleaned = 0;
  std::uint64_t failed = 0;
};

LaunchOrder order_of(std::uint64_t number, const std::shared_ptr<const JobSpec>& spec) {
  return {.task = {JobId(number), 0},
          .attempt = 1,
          .job_uid = "bench-" + std::to_string(number),
          .spec = spec,
          .node = "here"};
}

int run(int argc, char** argv) {
  LocalOptions options;
  options.node.name = "here";
  options.state = argv[1];
  options.program = argv[2];
  options.instance = "bench-" + std::to_string(::getpid());
  options.host = host_environment(environ);
  const std::uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 2000;
  const std::uint64_t at_once = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 8;
  if (argc > 5 && std::string(argv[5]) == "none") options.cgroups = CgroupUse::kNever;

  Progress progress;
  LocalBackend backend(options);
  const auto opened = backend.open([&](Event event) {
    const bool cleaned = std::holds_alternative<TaskCleaned>(event);
    const bool failed = std::holds_alternative<LaunchFailed>(event);
    if (!cleaned && !failed) return;
    if (failed) std::fprintf(stderr, "%s\n", std::get<LaunchFailed>(event).message.c_str());
    if (cleaned) backend.forget(std::get<TaskCleaned>(event).task, 1);
    const std::lock_guard lock(progress.mutex);
    progress.cleaned += cleaned;
    progress.failed += failed;
    progress.moved.notify_one();
  });
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().describe().c_str());
    return 1;
  }
  auto spec = std::make_shared<JobSpec>();
  spec->roles = {Role{.command = {"/bin/true"}}};
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t started = 0; started < count; ++started) {
    std::unique_lock lock(progress.mutex);
    progress.moved.wait(lock,
                        [&] { return started - progress.cleaned - progress.failed < at_once; });
    lock.unlock();
    backend.launch(order_of(started, spec));
  }
  std::unique_lock lock(progress.mutex);
  progress.moved.wait(lock, [&] { return progress.cleaned + progress.failed == count; });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf(
      "{\"lifecycles\": %llu, \"failed\": %llu, \"wall_seconds\": %.3f, "
      "\"lifecycles_per_second\": %.1f}\n",
      static_cast<unsigned long long>(progress.cleaned),
      static_cast<unsigned long long>(progress.failed), wall.count(),
      static_cast<double>(count) / wall.count());
  return progress.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gridfold::local

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s STATE SHIM_PROGRAM [count] [at once] [none|cgroups]\n",
                 argv[0]);
    return 2;
  }
  return gridfold::local::run(argc, argv);
}
