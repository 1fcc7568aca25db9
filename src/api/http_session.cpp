#include "api/http_session.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>

#include "api/access.h"

namespace gridfold {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

std::chrono::nanoseconds to_chrono(Duration d) { return std::chrono::nanoseconds(d.ns); }
std::string text(beast::string_view view) { return {view.data(), view.size()}; }

std::string hex_id(std::uint64_t boot, std::uint64_t number) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id(24, '0');
  for (int i = 15; i >= 0; --i, boot >>= 4) id[static_cast<std::size_t>(i)] = kHex[boot & 15];
  for (int i = 23; i >= 16; --i, number >>= 4) id[static_cast<std::size_t>(i)] = kHex[number & 15];
  return id;
}

template <class Message>
void set_common_fields(Message& message, const HttpResponse& response,
                       std::string_view request_id) {
  message.set(http::field::content_type, beast::string_view(response.content_type));
  message.set("X-Request-Id", beast::string_view(request_id.data(), request_id.size()));
  message.set("X-Content-Type-Options", "nosniff");
  message.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : response.headers) message.set(name, value);
}

bool changes_something(std::string_view method) { return method != "GET" && method != "HEAD"; }

Problem read_problem(const boost::system::error_code& error, const HttpServerOptions& options) {
  if (error == http::error::header_limit) {
    Problem problem{
        431, "HeaderTooLarge", "The header is too large",
        "a request's header may have " + std::to_string(options.header_limit) + " bytes"};
    problem.params = {{"limit_bytes", std::to_string(options.header_limit)}};
    return problem;
  }
  if (error == http::error::body_limit) {
    Problem problem{413, "BodyTooLarge", "The body is too large",
                    "a request's body may have " + std::to_string(options.body_limit) + " bytes"};
    problem.params = {{"limit_bytes", std::to_string(options.body_limit)}};
    problem.hint = "send the jobs in several smaller batches";
    return problem;
  }
  return {400, "BadHttp", "The request is not HTTP/1.1", error.message()};
}

}  // namespace

HttpSession::HttpSession(SessionContext context, ByteSocket socket, Gate gate, std::string peer)
    : context_(std::move(context)),
      stream_(std::move(socket)),
      timer_(context_.io),
      gate_(gate),
      peer_(std::move(peer)),
      buffer_(context_.options.header_limit + 64 * 1024) {}

void HttpSession::refuse_as_full() {
  request_id_ = hex_id(context_.boot, ++context_.next_request);
  Problem problem{503, "TooManyConnections", "The daemon has too many connections",
                  "at most " + std::to_string(context_.options.max_connections) +
                      " connections are served at once"};
  problem.retry_after_seconds = 1;
  answer_and_close(problem);
}

// --- Reading ---

void HttpSession::wait_for_request() {
  method_.clear();
  target_.clear();
  request_id_ = hex_id(context_.boot, ++context_.next_request);
  caller_refused_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(context_.options.header_limit));
  parser_->body_limit(context_.options.body_limit);
  if (buffer_.size() > 0) return read_header();  // a pipelined request
  stream_.expires_after(to_chrono(context_.options.idle_timeout));
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](ErrorCode error, std::size_t size) {
                            if (error) return self->close();
                            self->buffer_.commit(size);
                            self->read_header();
                          });
}

void HttpSession::read_header() {
  stream_.expires_after(to_chrono(context_.options.header_timeout));
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](ErrorCode error, std::size_t) {
                            if (error) return self->on_read_error(error);
                            self->on_request();
                          });
}

// The header is there. A caller that is not allowed is answered before any of
// the body is read.
void HttpSession::on_request() {
  method_ = text(parser_->get().method_string());
  target_ = text(parser_->get().target());
  if (const auto problem = check_caller()) {
    caller_refused_ = true;
    return answer_and_close(*problem);
  }
  if (!target_.starts_with('/'))
    return answer_and_close({400, "BadHttp", "The request is not HTTP/1.1",
                             "the request target must be a path that begins with /"});
  if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = shared_from_this()](ErrorCode error, std::size_t) {
                        if (error) return self->close();
                        self->read_body();
                      });
    return;
  }
  read_body();
}

void HttpSession::read_body() {
  stream_.expires_after(to_chrono(context_.options.body_timeout));
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](ErrorCode error, std::size_t) {
                     if (error) return self->on_read_error(error);
                     self->hand_over();
                   });
}

// The answer may come from any thread and after the server's end.
void HttpSession::hand_over() {
  stream_.expires_never();  // the handler may take its time
  // HEAD is not served: its refusal has a body, which the client may not expect.
  keep_alive_ = parser_->get().keep_alive() && method_ != "HEAD";
  context_.handler(take_request(), [weak = weak_from_this(), alive = context_.alive,
                                    &io = context_.io](HttpResponse response) {
    const auto server = alive.lock();
    if (!server) return;
    asio::post(io, [weak, response = std::move(response)]() mutable {
      if (const auto session = weak.lock()) session->answer(std::move(response));
    });
  });
}

void HttpSession::on_read_error(ErrorCode error) {
  const bool silent = error == http::error::end_of_stream || error == beast::error::timeout ||
                      error == http::error::partial_message ||
                      error.category() == asio::error::get_system_category();
  if (silent) return close();
  answer_and_close(read_problem(error, context_.options));
}

