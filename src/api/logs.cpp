// GET {job}/logs: the output of one attempt of one task, raw, by byte offset.
// With `follow` the answer goes on until the attempt is over and its last byte
// is sent; a client that lost the connection asks again from where it was.
#include <algorithm>
#include <memory>

#include "api/api.h"
#include "api/job_lookup.h"
#include "base/quote.h"

namespace gridfold {
namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr Duration kShortestPause = Duration::milliseconds(50);
constexpr Duration kLongestPause = Duration::milliseconds(1000);

struct LogRequest {
  std::string tenant, reference, request_id;
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;  // 0: the latest
  LogStream stream = LogStream::kOutput;
  std::uint64_t offset = 0;
  bool follow = false;
};

Error field_error(const char* field, std::string message) {
  Error error = invalid(std::move(message));
  error.field = field;
  return error;
}

Result<LogRequest> parse_log_request(const ApiRequest& request) {
  LogRequest log;
  log.tenant = request.path_value("tenant");
  log.reference = request.path_value("job");
  log.request_id = request.http.request_id;
  const auto task = request.query.count("task", 0);
  if (!task) return task.error();
  const auto attempt = request.query.count("attempt", 0);
  if (!attempt) return attempt.error();
  const auto offset = request.query.count("offset", 0);
  if (!offset) return offset.error();
  const auto follow = request.query.flag("follow");
  if (!follow) return follow.error();
  if (*task > INT32_MAX) return field_error("task", "there is no such task");
  if (*attempt > INT32_MAX) return field_error("attempt", "there is no such attempt");
  log.task = static_cast<std::uint32_t>(*task);
  log.attempt = static_cast<std::uint32_t>(*attempt);
  log.offset = static_cast<std::uint64_t>(*offset);
  log.follow = *follow;
  const auto stream = request.query.find("stream").value_or("stdout");
  if (stream != "stdout" && stream != "stderr")
    return field_error("stream", quote(stream) + " is neither stdout nor stderr");
  log.stream = stream == "stdout" ? LogStream::kOutput : LogStream::kError;
  return log;
}

// Reads on from its offset, on the loop's thread, a piece a call.
class LogBody : public BodyStream, public std::enable_shared_from_this<LogBody> {
 public:
  LogBody(LoopThread& loop, LogRequest log, JobId job, std::string uid)
      : loop_(loop), log_(std::move(log)), job_(job), uid_(std::move(uid)) {}

  void next(std::function<void(BodyChunk)> done) override {
    loop_.post([self = shared_from_this(), done = std::move(done)](ControlLoop& loop) {
      done(self->read(loop));
    });
  }

 private:
  BodyChunk read(ControlLoop& loop) {
    auto chunk = loop.backend().read_log(uid_, TaskId{job_, log_.task}, log_.attempt, log_.stream,
                                         log_.offset, kPieceBytes);
    if (!chunk) return on_error(loop, chunk.error());
    log_.offset = chunk->next_offset;
    BodyChunk piece{std::move(chunk->bytes)};
    if (!piece.bytes.empty()) pause_ = kShortestPause;
    if (chunk->ended || (piece.bytes.empty() && !log_.follow))
      piece.outcome = BodyChunk::Outcome::kEnded;
    else if (piece.bytes.empty())
      piece.ask_again_after = longer_pause();
    return piece;
  }

  // No output yet is no error while the attempt may still come.
  BodyChunk on_error(const ControlLoop& loop, const Error& error) {
    if (error.kind != ErrorKind::kNotFound) return {{}, BodyChunk::Outcome::kBroken};
    const auto* job = loop.engine().job(job_);
    const bool may_come = job && !is_terminal(job->state);
    if (!log_.follow || !may_come) return {{}, BodyChunk::Outcome::kEnded};
    return {{}, BodyChunk::Outcome::kMore, longer_pause()};
  }

  Duration longer_pause() {
    const Duration pause = pause_;
    pause_ = std::min(Duration{pause_.ns * 2}, kLongestPause);
    return pause;
  }

  LoopThread& loop_;
  LogRequest log_;
  JobId job_;
  std::string uid_;
  Duration pause_ = kShortestPause;
};

Error no_output_yet(const JobRecord& job, const LogRequest& log) {
  Error error = not_found("task " + std::to_string(log.task) + " of job " + job.spec->name +
                          " has no output of attempt " + std::to_string(log.attempt));
  error.hint = "follow it to wait for the output: logs -f, or follow=true";
  return error;
}

HttpResponse open_log(LoopThread& thread, ControlLoop& loop, LogRequest log) {
  const auto refuse = [&](const Error& error) {
    return to_response(to_problem(error), log.request_id);
  };
  const auto job = find_job(loop, log.tenant, log.reference);
  if (!job) return refuse(job.error());
  if (log.task >= job->tasks.size()) {
    Error error = not_found("job " + job->spec->name + " has no task " + std::to_string(log.task));
    error.field = "task";
    error.hint = "its tasks are 0 to " + std::to_string(job->tasks.size() - 1);
    return refuse(error);
  }
  // Before its first start a task's latest attempt will be the first.
  if (log.attempt == 0) log.attempt = std::max(job->tasks[log.task].attempt, 1u);
  if (!log.follow) {
    const auto probe = loop.backend().read_log(job->uid, TaskId{job->id, log.task}, log.attempt,
                                               log.stream, log.offset, 0);
    if (!probe && probe.error().kind == ErrorKind::kNotFound)
      return refuse(no_output_yet(*job, log));
    if (!probe) return refuse(probe.error());
  }
  HttpResponse response;
  response.content_type = "text/plain; charset=utf-8";
  response.headers = {{"Gridfold-Attempt", std::to_string(log.attempt)}};
  response.stream = std::make_shared<LogBody>(thread, log, job->id, job->uid);
  return response;
}

}  // namespace

void add_log_route(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/tenants/{tenant}/jobs/{job}/logs",
             {"task", "attempt", "stream", "offset", "follow"},
             [&api](const ApiRequest& request, Respond respond) {
               auto log = parse_log_request(request);
               if (!log)
                 return respond(to_response(to_problem(log.error()), request.http.request_id));
               api.loop.post([&api, log = std::move(*log), respond = std::move(respond)](
                                 ControlLoop& loop) { respond(open_log(api.loop, loop, log)); });
             });
}

}  // namespace gridfold
