// Requests and answers as plain values, so that handlers know nothing of the
// HTTP library and can be tested without a socket.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace gridfold {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // as sent, still percent-encoded, without the query
  std::string query;   // as sent, without the "?"
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::string peer;        // who asks, as the connection proves it: "alice", "token"
  std::string request_id;  // given by the server, repeated in the answer

  // The first header of this lower-case name, or "".
  std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};

// A piece of a body that is written as it comes.
struct BodyChunk {
  enum class Outcome : std::uint8_t {
    kMore,   // write `bytes`, ask again
    kEnded,  // write `bytes`, the body is complete
    kBroken  // the rest cannot be had: the connection is cut, so that the
             // client does not take a part for the whole
  };
  std::string bytes;
  Outcome outcome = Outcome::kMore;
  Duration ask_again_after{};  // kMore: when nothing is there at the moment
};

// A body that comes in pieces. The server asks for the next piece only when
// the last is written, so a slow reader slows nobody else.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // `done` is called exactly once, from any thread.
  virtual void next(std::function<void(BodyChunk)> done) = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<BodyStream> stream;  // instead of `body`; the server and its timers share it
};

// Called exactly once, from any thread.
using Respond = std::function<void(HttpResponse)>;
using HttpHandler = std::function<void(HttpRequest, Respond)>;
// Runs the work after the time, on the server's thread.
using Later = std::function<void(Duration, std::function<void()>)>;

}  // namespace gridfold
