// GET of jobs: the list, one, explain, wait.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "api/api.h"
#include "api/documents.h"
#include "api/explanation.h"
#include "api/job_lookup.h"
#include "api/page_token.h"
#include "base/quote.h"

namespace gridfold {
namespace {

constexpr std::int64_t kDefaultPage = 100;
constexpr std::int64_t kMaxPage = 1000;
// History is read in pieces; after so many a page is given as far as it got,
// with a token, so that a rare name does not hold the loop.
constexpr std::size_t kHistoryPiece = 200;
constexpr int kMaxHistoryPieces = 20;
constexpr Duration kMaxWait = Duration::minutes(5);

struct JobFilter {
  std::string tenant, queue, name;
  std::set<JobState> states;  // empty: any

  bool wants(JobState state) const { return states.empty() || states.contains(state); }
  bool wants_ended() const {
    return states.empty() || std::any_of(states.begin(), states.end(), is_terminal);
  }
  bool accepts(const JobRecord& job) const {
    return job.spec->tenant == tenant && wants(job.state) &&
           (queue.empty() || job.spec->queue == queue) && (name.empty() || job.spec->name == name);
  }
};

struct ListRequest {
  JobFilter filter;
  std::string filter_text;  // binds page tokens to the filter
  std::size_t page_size = 0;
  JobId before;  // jobs with a smaller number
  JobDetail detail = JobDetail::kBasic;
};

constexpr JobState kAllStates[] = {JobState::kPending,  JobState::kStarting,  JobState::kRunning,
                                   JobState::kStopping, JobState::kSucceeded, JobState::kFailed,
                                   JobState::kCancelled};

// "pending,running", "live", "ended".
Result<std::set<JobState>> parse_states(std::string_view text) {
  std::set<JobState> states;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (word == "live" || word == "ended") {
      for (const auto state : kAllStates)
        if (is_terminal(state) == (word == "ended")) states.insert(state);
    } else if (const auto state = parse_job_state(word)) {
      states.insert(*state);
    } else {
      Error error = invalid("there is no job state " + quote(word));
      error.field = "state";
      error.hint = "states: live, ended";
      for (const auto known : kAllStates) error.hint += ", " + std::string(to_string(known));
      return error;
    }
  }
  return states;
}

Result<JobDetail> parse_detail(std::string_view text) {
  if (text.empty() || text == "basic") return JobDetail::kBasic;
  if (text == "full") return JobDetail::kFull;
  Error error = invalid(quote(text) + " is neither basic nor full");
  error.field = "view";
  return error;
}

Result<ListRequest> parse_list(const ApiRequest& request) {
  ListRequest list;
  const auto states = parse_states(request.query.text("state"));
  if (!states) return states.error();
  list.filter = {request.path_value("tenant"), std::string(request.query.text("queue")),
                 std::string(request.query.text("name")), *states};
  const auto size = request.query.count("page_size", kDefaultPage);
  if (!size) return size.error();
  if (*size < 1 || *size > kMaxPage) {
    Error error = invalid("a page has 1 to " + std::to_string(kMaxPage) + " jobs");
    error.field = "page_size";
    return error;
  }
  list.page_size = static_cast<std::size_t>(*size);
  const auto detail = parse_detail(request.query.text("view"));
  if (!detail) return detail.error();
  list.detail = *detail;
  list.filter_text = list.filter.tenant + '\n' + list.filter.queue + '\n' + list.filter.name + '\n';
  for (const auto state : list.filter.states) list.filter_text += to_string(state);
  list.before = JobId::none();
  if (const auto token = request.query.find("page_token")) {
    const auto before = parse_page_token(*token, list.filter_text);
    if (!before) return before.error();
    list.before = *before;
  }
  return list;
}

// Live and ended jobs as one list, newest first.
class JobCursor {
 public:
  JobCursor(const ControlLoop& loop, const ListRequest& list)
      : loop_(loop), live_(loop.engine().jobs()), next_ended_(list.before) {
    history_done_ = !list.filter.wants_ended();
    const auto by_id = [](const JobRecord* job, JobId id) { return job->id < id; };
    live_left_ = static_cast<std::size_t>(
        std::lower_bound(live_.begin(), live_.end(), list.before, by_id) - live_.begin());
  }

  // The next job, or null at the end, or an error of the store. Valid until
  // the next call.
  Result<const JobRecord*> next() {
    if (auto filled = fill(); !filled) return filled.error();
    const JobRecord* live = live_left_ > 0 ? live_[live_left_ - 1] : nullptr;
    const JobRecord* ended = position_ < history_.size() ? &history_[position_].record : nullptr;
    // A job whose end was committed just now may be in both.
    if (live && ended && live->id == ended->id) ++position_;
    if (live && (!ended || live->id >= ended->id)) {
      --live_left_;
      return live;
    }
    if (ended) ++position_;
    return ended;
  }
  // Enough history was read for one request.
  bool exhausted() const { return pieces_ >= kMaxHistoryPieces && position_ == history_.size(); }

 private:
  Result<void> fill() {
    if (history_done_ || position_ < history_.size()) return {};
    auto piece = loop_.ended(next_ended_, kHistoryPiece);
    if (!piece) return piece.error();
    history_ = std::move(*piece);
    position_ = 0;
    ++pieces_;
    history_done_ = history_.empty();
    if (!history_done_) next_ended_ = history_.back().record.id;
    return {};
  }

