// A client of the /v1 API over the daemon's Unix socket or loopback TCP.
//
//   Client client({.unix_socket = state + "/gridfold.sock"});
//   Result<JobPage> page = client.list_jobs({.state = "live"});
//
// Every call has a deadline. A call is tried again only where that is
// harmless: reads, and a submission under its idempotency key. Answers are
// typed, and each carries its own JSON, which is the API's. One thread a
// client; connections are opened as needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/views.h"

namespace gridfold {

struct ClientOptions {
  std::string unix_socket;  // path; used when set
  std::string host;         // else loopback TCP: "127.0.0.1"
  std::uint16_t port = 0;
  std::string token;  // for TCP
  std::string tenant = "default";
  Duration deadline = Duration::seconds(10);  // of a call, connection and retries included
};

struct JobQuery {
  std::string state;  // "pending,running", "live", "ended"; empty: all
  std::string queue;
  std::string name;
  std::size_t page_size = 100;
  std::string page_token;
};

struct Submission {
  std::string body;
  std::string content_type = "application/yaml";  // or application/json
  std::string idempotency_key;                    // empty: one is drawn
  bool hold = false;
};

struct LogQuery {
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;  // 0: the latest
  std::string stream = "stdout";
  std::uint64_t offset = 0;
  bool follow = false;
};

// What a stream's reader wants next.
enum class Reading : std::uint8_t { kGoOn, kStop };

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;

  Result<SubmittedView> submit(const Submission& submission);
  // The canonical form of what would be submitted, as JSON.
  Result<std::string> validate(const Submission& submission);
  Result<JobPage> list_jobs(const JobQuery& query);
  Result<JobView> job(std::string_view reference);
  // "cancel", "hold", "release", "requeue". The job as it is afterwards.
  Result<JobView> act(std::string_view reference, std::string_view verb);
  // A JSON object of what is to be changed: "class", "array_limit".
  Result<JobView> change(std::string_view reference, std::string body);
  // The job when it has ended, or as it is when the time is over.
  Result<JobView> wait(std::string_view reference, Duration timeout);
  Result<ExplainView> explain(std::string_view reference);
  // Gives the output to `take`, piece by piece, until it is complete. With
  // follow there is no deadline. kUnavailable when the connection broke: the
  // caller counts what it got and asks again from there.
  Result<void> logs(std::string_view reference, const LogQuery& query,
                    const std::function<Reading(std::string_view)>& take);

  Result<NodeList> nodes();
  Result<NodeView> node(std::string_view name);
  // "drain" or "undrain".
  Result<NodeView> act_on_node(std::string_view name, std::string_view verb);
  Result<QueueList> queues();
  // The question is a JSON document. Given a minute, for it may take the daemon
  // seconds.
  Result<WhatIfView> what_if(const std::string& question);
  // The names of what has changed, such as "queues.research".
  Result<ReloadView> reload_configuration();
  Result<SummaryView> summary();
  Result<EffectiveReportView> effective_report();
  // Given a minute, likewise.
  Result<DiagnosisView> diagnosis();
  Result<std::string> server_version();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridfold
