// One connection of the HTTP server. Included by http_server.cpp and
// http_session.cpp only: everything else stays free of Boost.
#pragma once

#include <utility>  // before Boost 1.74, whose coroutine header forgets it

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/http_server.h"
#include "api/problem.h"

namespace gridfold {

using ByteSocket = boost::asio::generic::stream_protocol::socket;
using ByteStream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;

// What every connection of a server needs of it.
struct SessionContext {
  boost::asio::io_context& io;
  const HttpServerOptions& options;
  const HttpHandler& handler;
  // Lives as long as `io` may be posted to; answers check it first.
  std::weak_ptr<void> alive;
  // The open connections. They own themselves by being listed here; all else
  // that may outlive the server holds them weakly.
  std::set<std::shared_ptr<class HttpSession>>& sessions;
  std::uint64_t& next_request;
  std::uint64_t boot;  // makes request ids differ between runs
};

enum class Gate : std::uint8_t { kOwner, kToken };  // Unix socket, TCP

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(SessionContext context, ByteSocket socket, Gate gate, std::string peer);
  void run() { wait_for_request(); }
  // Says that the server is full, and closes.
  void refuse_as_full();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using ErrorCode = boost::system::error_code;

  void wait_for_request();
  void read_header();
  void read_body();
  void on_request();
  void hand_over();
  void on_read_error(ErrorCode error);
  // The problem with this caller, if any: token, Host, Origin.
  std::optional<Problem> check_caller() const;
  HttpRequest take_request();

  void answer(HttpResponse response);
  void answer_and_close(const Problem& problem);
  void write_whole(HttpResponse response);
  void write_stream_header(HttpResponse response);
  void ask_stream();
  void on_chunk(BodyChunk chunk);
  void write_chunk(BodyChunk chunk);
  void on_answered();
  void drain();
  void close();
  bool peer_has_left();
  void audit(int status) const;

  SessionContext context_;
  ByteStream stream_;
  boost::asio::steady_timer timer_;
  Gate gate_;
  std::string peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  // Of the request in progress.
  std::string method_, target_, request_id_;
  bool caller_refused_ = false;
  bool keep_alive_ = true;
  std::shared_ptr<BodyStream> body_stream_;  // shared with the handler's pending answer
};

}  // namespace gridfold
