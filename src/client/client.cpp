#include "client/client.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "client/http_call.h"

namespace gridfold {
namespace {

enum class Repeatable : std::uint8_t { kNo, kYes };

constexpr Duration kFirstPause = Duration::milliseconds(100);
constexpr Duration kLongestPause = Duration::seconds(2);
constexpr Duration kLongAnswer = Duration::minutes(1);

std::string encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool plain = (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == ',';
    if (plain)
      out += c;
    else
      out.append({'%', kHex[u >> 4], kHex[u & 15]});
  }
  return out;
}

std::string with_query(std::string path,
                       const std::vector<std::pair<std::string, std::string>>& parameters) {
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    path.append(1, separator).append(name).append("=").append(encode(value));
    separator = '&';
  }
  return path;
}

std::string draw_key() {
  std::array<unsigned char, 16> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) return {};
  static constexpr char kHex[] = "0123456789abcdef";
  std::string key;
  for (const auto byte : bits) key.append({kHex[byte >> 4], kHex[byte & 15]});
  return key;
}

void pause(Duration duration) {
  const timespec time{duration.ns / 1'000'000'000, duration.ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

Error fault_error(const CallOutcome& outcome) {
  Error error = unavailable(outcome.message);
  if (outcome.fault == CallFault::kNobodyListens) {
    error.message = "no daemon answers (" + outcome.message + ")";
    error.hint = "start one with: gridfold up";
  }
  return error;
}

}  // namespace

struct Client::State {
  explicit State(ClientOptions o) : options(std::move(o)), connection(options) {}

  ClientOptions options;
  Connection connection;
  bool reached = false;  // somebody has answered before

  std::string jobs_path() const { return "/v1/tenants/" + encode(options.tenant) + "/jobs"; }
  std::string job_path(std::string_view reference) const {
    return jobs_path() + "/" + encode(reference);
  }

  bool worth_another_try(const CallOutcome& outcome, Repeatable repeatable) const {
    switch (outcome.fault) {
      case CallFault::kTooLate: return false;
      // A daemon that was there a moment ago is restarting, perhaps.
      case CallFault::kNobodyListens: return reached;
      case CallFault::kBroken: return repeatable == Repeatable::kYes;
      case CallFault::kNone: break;
    }
    return repeatable == Repeatable::kYes && outcome.response.status == 503 &&
           outcome.response.retry_after_seconds > 0;
  }

  // The body of a 2xx answer.
  Result<std::string> call(const CallRequest& request, Repeatable repeatable, Duration time) {
    const auto deadline = Deadline::after(time);
    Duration wait = kFirstPause;
    while (true) {
      // A kept connection may have been closed by the daemon unnoticed; that
      // is harmless only for a call that may be repeated.
      if (repeatable == Repeatable::kNo) connection.close();
      const bool kept = connection.is_open();
      const auto outcome = connection.call(request, deadline);
      if (outcome.fault == CallFault::kNone) {
        reached = true;
        if (outcome.response.status / 100 == 2) return outcome.response.body;
      }
      if (!worth_another_try(outcome, repeatable) || deadline.is_over()) {
        if (outcome.fault != CallFault::kNone) return fault_error(outcome);
        return read_problem(outcome.response.status, outcome.response.body);
      }
      if (kept && outcome.fault == CallFault::kBroken) continue;
      const auto asked = Duration::seconds(outcome.response.retry_after_seconds);
      pause(std::min(std::max(wait, asked), Duration::milliseconds(deadline.poll_timeout())));
      wait = std::min(Duration{wait.ns * 2}, kLongestPause);
    }
  }

  Result<std::string> get(std::string target) {
    return call({"GET", std::move(target)}, Repeatable::kYes, options.deadline);
  }
  Result<std::string> post(std::string target) {
    return call({"POST", std::move(target)}, Repeatable::kNo, options.deadline);
  }
};

Client::Client(ClientOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;

Result<SubmittedView> Client::submit(const Submission& submission) {
  CallRequest request{"POST",
                      with_query(state_->jobs_path(), {{"hold", submission.hold ? "true" : ""}}),
                      submission.body, submission.content_type, submission.idempotency_key};
  if (request.idempotency_key.empty()) request.idempotency_key = draw_key();
  const auto repeatable = request.idempotency_key.empty() ? Repeatable::kNo : Repeatable::kYes;
  const auto body = state_->call(request, repeatable, state_->options.deadline);
  return body ? read_submitted(*body) : body.error();
}

Result<std::string> Client::validate(const Submission& submission) {
  return state_->call({"POST", with_query(state_->jobs_path(), {{"validate_only", "true"}}),
                       submission.body, submission.content_type},
                      Repeatable::kYes, state_->options.deadline);
}

Result<JobPage> Client::list_jobs(const JobQuery& query) {
  const auto body =
      state_->get(with_query(state_->jobs_path(), {{"state", query.state},
                                                   {"queue", query.queue},
                                                   {"name", query.name},
                                                   {"page_size", std::to_string(query.page_size)},
                                                   {"page_token", query.page_token}}));
  return body ? read_job_page(*body) : body.error();
}

Result<JobView> Client::job(std::string_view reference) {
  const auto body = state_->get(state_->job_path(reference));
  return body ? read_job(*body) : body.error();
}

Result<JobView> Client::act(std::string_view reference, std::string_view verb) {
  const auto body = state_->post(state_->job_path(reference) + ":" + std::string(verb));
  return body ? read_job(*body) : body.error();
}

Result<JobView> Client::change(std::string_view reference, std::string body) {
  const auto answer =
      state_->call({"PATCH", state_->job_path(reference), std::move(body), "application/json"},
                   Repeatable::kYes, state_->options.deadline);
  return answer ? read_job(*answer) : answer.error();
}

Result<JobView> Client::wait(std::string_view reference, Duration timeout) {
  const auto target =
      with_query(state_->job_path(reference) + ":wait", {{"timeout", to_text(timeout)}});
  const auto body =
      state_->call({"GET", target}, Repeatable::kYes, timeout + state_->options.deadline);
  return body ? read_job(*body) : body.error();
}

Result<ExplainView> Client::explain(std::string_view reference) {
  const auto body = state_->get(state_->job_path(reference) + ":explain");
  return body ? read_explain(*body) : body.error();
}

Result<void> Client::logs(std::string_view reference, const LogQuery& query,
                          const std::function<Reading(std::string_view)>& take) {
  const auto target =
      with_query(state_->job_path(reference) + "/logs",
                 {{"task", std::to_string(query.task)},
                  {"attempt", query.attempt == 0 ? std::string() : std::to_string(query.attempt)},
                  {"stream", query.stream},
                  {"offset", std::to_string(query.offset)},
                  {"follow", query.follow ? "true" : ""}});
  state_->connection.close();
  const auto deadline =
      query.follow ? Deadline::never() : Deadline::after(state_->options.deadline);
  const auto outcome = state_->connection.call({"GET", target}, deadline, take);
  if (outcome.fault != CallFault::kNone) return fault_error(outcome);
  if (outcome.response.status / 100 != 2)
    return read_problem(outcome.response.status, outcome.response.body);
  return {};
}

Result<NodeList> Client::nodes() {
  const auto body = state_->get("/v1/nodes");
  return body ? read_nodes(*body) : body.error();
}

Result<NodeView> Client::node(std::string_view name) {
  const auto body = state_->get("/v1/nodes/" + encode(name));
  return body ? read_node(*body) : body.error();
}

Result<NodeView> Client::act_on_node(std::string_view name, std::string_view verb) {
  const auto body = state_->post("/v1/nodes/" + encode(name) + ":" + std::string(verb));
  return body ? read_node(*body) : body.error();
}

Result<QueueList> Client::queues() {
  const auto body = state_->get("/v1/queues");
  return body ? read_queues(*body) : body.error();
}

Result<ReloadView> Client::reload_configuration() {
  const auto body = state_->post("/v1/config:reload");
  return body ? read_reload(*body) : body.error();
}

Result<EffectiveReportView> Client::effective_report() {
  const auto body = state_->get("/v1/report/effective");
  return body ? read_effective_report(*body) : body.error();
}

Result<DiagnosisView> Client::diagnosis() {
  const auto body = state_->call({"GET", "/v1/doctor", "", ""}, Repeatable::kYes,
                                 std::max(state_->options.deadline, kLongAnswer));
  return body ? read_diagnosis(*body) : body.error();
}

Result<WhatIfView> Client::what_if(const std::string& question) {
  const auto body = state_->call({"POST", "/v1/what-if", question, "application/json"},
                                 Repeatable::kYes, std::max(state_->options.deadline, kLongAnswer));
  return body ? read_what_if(*body) : body.error();
}

Result<SummaryView> Client::summary() {
  const auto body = state_->get("/v1/summary");
  return body ? read_summary(*body) : body.error();
}

Result<std::string> Client::server_version() {
  const auto body = state_->get("/v1/version");
  return body ? read_version(*body) : body.error();
}

}  // namespace gridfold
