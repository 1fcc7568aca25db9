// Jobs that misbehave, for tests. Each prints "ready" when it is at its worst.
//
//   escape          a grandchild in a session of its own ignores TERM; the
//                   first process ends with 0
//   leave_groups    as escape, and the grandchild moves to the root cgroups
//   fork_bomb       forks, and so do the children, as long as they can
//   memory_bomb     a child takes memory without end; the parent waits for it
//                   and then goes on
//   hold MIB        a child holds memory; the parent waits
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace {

void say(const char* text) {
  if (::write(1, text, std::strlen(text)) < 0) ::_exit(1);
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

int escape(bool leave_groups) {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
      if (leave_groups) {
        for (const char* group : {"unified", "pids", "memory", "cpu"}) {
          std::ofstream(std::string("/sys/fs/cgroup/") + group + "/cgroup.procs") << ::getpid();
        }
      }
      say("ready\n");
      wait_for_ever();
    }
    ::_exit(0);
  }
  ::wait(nullptr);
  ::usleep(200'000);
  return 0;
}

[[noreturn]] void fork_bomb() {
  for (;;) {
    if (::fork() < 0) {
      if (errno == EAGAIN) say("ready\n");
      ::usleep(10'000);
    }
  }
}

void take_memory(std::size_t limit) {
  constexpr std::size_t kStep = 1 << 20;
  for (std::size_t taken = 0; taken < limit; taken += kStep) {
    char* piece = static_cast<char*>(std::malloc(kStep));
    if (piece != nullptr) std::memset(piece, 1, kStep);
  }
}

int with_child(std::size_t bytes) {
  if (::fork() == 0) {
    take_memory(bytes);
    say("ready\n");
    wait_for_ever();
  }
  ::wait(nullptr);
  wait_for_ever();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "escape") return escape(false);
  if (what == "leave_groups") return escape(true);
  if (what == "fork_bomb") fork_bomb();
  if (what == "memory_bomb") return with_child(std::size_t{1} << 40);
  if (what == "hold" && argc > 2) return with_child(std::strtoull(argv[2], nullptr, 10) << 20);
  return 2;
}
