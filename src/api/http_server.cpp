#include "api/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "api/http_session.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "api/access.h"

namespace gridfold {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using LocalProtocol = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;

// The name of the process at the other end of a Unix socket.
std::string local_peer(int descriptor) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return "unknown";
  return "uid:" + std::to_string(credentials.uid);
}

// Children of the daemon outlive it and must not keep its sockets open: asio
// opens them without this.
template <class Socket>
void close_on_exec(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

// A listening socket that is closed on exec from its first moment.
template <class Acceptor, class Protocol>
void open_acceptor(Acceptor& acceptor, const Protocol& protocol, error_code& error) {
  const int descriptor = socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    error.assign(errno, boost::system::system_category());
  else
    acceptor.assign(protocol, descriptor, error);
}

bool somebody_listens(const std::string& path) {
  asio::io_context io;
  LocalProtocol::socket probe(io);
  error_code error;
  probe.connect(LocalProtocol::endpoint(path), error);
  return !error;
}

// For longer than a second: a daemon that was killed just as it started a child
// leaves its socket to that child until the child has closed what it inherited.
bool somebody_answers(const std::string& path) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  for (int tried = 1; somebody_listens(path); ++tried) {
    if (tried == 100) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

struct HttpServer::State {
  HttpServerOptions options;
  HttpHandler handler;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  std::optional<LocalProtocol::acceptor> local;
  std::optional<Tcp::acceptor> tcp;
  asio::steady_timer accept_pause{io};
  std::set<std::shared_ptr<HttpSession>> sessions;
  std::uint64_t next_request = 0;
  std::uint64_t boot = 0;
  std::weak_ptr<void> self;
  std::thread thread;

  SessionContext context() { return {io, options, handler, self, sessions, next_request, boot}; }
  Result<void> bind_local();
  Result<void> bind_tcp();
  template <class Acceptor>
  void accept(Acceptor& acceptor, Gate gate);
  void serve(ByteSocket socket, Gate gate, std::string peer);
};

// The directory's mode guards the moment between bind and chmod: the umask
// covers it too.
Result<void> HttpServer::State::bind_local() {
  if (options.unix_socket.empty()) return {};
  if (options.unix_socket.size() >= sizeof(sockaddr_un{}.sun_path)) {
    Error error = invalid("the socket path " + options.unix_socket + " is longer than 107 bytes");
    error.field = "state";
    error.hint = "choose a shorter state directory";
    return error;
  }
  if (somebody_answers(options.unix_socket)) {
    Error error = conflict("another daemon answers on " + options.unix_socket);
    error.hint = "stop it first, or choose another state directory with --state";
    return error;
  }
  unlink(options.unix_socket.c_str());
  const mode_t before = umask(0177);
  error_code error;
  local.emplace(io);
  open_acceptor(*local, LocalProtocol(), error);
  if (!error) local->bind(LocalProtocol::endpoint(options.unix_socket), error);
  umask(before);
  if (!error) local->listen(asio::socket_base::max_listen_connections, error);
  if (error) return from_errno(error.value(), "listen on " + options.unix_socket);
  return {};
}

Result<void> HttpServer::State::bind_tcp() {
  if (options.listen.empty()) return {};
  const auto address = parse_listen_address(options.listen);
  if (!address) return address.error();
  if (options.token.empty())
    return invalid("a TCP address is served only with a token, and none is set");
  error_code error;
  const Tcp::endpoint endpoint(asio::ip::make_address(address->host, error), address->port);
  if (error) return invalid("\"" + address->host + "\" is not an address");
  tcp.emplace(io);
  open_acceptor(*tcp, endpoint.protocol(), error);
  if (!error) tcp->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) tcp->bind(endpoint, error);
  if (!error) tcp->listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    Error in_use = conflict("the address " + options.listen + " is in use");
    in_use.hint = "choose another port, or port 0 for any free one";
    return in_use;
  }
  if (error) return from_errno(error.value(), "listen on " + options.listen);
  return {};
}

template <class Acceptor>
void HttpServer::State::accept(Acceptor& acceptor, Gate gate) {
  acceptor.async_accept([this, &acceptor, gate](error_code error, auto socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Out of descriptors, most likely: wait for some to be closed.
      accept_pause.expires_after(std::chrono::milliseconds(100));
      accept_pause.async_wait([this, &acceptor, gate](error_code stopped) {
        if (!stopped) accept(acceptor, gate);
      });
      return;
    }
    close_on_exec(socket);
    auto peer = gate == Gate::kOwner ? local_peer(socket.native_handle()) : std::string("token");
    serve(ByteSocket(std::move(socket)), gate, std::move(peer));
    accept(acceptor, gate);
  });
}

void HttpServer::State::serve(ByteSocket socket, Gate gate, std::string peer) {
  const bool full = sessions.size() >= options.max_connections;
  const auto session =
      std::make_shared<HttpSession>(context(), std::move(socket), gate, std::move(peer));
  sessions.insert(session);
  full ? session->refuse_as_full() : session->run();
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpServerOptions options) {
  const auto state = std::make_shared<State>();
  state->options = std::move(options);
  state->self = state;
  std::random_device random;
  state->boot = (std::uint64_t{random()} << 32) | random();
  if (auto bound = state->bind_local(); !bound) return bound.error();
  if (auto bound = state->bind_tcp(); !bound) return bound.error();
  return std::unique_ptr<HttpServer>(new HttpServer(state));
}

HttpServer::HttpServer(std::shared_ptr<State> state) : state_(std::move(state)) {}

void HttpServer::start(HttpHandler handler) {
  state_->handler = std::move(handler);
  if (state_->local) state_->accept(*state_->local, Gate::kOwner);
  if (state_->tcp) state_->accept(*state_->tcp, Gate::kToken);
  state_->thread = std::thread([state = state_.get()] { state->io.run(); });
}

HttpServer::~HttpServer() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
  if (state_->local) unlink(state_->options.unix_socket.c_str());
}

std::uint16_t HttpServer::port() const {
  error_code error;
  return state_->tcp ? state_->tcp->local_endpoint(error).port() : std::uint16_t{0};
}

Later HttpServer::later() {
  return [weak = std::weak_ptr(state_)](Duration after, std::function<void()> work) {
    const auto state = weak.lock();
    if (!state) return;
    const auto timer = std::make_shared<asio::steady_timer>(state->io);
    timer->expires_after(std::chrono::nanoseconds(after.ns));
    timer->async_wait([timer, work = std::move(work)](error_code error) {
      if (!error) work();
    });
  };
}

}  // namespace gridfold
