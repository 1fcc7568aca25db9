// One HTTP/1.1 exchange over a Unix or loopback socket, under a deadline.
// Sockets are plain POSIX; the parsing is Beast's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/client.h"

namespace gridfold {

struct CallRequest {
  std::string method;
  std::string target;  // path and query, encoded
  std::string body;
  std::string content_type;
  std::string idempotency_key;
};

struct CallResponse {
  int status = 0;
  std::string body;             // unless it was streamed
  int retry_after_seconds = 0;  // as the daemon asks
};

// A moment of the monotonic clock, in milliseconds; never() for none.
class Deadline {
 public:
  static Deadline never() { return Deadline(-1); }
  static Deadline after(Duration duration);
  // For poll(): milliseconds left, at least 0; -1 for never.
  int poll_timeout() const;
  bool is_over() const { return poll_timeout() == 0; }

 private:
  explicit Deadline(std::int64_t at) : at_ms_(at) {}
  std::int64_t at_ms_;
};

// What became of a call, for deciding whether it may be tried again.
enum class CallFault : std::uint8_t {
  kNone,
  kNobodyListens,  // the request was not sent
  kBroken,         // it may have been carried out
  kTooLate,        // the deadline is over; it may have been carried out
};

struct CallOutcome {
  CallResponse response;
  CallFault fault = CallFault::kNone;
  std::string message;  // of a fault
};

using TakeBytes = std::function<Reading(std::string_view)>;

class Connection {
 public:
  explicit Connection(const ClientOptions& options) : options_(options) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Chunked bodies go to `take` when it is set, all others into the response.
  CallOutcome call(const CallRequest& request, Deadline deadline, const TakeBytes& take = {});
  // The next call opens a new connection.
  void close();
  bool is_open() const { return descriptor_ >= 0; }

 private:
  CallOutcome open(Deadline deadline);
  std::string head_of(const CallRequest& request) const;
  CallOutcome send(std::string_view bytes, Deadline deadline);
  CallOutcome receive(Deadline deadline, const TakeBytes& take);
  CallOutcome fail(CallFault fault, std::string message);

  const ClientOptions& options_;
  int descriptor_ = -1;
};

}  // namespace gridfold