std::optional<Problem> HttpSession::check_caller() const {
  const auto& fields = parser_->get();
  if (gate_ == Gate::kToken) {
    const auto header = text(fields[http::field::authorization]);
    if (!tokens_equal(bearer_token(header), context_.options.token)) {
      Problem problem{401, "Unauthorised", "The caller is not known",
                      header.empty() ? "the request carries no token" : "the token is wrong"};
      problem.hint = "send the header \"Authorization: Bearer TOKEN\" with the daemon's token file";
      return problem;
    }
  }
  const auto host = text(fields[http::field::host]);
  if (fields.count(http::field::host) != 1 || !host_allowed(host)) {
    Problem problem{403, "HostNotAllowed", "The Host header is not allowed",
                    "the Host \"" + host + "\" is not this machine's loopback"};
    problem.hint = "reach the daemon as localhost or 127.0.0.1";
    return problem;
  }
  const auto origin = text(fields[http::field::origin]);
  if (fields.count(http::field::origin) > 1 || !origin_allowed(origin, host))
    return Problem{403, "OriginNotAllowed", "The Origin header is not allowed",
                   "a page of \"" + origin + "\" may not speak to this daemon"};
  return std::nullopt;
}

HttpRequest HttpSession::take_request() {
  auto message = parser_->release();
  HttpRequest request;
  request.method = method_;
  const auto question = target_.find('?');
  request.path = target_.substr(0, question);
  if (question != std::string::npos) request.query = target_.substr(question + 1);
  for (const auto& field : message) {
    auto name = text(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers.emplace_back(std::move(name), text(field.value()));
  }
  request.body = std::move(message.body());
  request.peer = peer_;
  request.request_id = request_id_;
  return request;
}

// --- Answering ---

void HttpSession::answer(HttpResponse response) {
  audit(response.status);
  if (response.stream) return write_stream_header(std::move(response));
  write_whole(std::move(response));
}

void HttpSession::answer_and_close(const Problem& problem) {
  keep_alive_ = false;
  answer(to_response(problem, request_id_));
}

void HttpSession::write_whole(HttpResponse response) {
  auto message = std::make_shared<http::response<http::string_body>>(
      static_cast<http::status>(response.status), 11);
  set_common_fields(*message, response, request_id_);
  message->keep_alive(keep_alive_);
  message->body() = std::move(response.body);
  message->prepare_payload();
  stream_.expires_after(to_chrono(context_.options.write_timeout));
  http::async_write(stream_, *message,
                    [self = shared_from_this(), message](ErrorCode error, std::size_t) {
                      if (error) return self->close();
                      self->on_answered();
                    });
}

void HttpSession::on_answered() {
  if (keep_alive_) return wait_for_request();
  // Closing with bytes unread would reset the connection and may take the
  // answer with it; so the rest of the request is read away for a moment.
  ErrorCode ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  buffer_.clear();
  stream_.expires_after(std::chrono::seconds(1));
  drain();
}

void HttpSession::drain() {
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](ErrorCode error, std::size_t) {
                            error ? self->close() : self->drain();
                          });
}

void HttpSession::write_stream_header(HttpResponse response) {
  body_stream_ = response.stream;
  auto message = std::make_shared<http::response<http::empty_body>>(
      static_cast<http::status>(response.status), 11);
  set_common_fields(*message, response, request_id_);
  message->keep_alive(keep_alive_);
  message->chunked(true);
  auto serializer = std::make_shared<http::response_serializer<http::empty_body>>(*message);
  stream_.expires_after(to_chrono(context_.options.write_timeout));
  http::async_write_header(
      stream_, *serializer,
      [self = shared_from_this(), message, serializer](ErrorCode error, std::size_t) {
        if (error) return self->close();
        self->stream_.expires_never();
        self->ask_stream();
      });
}

void HttpSession::ask_stream() {
  body_stream_->next(
      [weak = weak_from_this(), alive = context_.alive, &io = context_.io](BodyChunk chunk) {
        const auto server = alive.lock();
        if (!server) return;
        asio::post(io, [weak, chunk = std::move(chunk)]() mutable {
          if (const auto session = weak.lock()) session->on_chunk(std::move(chunk));
        });
      });
}

void HttpSession::on_chunk(BodyChunk chunk) {
  if (chunk.outcome == BodyChunk::Outcome::kBroken) return close();
  if (!chunk.bytes.empty() || chunk.outcome == BodyChunk::Outcome::kEnded)
    return write_chunk(std::move(chunk));
  // Nothing yet. A reader that has gone is noticed here, not at the next write,
  // which may never come.
  if (peer_has_left()) return close();
  timer_.expires_after(to_chrono(chunk.ask_again_after));
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error) self->ask_stream();
  });
}

void HttpSession::write_chunk(BodyChunk chunk) {
  const bool last = chunk.outcome == BodyChunk::Outcome::kEnded;
  auto bytes = std::make_shared<std::string>();
  if (!chunk.bytes.empty()) {
    char size[24];
    const int length = std::snprintf(size, sizeof size, "%zx\r\n", chunk.bytes.size());
    bytes->append(size, static_cast<std::size_t>(length)).append(chunk.bytes).append("\r\n");
  }
  if (last) bytes->append("0\r\n\r\n");
  stream_.expires_after(to_chrono(context_.options.write_timeout));
  asio::async_write(stream_, asio::buffer(*bytes),
                    [self = shared_from_this(), bytes, last](ErrorCode error, std::size_t) {
                      if (error) return self->close();
                      self->stream_.expires_never();
                      if (!last) return self->ask_stream();
                      self->body_stream_.reset();
                      self->on_answered();
                    });
}

void HttpSession::close() {
  timer_.cancel();
  body_stream_.reset();
  stream_.close();
  context_.sessions.erase(shared_from_this());
}

bool HttpSession::peer_has_left() {
  char byte = 0;
  return recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void HttpSession::audit(int status) const {
  if (!context_.options.audit) return;
  if (caller_refused_ || changes_something(method_))
    context_.options.audit({peer_, method_, target_, status, request_id_});
}

}  // namespace gridfold
