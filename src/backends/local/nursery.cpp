#include "backends/local/nursery.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace gridfold::local {
namespace {

constexpr int kSocketInNursery = 3;
constexpr std::size_t kMaxMessage = 512;

struct DescriptorMessage {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
};

// Sends text, and a descriptor with it unless it is -1.
bool send_message(int socket, const std::string& text, int descriptor) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  DescriptorMessage buffer;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = buffer.control;
    message.msg_controllen = sizeof buffer.control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

[[noreturn]] void become_shim(const ShimContext& context, const std::string& path, int socket) {
  ::close(socket);
  ::setsid();
  ::prctl(PR_SET_NAME, "gridfold-shim");
  const std::size_t slash = path.find('/');
  int code = 2;
  if (slash != std::string::npos) {
    const auto name = parse_attempt(path.substr(0, slash), path.substr(slash + 1));
    if (name) code = run_shim(context, *name);
  }
  ::_exit(code);
}

void serve_request(const ShimContext& context, int socket, const std::string& path) {
  const pid_t pid = ::fork();
  if (pid == 0) become_shim(context, path, socket);
  if (pid < 0) {
    send_message(socket, path + "\ncannot fork a shim: " + std::strerror(errno), -1);
    return;
  }
  // Its pid is its own until we reap it, which comes later.
  const FileDescriptor shim(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  send_message(socket, path, shim.get());
}

}  // namespace

int run_nursery(ShimContext& context, int socket) {
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  FileDescriptor ended(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  for (;;) {
    pollfd files[] = {{socket, POLLIN, 0}, {ended.get(), POLLIN, 0}};
    if (::poll(files, 2, -1) < 0 && errno != EINTR) return 1;
    if (files[1].revents) {
      signalfd_siginfo info;
      while (::read(ended.get(), &info, sizeof info) > 0) continue;
      while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    }
    if (!files[0].revents) continue;
    char buffer[kMaxMessage];
    const ssize_t n = ::recv(socket, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;  // the backend is gone
    serve_request(context, socket, std::string(buffer, static_cast<std::size_t>(n)));
  }
}

Result<Nursery> Nursery::start(const std::string& program,
                               const std::vector<std::string>& arguments) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return from_errno(errno, "make the nursery's socket");
  }
  Nursery nursery;
  nursery.socket_ = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int file = 0; file < 3; ++file) {
    ::posix_spawn_file_actions_addopen(&actions, file, "/dev/null", file ? O_WRONLY : O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], kSocketInNursery);
  // Whatever else the daemon has open, close-on-exec or not, such as the socket
  // it listens on: held by a shim, it would outlive the daemon.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kSocketInNursery + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  // A session of its own: the terminal's interrupt is for the daemon alone.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> words = {program, "shim"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--socket", std::to_string(kSocketInNursery)});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Empty: nothing of the daemon's environment reaches a process with rights.
  char* environment[] = {nullptr};
  const int trouble = ::posix_spawn(&nursery.pid_, program.c_str(), &actions, &attributes,
                                    argv.data(), environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (trouble != 0) {
    nursery.pid_ = 0;
    return from_errno(trouble, "start " + program + " shim");
  }
  return nursery;
}

Nursery& Nursery::operator=(Nursery&& other) noexcept {
  end();
  socket_ = std::move(other.socket_);
  pid_ = std::exchange(other.pid_, 0);
  return *this;
}

Nursery::~Nursery() { end(); }

void Nursery::end() {
  socket_.reset();
  if (pid_ > 0) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  pid_ = 0;
}

Result<void> Nursery::request(const std::string& attempt) {
  if (!send_message(socket_.get(), attempt, -1)) return from_errno(errno, "ask the nursery");
  return {};
}

Result<std::optional<NurseryReply>> Nursery::reply() {
  char text[kMaxMessage];
  iovec part{text, sizeof text};
  DescriptorMessage buffer;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = buffer.control;
  message.msg_controllen = sizeof buffer.control;
  const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<NurseryReply>();
  if (n < 0) return from_errno(errno, "hear the nursery");
  if (n == 0) return unavailable("the nursery has ended");
  NurseryReply reply{.attempt = std::string(text, static_cast<std::size_t>(n))};
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    reply.shim = FileDescriptor(descriptor);
  }
  if (const std::size_t end = reply.attempt.find('\n'); end != std::string::npos) {
    reply.trouble = reply.attempt.substr(end + 1);
    reply.attempt.resize(end);
  }
  return std::optional<NurseryReply>(std::move(reply));
}

}  // namespace gridfold::local
