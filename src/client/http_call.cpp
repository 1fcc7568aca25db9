#include "client/http_call.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace gridfold {
namespace {

namespace http = boost::beast::http;

constexpr std::uint64_t kMaxAnswerBytes = 256u << 20;

std::int64_t monotonic_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

enum class Wait : std::uint8_t { kReady, kTooLate, kFailed };

Wait wait_for(int descriptor, short events, Deadline deadline) {
  while (true) {
    pollfd entry{descriptor, events, 0};
    const int ready = poll(&entry, 1, deadline.poll_timeout());
    if (ready > 0) return Wait::kReady;
    if (ready == 0) return Wait::kTooLate;
    if (errno != EINTR) return Wait::kFailed;
  }
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family = AF_UNIX;
};

Result<Address> address_of(const ClientOptions& options) {
  Address address;
  if (!options.unix_socket.empty()) {
    sockaddr_un unix_address{};
    if (options.unix_socket.size() >= sizeof unix_address.sun_path)
      return invalid("the socket path " + options.unix_socket + " is longer than 107 bytes");
    unix_address.sun_family = AF_UNIX;
    std::memcpy(unix_address.sun_path, options.unix_socket.c_str(), options.unix_socket.size() + 1);
    std::memcpy(&address.storage, &unix_address, sizeof unix_address);
    address.size = sizeof unix_address;
    return address;
  }
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(options.port);
  if (inet_pton(AF_INET, options.host.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.size = sizeof v4;
    address.family = AF_INET;
  } else if (inet_pton(AF_INET6, options.host.c_str(), &v6.sin6_addr) == 1) {
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.size = sizeof v6;
    address.family = AF_INET6;
  } else {
    return invalid("\"" + options.host + "\" is not a numeric address");
  }
  return address;
}

std::string where(const ClientOptions& options) {
  if (!options.unix_socket.empty()) return options.unix_socket;
  return options.host + ":" + std::to_string(options.port);
}

// A header value as it may stand in a request: no control bytes.
std::string header_safe(std::string_view text) {
  std::string safe(text);
  std::erase_if(safe, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return safe;
}

}  // namespace

Deadline Deadline::after(Duration duration) {
  return Deadline(monotonic_ms() + std::max<std::int64_t>(duration.ns / 1'000'000, 1));
}

int Deadline::poll_timeout() const {
  if (at_ms_ < 0) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(at_ms_ - monotonic_ms(), 0, 1 << 30));
}

void Connection::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

CallOutcome Connection::fail(CallFault fault, std::string message) {
  close();
  return {{}, fault, std::move(message)};
}

CallOutcome Connection::open(Deadline deadline) {
  const auto address = address_of(options_);
  if (!address) return fail(CallFault::kNobodyListens, address.error().message);
  descriptor_ = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) return fail(CallFault::kNobodyListens, std::strerror(errno));
  const auto* target = reinterpret_cast<const sockaddr*>(&address->storage);
  int error = connect(descriptor_, target, address->size) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EAGAIN) {
    if (wait_for(descriptor_, POLLOUT, deadline) != Wait::kReady)
      return fail(CallFault::kTooLate, "nobody answered at " + where(options_));
    socklen_t size = sizeof error;
    getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0)
    return fail(CallFault::kNobodyListens, where(options_) + ": " + std::strerror(error));
  return {};
}

std::string Connection::head_of(const CallRequest& request) const {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) head.append(name).append(": ").append(header_safe(value)).append("\r\n");
  };
  add("Accept", "application/json");
  if (!options_.token.empty()) add("Authorization", "Bearer " + options_.token);
  add("Content-Type", request.content_type);
  add("Idempotency-Key", request.idempotency_key);
  if (request.method != "GET") add("Content-Length", std::to_string(request.body.size()));
  return head + "\r\n";
}

CallOutcome Connection::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (wait_for(descriptor_, POLLOUT, deadline) != Wait::kReady)
        return fail(CallFault::kTooLate, "the daemon did not take the request in time");
    } else if (sent < 0 && errno == EPIPE) {
      return {};  // refused half-way: the answer says why
    } else if (sent < 0 && errno != EINTR) {
      return fail(CallFault::kBroken, std::strerror(errno));
    }
  }
  return {};
}

CallOutcome Connection::receive(Deadline deadline, const TakeBytes& take) {
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(take ? boost::optional<std::uint64_t>() : kMaxAnswerBytes);
  bool stopped = false;
  // Kept here: the parser holds a reference to it.
  auto on_chunk = [&](std::uint64_t, boost::beast::string_view piece,
                      boost::system::error_code& error) {
    if (take({piece.data(), piece.size()}) == Reading::kStop) {
      stopped = true;
      error = boost::system::errc::make_error_code(boost::system::errc::operation_canceled);
    }
    return piece.size();
  };
  if (take) parser.on_chunk_body(on_chunk);

  std::string pending;  // received and not yet parsed
  std::array<char, 65536> buffer;
  while (!parser.is_done()) {
    switch (wait_for(descriptor_, POLLIN, deadline)) {
      case Wait::kReady: break;
      case Wait::kTooLate: return fail(CallFault::kTooLate, "the daemon did not answer in time");
      case Wait::kFailed: return fail(CallFault::kBroken, std::strerror(errno));
    }
    const auto got = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return fail(CallFault::kBroken, std::strerror(errno));
    if (got == 0) return fail(CallFault::kBroken, "the daemon closed the connection");
    pending.append(buffer.data(), static_cast<std::size_t>(got));
    boost::system::error_code error;
    const auto used = parser.put(boost::asio::buffer(pending), error);
    pending.erase(0, used);
    if (stopped) break;
    if (error && error != http::error::need_more)
      return fail(CallFault::kBroken, "the answer is not HTTP: " + error.message());
  }
  CallOutcome outcome;
  const auto& message = parser.get();
  outcome.response.status = static_cast<int>(message.result_int());
  outcome.response.retry_after_seconds =
      std::atoi(std::string(message[http::field::retry_after]).c_str());
  if (stopped || !message.keep_alive()) close();
  outcome.response.body = std::move(parser.release().body());
  return outcome;
}

CallOutcome Connection::call(const CallRequest& request, Deadline deadline, const TakeBytes& take) {
  if (!is_open())
    if (auto opened = open(deadline); opened.fault != CallFault::kNone) return opened;
  const auto sent = send(head_of(request) + request.body, deadline);
  if (sent.fault != CallFault::kNone) return sent;
  return receive(deadline, take);
}

}  // namespace gridfold
