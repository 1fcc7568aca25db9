// The nursery: a small process that forks shims for a backend.
//
// Requests and replies are messages on a SOCK_SEQPACKET socket. A request is
// an attempt's path, "<job uid>/<index>.<attempt>". A reply repeats it; with
// it comes a pidfd of the shim, or, after a newline, why there is none.
#pragma once

#include <optional>
#include <string>

#include "backends/local/files.h"
#include "backends/local/shim.h"
#include "base/result.h"

namespace gridfold::local {

// The nursery's side: serves until the other side closes.
int run_nursery(ShimContext& context, int socket);

struct NurseryReply {
  std::string attempt;
  FileDescriptor shim;  // a pidfd; not open on failure
  std::string trouble;
};

// The backend's side. One thread.
class Nursery {
 public:
  // Starts `program shim …`. The process is a child of this one.
  static Result<Nursery> start(const std::string& program,
                               const std::vector<std::string>& arguments);
  Nursery() = default;
  Nursery(Nursery&& other) noexcept { *this = std::move(other); }
  Nursery& operator=(Nursery&& other) noexcept;
  // Closes the socket and waits for the nursery, not its shims, to end.
  ~Nursery();

  bool is_running() const { return socket_.is_open(); }
  int socket() const { return socket_.get(); }
  Result<void> request(const std::string& attempt);
  // The next reply, without waiting; empty when there is none yet. An error
  // means that the nursery is gone.
  Result<std::optional<NurseryReply>> reply();

 private:
  void end();

  FileDescriptor socket_;
  pid_t pid_ = 0;
};

}  // namespace gridfold::local
