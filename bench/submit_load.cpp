// Submits jobs to a daemon over its Unix socket as fast as it takes them:
//
//   submit_load SOCKET CONNECTIONS JOBS BATCH [hold]
//
// Each connection sends one request of BATCH jobs, waits for its durable
// answer, and sends the next, until JOBS jobs were sent in all. One line of
// JSON tells how many were acknowledged and how long an answer took; exit 1
// when any answer was no 201.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
  int socket = -1;
  std::string request;
  std::string answer;
  std::size_t jobs = 0;  // of the request under way; 0: idle
  Clock::time_point sent;
};

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (socket < 0 || ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror(path);
    std::exit(1);
  }
  return socket;
}

std::string request_of(std::size_t first, std::size_t jobs, bool held) {
  std::string body = "[";
  for (std::size_t i = 0; i < jobs; ++i) {
    body += i == 0 ? "" : ",";
    body += R"({"name":"load-)" + std::to_string(first + i) +
            R"(","run":["/bin/true"],"each":{"cpu":0.05,"memory":"8Mi"}})";
  }
  body += "]";
  return std::string("POST /v1/tenants/default/jobs") + (held ? "?hold=true" : "") +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: " +
         std::to_string(getpid()) + "-" + std::to_string(first) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void send_whole(Connection& connection) {
  std::size_t sent = 0;
  while (sent < connection.request.size()) {
    const ssize_t n = ::send(connection.socket, connection.request.data() + sent,
                             connection.request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      std::perror("send");
      std::exit(1);
    }
    sent += static_cast<std::size_t>(n);
  }
  connection.sent = Clock::now();
}

// Reads what is there; true when the answer is whole.
bool receive(Connection& connection) {
  char buffer[65536];
  const ssize_t n = ::recv(connection.socket, buffer, sizeof buffer, 0);
  if (n <= 0) {
    std::perror("recv");
    std::exit(1);
  }
  std::string& answer = connection.answer;
  answer.append(buffer, static_cast<std::size_t>(n));
  const auto head = answer.find("\r\n\r\n");
  const auto length = answer.find("Content-Length: ");
  if (head == std::string::npos || length == std::string::npos) return false;
  return answer.size() >= head + 4 + std::strtoul(answer.c_str() + length + 16, nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: submit_load SOCKET CONNECTIONS JOBS BATCH [hold]\n");
    return 2;
  }
  const std::size_t jobs = std::strtoul(argv[3], nullptr, 10);
  const std::size_t batch = std::strtoul(argv[4], nullptr, 10);
  const bool held = argc > 5;
  std::vector<Connection> connections(std::strtoul(argv[2], nullptr, 10));
  std::vector<pollfd> files;
  for (Connection& connection : connections) {
    connection.socket = connect_to(argv[1]);
    files.push_back({connection.socket, POLLIN, 0});
  }

  std::size_t next = 0;
  std::size_t acknowledged = 0;
  std::size_t refused = 0;
  std::vector<double> milliseconds;
  const auto submit = [&](Connection& connection) {
    connection.jobs = std::min(batch, jobs - next);
    if (connection.jobs == 0) return;
    connection.request = request_of(next, connection.jobs, held);
    connection.answer.clear();
    next += connection.jobs;
    send_whole(connection);
  };
  const auto begin = Clock::now();
  for (Connection& connection : connections) submit(connection);
  while (acknowledged + refused < jobs) {
    ::poll(files.data(), files.size(), -1);
    for (std::size_t i = 0; i < files.size(); ++i) {
      Connection& connection = connections[i];
      if (files[i].revents == 0 || !receive(connection)) continue;
      const bool created = connection.answer.compare(0, 12, "HTTP/1.1 201") == 0;
      (created ? acknowledged : refused) += connection.jobs;
      if (!created) std::fprintf(stderr, "%s\n", connection.answer.c_str());
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - connection.sent).count());
      submit(connection);
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto percentile = [&](double part) {
    return milliseconds[static_cast<std::size_t>(part *
                                                 static_cast<double>(milliseconds.size() - 1))];
  };
  std::printf(
      "{\"jobs\": %zu, \"refused\": %zu, \"seconds\": %.3f, \"jobs_per_second\": %.0f, "
      "\"answer_p50_ms\": %.2f, \"answer_p99_ms\": %.2f}\n",
      acknowledged, refused, seconds, static_cast<double>(acknowledged) / seconds, percentile(0.5),
      percentile(0.99));
  return refused == 0 ? 0 : 1;
}
