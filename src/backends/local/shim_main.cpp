#include "backends/local/shim_main.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "backends/local/failpoint.h"
#include "backends/local/nursery.h"
#include "backends/local/shim.h"

namespace gridfold::local {
namespace {

constexpr const char* kScoreFile = "/proc/self/oom_score_adj";
// Where the machine runs out of memory, a task goes before its shim.
constexpr const char* kShimScore = "-900";

struct Options {
  std::string state;
  std::string instance;
  std::string attempt;
  int socket = -1;
  bool use_cgroups = true;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--no-cgroups") {
      options.use_cgroups = false;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string_view value = argv[++i];
    if (flag == "--state") {
      options.state = value;
    } else if (flag == "--instance") {
      options.instance = value;
    } else if (flag == "--attempt") {
      options.attempt = value;
    } else if (flag == "--fail-at") {
      armed_failpoint() = value;
    } else if (flag == "--socket") {
      const auto end = value.data() + value.size();
      if (std::from_chars(value.data(), end, options.socket).ptr != end) return false;
    } else {
      return false;
    }
  }
  return !options.state.empty() && is_safe_name(options.instance) &&
         (options.socket >= 0) != !options.attempt.empty();
}

// Lowers our own chance to be killed and returns what it was; empty when that
// is not allowed.
std::string protect_from_memory_killer() {
  auto before = read_file(AT_FDCWD, kScoreFile, 64);
  const FileDescriptor file(::open(kScoreFile, O_WRONLY | O_CLOEXEC));
  if (!before || !file.is_open() || !write_all(file.get(), kShimScore)) return "";
  return *before;
}

}  // namespace

int shim_main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("gridfold shim is started by the local backend; see shim_main.h\n", stderr);
    return 2;
  }
  block_shim_signals();
  ShimContext context{.state = options.state};
  if (options.use_cgroups) {
    context.cgroups = CgroupParent::open(options.instance);
    context.cgroups.enter(kShimsGroup);
  }
  context.out_of_memory_score = protect_from_memory_killer();
  if (options.socket >= 0) return run_nursery(context, options.socket);
  const std::size_t slash = options.attempt.find('/');
  if (slash == std::string::npos) return 2;
  const auto name =
      parse_attempt(options.attempt.substr(0, slash), options.attempt.substr(slash + 1));
  return name ? run_shim(context, *name) : 2;
}

}  // namespace gridfold::local
