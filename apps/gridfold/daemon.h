// The daemon as an object: the store, this machine's backend, the control loop
// on its thread, and the API on its sockets, put together.
//
//   auto daemon = Daemon::start(config, read_again);
//   if (!daemon) return report(daemon.error());
//   …   // until the object is destroyed; running tasks go on without it
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/gridfold/config.h"
#include "base/result.h"

namespace gridfold {

class Daemon {
 public:
  // Errors: kUnavailable or kConflict when another daemon has the state
  // directory, kInvalid with the configuration's field, and those of the parts.
  // `read_again` gives the configuration as its file has it now, from any thread;
  // null: there is no file.
  static Result<std::unique_ptr<Daemon>> start(
      const DaemonConfig& config, std::function<Result<DaemonConfig>()> read_again = nullptr);
  ~Daemon();

  // Takes the file over as it is now, and gives the names of what has changed;
  // on an error all stays as it is.
  Result<std::vector<std::string>> reload();

  std::uint16_t port() const;  // of TCP; 0 when there is none
  // "pc-7: 16 cores, 62.7 GiB, 8 gpu H100 (emulated)".
  std::string node_summary() const;
  // What a person should know: devices in trouble, limits that are only accounted.
  const std::vector<std::string>& notes() const;
  // What queues name and no node has.
  std::vector<std::string> queue_notes() const;
  std::int64_t running_tasks() const;
  // Asks every live job to end; live_jobs() tells when all have.
  void cancel_all();
  std::int64_t live_jobs() const;

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace gridfold
