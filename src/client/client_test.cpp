// The client against a server that misbehaves in chosen ways.
#include "client/client.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

namespace gridfold {
namespace {

// Answers each connection's requests with the next script, raw; an empty
// script closes the connection, "hang" keeps it open without a word.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> scripts) : scripts_(std::move(scripts)) {
    char name[] = "/tmp/gridfold-client-XXXXXX";
    folder_ = mkdtemp(name);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    listen(listener_, 16);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (const int held : held_) close(held);
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ + "/s"; }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    for (const auto& script : scripts_) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      char buffer[65536];
      const auto got = recv(connection, buffer, sizeof buffer, 0);
      {
        const std::lock_guard lock(mutex_);
        requests_.emplace_back(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      }
      if (script == "hang") {
        held_.push_back(connection);
        continue;
      }
      static_cast<void>(send(connection, script.data(), script.size(), MSG_NOSIGNAL));
      close(connection);
    }
  }

  std::vector<std::string> scripts_;
  std::string folder_;
  int listener_ = -1;
  std::thread thread_;
  std::vector<int> held_;
  std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
};

std::string answer(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nConnection: close\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Client client_of(const ScriptedServer& server, Duration deadline = Duration::seconds(5)) {
  ClientOptions options;
  options.unix_socket = server.path();
  options.deadline = deadline;
  return Client(options);
}

TEST(Client, ReadsAnAnswer) {
  ScriptedServer server({answer(200, R"({"version":"9","api":"v1","new_field":[1]})")});
  EXPECT_EQ(*client_of(server).server_version(), "9");
}

TEST(Client, MapsProblemsToErrors) {
  const std::vector<std::pair<int, ErrorKind>> cases = {
      {400, ErrorKind::kInvalid},  {401, ErrorKind::kUnauthorised}, {403, ErrorKind::kUnauthorised},
      {404, ErrorKind::kNotFound}, {405, ErrorKind::kInvalid},      {409, ErrorKind::kConflict},
      {413, ErrorKind::kLimit},    {422, ErrorKind::kInfeasible},   {431, ErrorKind::kLimit},
      {500, ErrorKind::kInternal}, {503, ErrorKind::kUnavailable}};
  for (const auto& [status, kind] : cases) {
    ScriptedServer server(
        {answer(status, R"({"code":"C","detail":"what","field":"f","hint":"h","line":2,"column":3,)"
                        R"("request_id":"r"})")});
    const auto got = client_of(server).server_version();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, kind) << status;
    EXPECT_EQ(got.error().message, "what [C, request r]");
    EXPECT_EQ(got.error().field, "f");
    EXPECT_EQ(got.error().hint, "h");
    EXPECT_EQ(got.error().position.line, 2);
  }
}

TEST(Client, SurvivesAnswersThatAreNotOurs) {
  for (const auto& script :
       {answer(200, "<html>"), answer(200, "{}"), answer(200, R"({"version":7})"),
        answer(500, "oops"), answer(500, R"({"detail":[1],"line":"x"})"),
        std::string("garbage\r\n\r\n"),
        std::string("HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\nshort")}) {
    ScriptedServer server({script, script, script, script, script, script, script, script});
    EXPECT_FALSE(client_of(server, Duration::milliseconds(300)).server_version()) << script;
  }
}

TEST(Client, NobodyThereIsToldAtOnce) {
  ClientOptions options;
  options.unix_socket = "/tmp/gridfold-nobody.sock";
  const auto got = Client(options).summary();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(got.error().hint, "start one with: gridfold up");
}

TEST(Client, EveryCallHasADeadline) {
  ScriptedServer server({"hang", "hang"});
  auto client = client_of(server, Duration::milliseconds(200));
  EXPECT_EQ(client.server_version().error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(client.act("1", "cancel").error().kind, ErrorKind::kUnavailable);
}

TEST(Client, ReadsAreTriedAgain) {
  ScriptedServer server(
      {"", answer(503, "{}", "Retry-After: 1\r\n"), answer(200, R"({"version":"9"})")});
  EXPECT_EQ(*client_of(server).server_version(), "9");
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Client, ASubmissionIsTriedAgainUnderTheSameKey) {
  const std::string done = R"({"jobs":[{"id":"u","number":1,"name":"n"}],"repeated":true})";
  ScriptedServer server({"", answer(200, done)});
  const auto submitted = client_of(server).submit({"name: n\nrun: x\n"});
  ASSERT_TRUE(submitted) << submitted.error().describe();
  EXPECT_TRUE(submitted->repeated);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2u);
  const auto key_of = [](const std::string& request) {
    const auto at = request.find("Idempotency-Key: ");
    return request.substr(at, request.find('\r', at) - at);
  };
  EXPECT_EQ(key_of(requests[0]), key_of(requests[1]));
  EXPECT_GT(key_of(requests[0]).size(), 40u);
}

TEST(Client, AnActionIsNeverSentTwice) {
  ScriptedServer server({"", answer(200, "{}")});
  const auto got = client_of(server, Duration::milliseconds(500)).act("1", "requeue");
  EXPECT_EQ(got.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Client, AStreamThatBreaksIsNotTakenForItsEnd) {
  const std::string head = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n";
  ScriptedServer server({head + "5\r\nhello\r\n", head + "5\r\nhello\r\n0\r\n\r\n"});
  auto client = client_of(server);
  std::string bytes;
  const auto take = [&](std::string_view piece) {
    bytes += piece;
    return Reading::kGoOn;
  };
  EXPECT_EQ(client.logs("1", {.follow = true}, take).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(bytes, "hello");
  EXPECT_TRUE(client.logs("1", {.offset = 5, .follow = true}, take));
  EXPECT_EQ(bytes, "hellohello");
  EXPECT_NE(server.requests()[1].find("offset=5"), std::string::npos);
}

TEST(Client, ReferencesAreEncoded) {
  ScriptedServer server({answer(404, "{}")});
  static_cast<void>(client_of(server).job("../a b/%"));
  EXPECT_TRUE(
      server.requests()[0].starts_with("GET /v1/tenants/default/jobs/..%2Fa%20b%2F%25 HTTP"));
}

}  // namespace
}  // namespace gridfold
