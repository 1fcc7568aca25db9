// An HTTP/1.1 server for this machine: a Unix socket that only its owner can
// open, and loopback TCP with a token. Requests go to one handler as plain
// values (api/http_message.h) and may be answered later from any thread.
//
//   auto server = HttpServer::open(options);
//   (*server)->start(handler);
//
// All sockets are served by one thread of the server's own. Every verb and
// path passes the same gate first: token (TCP), Host, Origin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/http_message.h"
#include "base/result.h"

namespace gridfold {

// One line of the audit log: each refused caller, each request that may
// change something.
struct AuditEntry {
  std::string peer;
  std::string method;
  std::string target;
  int status = 0;
  std::string request_id;
};

struct HttpServerOptions {
  std::string unix_socket;                   // path; empty: none. Made with mode 0600
  std::string listen;                        // "127.0.0.1:0"; empty: none. Loopback only
  std::string token;                         // asked of every TCP request
  std::size_t header_limit = 16 * 1024;      // bytes
  std::size_t body_limit = 4 * 1024 * 1024;  // bytes
  std::size_t max_connections = 1024;
  Duration idle_timeout = Duration::seconds(60);    // between requests
  Duration header_timeout = Duration::seconds(10);  // first byte to last of the header
  Duration body_timeout = Duration::seconds(30);
  Duration write_timeout = Duration::seconds(30);
  std::function<void(const AuditEntry&)> audit;  // called on the server's thread
};

class HttpServer {
 public:
  // Binds the sockets. kInvalid for a wider address, kConflict when another
  // daemon answers there.
  static Result<std::unique_ptr<HttpServer>> open(HttpServerOptions options);
  // Closes all connections and waits for the thread. Answers that come later
  // are dropped.
  ~HttpServer();

  void start(HttpHandler handler);
  // The TCP port in use; 0 without `listen`.
  std::uint16_t port() const;
  // A timer of the server; usable from before start() until destruction.
  Later later();

 private:
  struct State;
  explicit HttpServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // shared with answers that may come after the end
};

}  // namespace gridfold