  const ControlLoop& loop_;
  std::vector<const JobRecord*> live_;  // in order of id
  std::size_t live_left_ = 0;
  std::vector<EndedJob> history_;  // newest first
  std::size_t position_ = 0;
  JobId next_ended_;
  int pieces_ = 0;
  bool history_done_ = false;
};

HttpResponse list_jobs(const ControlLoop& loop, const ListRequest& list, Instant now,
                       std::string_view request_id) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("jobs").begin_array();
  JobCursor cursor(loop, list);
  std::size_t shown = 0;
  std::optional<JobId> last;  // set while more may follow
  while (true) {
    const auto job = cursor.next();
    if (!job) return to_response(to_problem(job.error()), request_id);
    if (!*job) {
      last.reset();
      break;
    }
    const JobId id = (*job)->id;
    if (shown == list.page_size) break;  // `last` is the last one shown
    last = id;
    if (list.filter.accepts(**job)) {
      write_job(json, **job, loop.engine(), now, list.detail);
      ++shown;
    }
    if (cursor.exhausted()) break;
  }
  json.end_array();
  if (last) json.key("next_page_token").string(make_page_token(*last, list.filter_text));
  json.end_object();
  return response;
}

void answer_explain(ControlLoop& loop, std::string_view tenant, std::string_view reference,
                    Instant now, std::string_view request_id, const Respond& respond) {
  const auto job = find_job(loop, tenant, reference);
  if (!job) return respond(to_response(to_problem(job.error()), request_id));
  explain_job(loop, *job, now, [respond](std::string document) {
    HttpResponse response;
    response.body = std::move(document);
    respond(std::move(response));
  });
}

// One caller of :wait, answered when the job ends or the time is over.
struct JobWait {
  const ApiContext& api;
  std::string tenant, reference, request_id;
  Respond respond;

  void answer(const ControlLoop& loop) const {
    respond(job_response(loop, tenant, reference, api.clock.now(), request_id));
  }
};

void wait_for_job(const std::shared_ptr<JobWait>& wait, Duration timeout, ControlLoop& loop) {
  auto& api = wait->api;
  const auto job = find_job(loop, wait->tenant, wait->reference);
  if (!job || is_terminal(job->state) || timeout.ns == 0) return wait->answer(loop);
  wait->reference = job->uid;  // a name may come to mean a newer job
  const auto answer_soon = [wait] {
    // Off the loop's thread and back: a full inbox must not block the loop.
    wait->api.later(Duration{}, [wait] {
      wait->api.loop.post([wait](ControlLoop& again) { wait->answer(again); });
    });
  };
  const auto ticket = api.waiters.add(job->id, answer_soon);
  api.later(timeout, [wait, ticket] {
    wait->api.loop.post([wait, ticket](ControlLoop& again) {
      if (wait->api.waiters.remove(ticket)) wait->answer(again);
    });
  });
}

Result<Duration> parse_timeout(const Query& query) {
  const auto text = query.find("timeout");
  if (!text) return Duration::seconds(30);
  auto timeout = parse_duration(*text);
  if (timeout && *timeout <= kMaxWait) return timeout;
  Error error = timeout ? invalid("a wait lasts at most " + to_text(kMaxWait)) : timeout.error();
  error.field = "timeout";
  if (error.hint.empty()) error.hint = "wait again when it is over";
  return error;
}

}  // namespace

void add_job_routes(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/tenants/{tenant}/jobs",
             {"state", "queue", "name", "view", "page_size", "page_token"},
             [&api](const ApiRequest& request, Respond respond) {
               auto list = parse_list(request);
               if (!list)
                 return respond(to_response(to_problem(list.error()), request.http.request_id));
               api.loop.post([&api, list = std::move(*list), id = request.http.request_id,
                              respond](ControlLoop& loop) {
                 respond(list_jobs(loop, list, api.clock.now(), id));
               });
             });
  router.add(
      "GET", "/v1/tenants/{tenant}/jobs/{job}", {},
      [&api](const ApiRequest& request, Respond respond) {
        api.loop.post([&api, tenant = request.path_value("tenant"), job = request.path_value("job"),
                       id = request.http.request_id, respond](ControlLoop& loop) {
          respond(job_response(loop, tenant, job, api.clock.now(), id));
        });
      });
  router.add(
      "GET", "/v1/tenants/{tenant}/jobs/{job}:explain", {},
      [&api](const ApiRequest& request, Respond respond) {
        api.loop.post([&api, tenant = request.path_value("tenant"), job = request.path_value("job"),
                       id = request.http.request_id, respond](ControlLoop& loop) {
          answer_explain(loop, tenant, job, api.clock.now(), id, respond);
        });
      });
  router.add("GET", "/v1/tenants/{tenant}/jobs/{job}:wait", {"timeout"},
             [&api](const ApiRequest& request, Respond respond) {
               const auto timeout = parse_timeout(request.query);
               if (!timeout)
                 return respond(to_response(to_problem(timeout.error()), request.http.request_id));
               const auto wait = std::make_shared<JobWait>(
                   JobWait{api, request.path_value("tenant"), request.path_value("job"),
                           request.http.request_id, std::move(respond)});
               api.loop.post([wait, timeout = *timeout](ControlLoop& loop) {
                 wait_for_job(wait, timeout, loop);
               });
             });
}

}  // namespace gridfold
