// The server on real sockets, spoken to byte by byte.
#include "api/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "api/access.h"

namespace gridfold {
namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

// A raw connection with a time limit on reading.
class Wire {
 public:
  explicit Wire(const std::string& path) : descriptor_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Wire(std::uint16_t port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Wire() { close(descriptor_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool connected() const { return connected_; }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Until the text has come, or the peer closed, or 5 s.
  std::string read_until(std::string_view text) {
    while (received_.find(text) == std::string::npos) {
      pollfd entry{descriptor_, POLLIN, 0};
      if (poll(&entry, 1, 5000) <= 0) break;
      char buffer[4096];
      const auto got = recv(descriptor_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        closed_ = true;
        break;
      }
      received_.append(buffer, static_cast<std::size_t>(got));
    }
    return received_;
  }
  std::string read_to_end() { return read_until("\x01 never"); }
  bool closed() const { return closed_; }
  void clear() { received_.clear(); }

 private:
  int descriptor_;
  bool connected_ = false;
  bool closed_ = false;
  std::string received_;
};

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gridfold-http-XXXXXX";
    folder_ = mkdtemp(name);
    options_.unix_socket = folder_ + "/s";
    options_.listen = "127.0.0.1:0";
    options_.token = kToken;
    options_.audit = [this](const AuditEntry& entry) {
      const std::lock_guard lock(mutex_);
      audited_.push_back(entry);
    };
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void start(HttpHandler handler = {}) {
    auto opened = HttpServer::open(options_);
    ASSERT_TRUE(opened) << opened.error().describe();
    server_ = std::move(*opened);
    if (!handler)
      handler = [this](HttpRequest request, Respond respond) {
        ++handled_;
        HttpResponse response;
        response.body = request.method + " " + request.path + " " + request.body;
        respond(std::move(response));
      };
    server_->start(std::move(handler));
  }
  std::size_t audited() {
    const std::lock_guard lock(mutex_);
    return audited_.size();
  }
  static std::string get(const std::string& headers, const std::string& method = "GET") {
    return method + " /x HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n";
  }

  std::string folder_;
  HttpServerOptions options_;
  std::unique_ptr<HttpServer> server_;
  std::atomic<int> handled_{0};
  std::mutex mutex_;
  std::vector<AuditEntry> audited_;  // guarded by mutex_
};

TEST_F(HttpServerTest, AnswersOnTheSocketThatOnlyItsOwnerCanOpen) {
  start();
  struct stat status {};
  ASSERT_EQ(stat(options_.unix_socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  Wire wire(options_.unix_socket);
  wire.write("POST /a?b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
  const auto first = wire.read_until("POST /a hi");
  EXPECT_TRUE(first.starts_with("HTTP/1.1 200")) << first;
  EXPECT_NE(first.find("X-Request-Id: "), std::string::npos);
  wire.clear();  // the connection is kept
  wire.write(get("Host: localhost\r\n"));
  EXPECT_NE(wire.read_to_end().find("GET /x"), std::string::npos);
}

// F22: without the token every verb is refused and leaves an audit line.
TEST_F(HttpServerTest, EveryVerbNeedsTheTokenOverTcp) {
  start();
  const std::string host = "Host: 127.0.0.1\r\n";
  std::size_t asked = 0;
  for (const char* verb :
       {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"})
    for (const std::string header :
         {"", "Authorization: Bearer wrong\r\n", "Authorization: Bearer \r\n",
          "Authorization: Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\r\n",
          "Origin: http://evil.example\r\n"}) {
      Wire wire(server_->port());
      wire.write(get(host + header, verb));
      EXPECT_TRUE(wire.read_to_end().starts_with("HTTP/1.1 401")) << verb << " " << header;
      ++asked;
    }
  EXPECT_EQ(handled_, 0);
  EXPECT_EQ(audited(), asked);
  Wire wire(server_->port());
  wire.write(get(host + "Authorization: Bearer " + kToken + "\r\n"));
  EXPECT_TRUE(wire.read_to_end().starts_with("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, HostAndOriginAreCheckedOnEveryVerb) {
  start();
  const auto token = "Authorization: Bearer " + std::string(kToken) + "\r\n";
  for (const char* verb : {"GET", "POST", "DELETE", "OPTIONS"}) {
    for (const std::string headers :
         {"Host: evil.example\r\n", "Host: localhost\r\nHost: evil.example\r\n", "",
          "Host: localhost\r\nOrigin: http://evil.example\r\n",
          "Host: localhost\r\nOrigin: null\r\n"}) {
      Wire tcp(server_->port());
      tcp.write(get(token + headers, verb));
      EXPECT_TRUE(tcp.read_to_end().starts_with("HTTP/1.1 403")) << verb << " " << headers;
      Wire local(options_.unix_socket);
      local.write(get(headers, verb));
      EXPECT_TRUE(local.read_to_end().starts_with("HTTP/1.1 403")) << verb << " " << headers;
    }
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, LargeHeadersAndBodiesAreRefused) {
  options_.body_limit = 1000;
  start();
  Wire header(options_.unix_socket);
  header.write("GET /x HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(header.read_to_end().starts_with("HTTP/1.1 431"));
  Wire body(options_.unix_socket);
  body.write("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n" +
             std::string(1001, 'b'));
  EXPECT_TRUE(body.read_to_end().starts_with("HTTP/1.1 413"));
  Wire chunked(options_.unix_socket);
  chunked.write("POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 20; ++i) chunked.write("64\r\n" + std::string(100, 'c') + "\r\n");
  EXPECT_TRUE(chunked.read_to_end().starts_with("HTTP/1.1 413"));
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, SlowSendersAreCutOff) {
  options_.header_timeout = Duration::milliseconds(200);
  options_.body_timeout = Duration::milliseconds(200);
  options_.idle_timeout = Duration::milliseconds(300);
  start();
  Wire header(options_.unix_socket), body(options_.unix_socket), idle(options_.unix_socket);
  header.write("GET /x HTTP/1.1\r\nHost:");
  body.write("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  header.read_to_end();
  body.read_to_end();
  idle.read_to_end();
  EXPECT_TRUE(header.closed());
  EXPECT_TRUE(body.closed());
  EXPECT_TRUE(idle.closed());
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, WhatIsNotHttpIsRefused) {
  start();
  for (const char* text :
       {"hello\r\n\r\n", "GET /x HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"}) {
    Wire wire(options_.unix_socket);
    wire.write(text);
    EXPECT_TRUE(wire.read_to_end().starts_with("HTTP/1.1 400")) << text;
  }
  Wire absolute(options_.unix_socket);
  absolute.write("GET http://localhost/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(absolute.read_to_end().starts_with("HTTP/1.1 400"));
  Wire smuggled(options_.unix_socket);
  smuggled.write(
      "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "0\r\n\r\n");
  EXPECT_TRUE(smuggled.read_to_end().starts_with("HTTP/1.1 400"));
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, ConnectionsAreCounted) {
  options_.max_connections = 2;
  start();
  Wire first(options_.unix_socket), second(options_.unix_socket);
  first.write(get("Host: localhost\r\n"));
  first.read_to_end();
  Wire third(options_.unix_socket);
  third.write("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  third.read_until("GET /x");
  Wire fourth(options_.unix_socket);
  EXPECT_TRUE(fourth.read_to_end().starts_with("HTTP/1.1 503"));
}

TEST_F(HttpServerTest, ABodyMayComeInPiecesAndFromAnotherThread) {
  struct Counting : BodyStream, std::enable_shared_from_this<Counting> {
    std::atomic<int> asked{0};
    void next(std::function<void(BodyChunk)> done) override {
      std::thread([self = shared_from_this(), done] {
        const int n = ++self->asked;
        if (n == 2) return done({{}, BodyChunk::Outcome::kMore, Duration::milliseconds(10)});
        done({std::to_string(n), n == 4 ? BodyChunk::Outcome::kEnded : BodyChunk::Outcome::kMore});
      }).detach();
    }
  };
  start([](HttpRequest, Respond respond) {
    HttpResponse response;
    response.stream = std::make_shared<Counting>();
    respond(std::move(response));
  });
  Wire wire(options_.unix_socket);
  wire.write(get("Host: localhost\r\n"));
  const auto answer = wire.read_to_end();
  EXPECT_NE(answer.find("Transfer-Encoding: chunked"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("1\r\n1\r\n1\r\n3\r\n1\r\n4\r\n0\r\n\r\n")) << answer;
}

TEST_F(HttpServerTest, ABrokenBodyIsNotTakenForTheWhole) {
  struct Broken : BodyStream {
    int asked = 0;
    void next(std::function<void(BodyChunk)> done) override {
      done(asked++ == 0 ? BodyChunk{"part"} : BodyChunk{{}, BodyChunk::Outcome::kBroken});
    }
  };
  start([](HttpRequest, Respond respond) {
    HttpResponse response;
    response.stream = std::make_shared<Broken>();
    respond(std::move(response));
  });
  Wire wire(options_.unix_socket);
  wire.write(get("Host: localhost\r\n"));
  EXPECT_TRUE(wire.read_to_end().ends_with("4\r\npart\r\n"));
}

TEST_F(HttpServerTest, ARequestUnansweredAtTheEndIsDropped) {
  std::mutex mutex;
  std::vector<Respond> waiting;
  start([&](HttpRequest, Respond respond) {
    const std::lock_guard lock(mutex);
    waiting.push_back(std::move(respond));
  });
  Wire wire(options_.unix_socket);
  wire.write(get("Host: localhost\r\n"));
  while (true) {
    const std::lock_guard lock(mutex);
    if (!waiting.empty()) break;
  }
  const auto later = server_->later();
  server_.reset();
  waiting.front()({});  // nobody is there to hear it
  later(Duration::milliseconds(1), [] { FAIL(); });
  EXPECT_EQ(wire.read_to_end(), "");
}

TEST_F(HttpServerTest, RefusesAWiderAddressAndAMissingToken) {
  options_.listen = "0.0.0.0:0";
  EXPECT_EQ(HttpServer::open(options_).error().kind, ErrorKind::kInvalid);
  options_.listen = "127.0.0.1:0";
  options_.token.clear();
  EXPECT_EQ(HttpServer::open(options_).error().kind, ErrorKind::kInvalid);
}

TEST_F(HttpServerTest, ASecondDaemonIsRefusedAndAStaleSocketIsNot) {
  start();
  options_.listen.clear();
  EXPECT_EQ(HttpServer::open(options_).error().kind, ErrorKind::kConflict);
  server_.reset();
  const int stale = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options_.unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(stale, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(stale);
  EXPECT_TRUE(HttpServer::open(options_));
}

// A task's shim outlives the daemon; were it to inherit the socket, the next
// daemon would believe that this one still listens.
TEST_F(HttpServerTest, ChildrenDoNotInheritItsSockets) {
  start();
  Wire wire(options_.unix_socket);
  wire.write("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wire.read_until("GET /x");
  int sockets = 0, inherited = 0;
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    int listening = 0;
    size = sizeof listening;
    getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
    if (listening == 0) continue;
    ++sockets;
    inherited += (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0;
  }
  EXPECT_EQ(sockets, 2);
  EXPECT_EQ(inherited, 0);
}

TEST_F(HttpServerTest, TheTokenFileIsForItsOwnerOnly) {
  const auto path = folder_ + "/token";
  const auto made = load_or_create_token(path);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 64u);
  EXPECT_EQ(*load_or_create_token(path), *made);
  chmod(path.c_str(), 0640);
  EXPECT_EQ(load_or_create_token(path).error().kind, ErrorKind::kUnauthorised);
  unlink(path.c_str());
  ASSERT_EQ(symlink("/etc/passwd", path.c_str()), 0);
  EXPECT_FALSE(load_or_create_token(path));
}

}  // namespace
}  // namespace gridfold
