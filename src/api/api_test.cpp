// The routes over a real control loop on its thread, with a store in memory
// and a backend that does as it is told.
#include "api/api.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "control/start_estimates.h"
#include "policies/registry.h"
#include "stores/memory/memory_store.h"

namespace gridfold {
namespace {

using Json = nlohmann::json;

class WallClock final : public Clock {
 public:
  Instant now() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
  }
};

// Starts everything at once; ends nothing by itself. On the loop's thread.
class TestBackend final : public Backend {
 public:
  Capabilities capabilities() const override { return {.memory = Enforcement::kEnforced}; }
  Result<void> open(EventSink) override { return {}; }
  void launch(const LaunchOrder& order) override {
    auto& task = tasks[{order.task, order.attempt}];
    task = {order.task, order.attempt, order.node, ObservedTask::Phase::kRunning};
    events.emplace_back(TaskStarted{order.task, order.attempt});
    logs[order.job_uid] = "hello\n";
  }
  void stop(const StopOrder& order) override { end(order.task, order.attempt, {.signal = 15}); }
  void end(TaskId task, std::uint32_t attempt, ExitStatus status) {
    tasks.erase({task, attempt});
    events.emplace_back(TaskExited{task, attempt, status});
    events.emplace_back(TaskCleaned{task, attempt});
  }
  void forget(TaskId task, std::uint32_t attempt) override { tasks.erase({task, attempt}); }
  Result<Observation> observe() override {
    Observation seen;
    seen.nodes = {node};
    for (const auto& [key, task] : tasks) seen.tasks.push_back(task);
    return seen;
  }
  Result<LogChunk> read_log(std::string_view uid, TaskId, std::uint32_t attempt, LogStream stream,
                            std::uint64_t offset, std::size_t limit) override {
    const auto log = logs.find(std::string(uid));
    if (log == logs.end() || attempt != 1 || stream != LogStream::kOutput)
      return not_found("no such log");
    if (offset > log->second.size()) return invalid("beyond the end");
    LogChunk chunk{log->second.substr(offset, limit)};
    chunk.next_offset = offset + chunk.bytes.size();
    chunk.ended = logs_ended && chunk.next_offset == log->second.size();
    return chunk;
  }

  NodeSpec node{.name = "n1", .cpu = MilliCores(4000), .memory = Bytes(std::int64_t{8} << 30)};
  std::map<std::pair<TaskId, std::uint32_t>, ObservedTask> tasks;
  std::map<std::string, std::string> logs;
  std::vector<Event> events;  // to be told
  bool logs_ended = false;
};

// A store whose disk can be full.
class FillableStore final : public Store {
 public:
  Result<Snapshot> load(std::string_view prefix) override { return inner_.load(prefix); }
  Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                     std::size_t count) override {
    return inner_.page(prefix, after, count);
  }
  Result<Revision> commit(const Transaction& transaction) override {
    if (full) return unavailable("disk full");
    return inner_.commit(transaction);
  }
  Result<std::vector<Change>> changes_after(Revision from, std::size_t count) override {
    return inner_.changes_after(from, count);
  }
  StoreLimits limits() const override { return inner_.limits(); }
  bool full = false;  // on the loop's thread

 private:
  MemoryStore inner_;
};

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    backend_.node.devices.assign(
        2, {.device_class = "gpu", .model = "H100-SXM5-80GB", .origin = DeviceOrigin::kEmulated});
    ControlOptions options;
    options.random_bits = [this] { return ++bits_ * 0x9E3779B97F4A7C15ull; };
    options.on_committed = [this](Instant now, const Decisions& decisions) {
      waiters_.committed(decisions);
      account_.committed(now, *engine_, decisions);
      day_log_.committed(now, *engine_, decisions);
    };
    EstimateOptions estimates;
    estimates.make_policies = [] { return std::move(*make_policy("best_fit", {})); };
    estimates.interval = {};
    estimates.advice = &executor_;
    options.estimates = std::make_shared<StartEstimates>(std::move(estimates));
    auto policy = make_policy("best_fit", {});
    ASSERT_TRUE(policy);
    auto loop = std::make_unique<ControlLoop>(std::move(options), Engine({}, std::move(*policy)),
                                              store_, backend_, executor_, clock_);
    engine_ = &loop->engine();
    // What the executor has computed is told at once, within the turn.
    ASSERT_TRUE(loop->start([to = loop.get()](Event event) { to->post(std::move(event)); }));
    thread_ = std::make_unique<LoopThread>(std::move(loop));
    const Later later = [](Duration after, std::function<void()> work) {
      if (after.ns == 0) work();  // longer timers never ring in these tests
    };
    api_.emplace(ApiContext{*thread_, clock_, later, waiters_, account_, day_log_, examiner_,
                            "1.2.3",
                            [](auto done) { done(std::vector<std::string>{"queues.a"}); }});
    router_ = make_router(*api_);
    deliver();
  }
  void TearDown() override { thread_.reset(); }

  // Tells the loop what the backend has to say, until it has nothing more.
  void deliver() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      const bool told = thread_->call([this](ControlLoop& loop) {
        const auto events = std::exchange(backend_.events, {});
        for (const auto& event : events) loop.post(event);
        return !events.empty();
      });
      if (told) quiet = 0;
    }
  }
  // The answer, waited for.
  HttpResponse ask(const std::string& method, const std::string& target, std::string body = "",
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
    struct Slot {
      std::mutex mutex;
      std::condition_variable answered;
      std::optional<HttpResponse> response;
    };
    const auto slot = std::make_shared<Slot>();
    const auto question = target.find('?');
    HttpRequest request{method, target.substr(0, question)};
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.headers = std::move(headers);
    request.body = std::move(body);
    request.peer = "alice";
    request.request_id = "r1";
    router_.handle(std::move(request), [slot](HttpResponse response) {
      const std::lock_guard lock(slot->mutex);
      slot->response = std::move(response);
      slot->answered.notify_one();
    });
    std::unique_lock lock(slot->mutex);
    if (!slot->answered.wait_for(lock, std::chrono::seconds(10),
                                 [&] { return slot->response.has_value(); }))
      return {.status = -1};
    return *slot->response;
  }
  Json json(const std::string& method, const std::string& target, int status = 200,
            std::string body = "") {
    const auto response = ask(method, target, std::move(body));
    EXPECT_EQ(response.status, status) << target << " " << response.body;
    return Json::parse(response.body, nullptr, false);
  }
  Json submit(const std::string& yaml, const std::string& query = "", const std::string& key = "",
              int status = 201) {
    const auto response = ask("POST", kJobs + query, yaml,
                              {{"content-type", "application/yaml"}, {"idempotency-key", key}});
    EXPECT_EQ(response.status, status) << response.body;
    deliver();
    return Json::parse(response.body, nullptr, false);
  }
  void end_all(ExitStatus status = {}) {
    thread_->call([&](ControlLoop&) {
      const auto tasks = backend_.tasks;
      for (const auto& [key, task] : tasks) backend_.end(task.task, task.attempt, status);
      return 0;
    });
    deliver();
  }

  const std::string kJobs = "/v1/tenants/default/jobs";
  WallClock clock_;
  FillableStore store_;
  InlineExecutor executor_;
  TestBackend backend_;
  JobWaiters waiters_;
  EffectiveAccount account_{{.from = clock_.now()}};
  DayLog day_log_{{.make_policies = [] { return std::move(*make_policy("best_fit", {})); }}};
  InlineExecutor examiner_;
  const Engine* engine_ = nullptr;  // the loop's
  std::uint64_t bits_ = 0;
  std::unique_ptr<LoopThread> thread_;
  std::optional<ApiContext> api_;
  Router router_;
};

constexpr const char* kSleep = "name: nap\nrun: sleep 9\neach: {gpu: 1, cpu: 1, memory: 1Gi}\n";

TEST_F(ApiTest, AJobFromSubmissionToEnd) {
  const auto submitted = submit(kSleep);
  const auto id = submitted["jobs"][0]["id"].get<std::string>();
  EXPECT_EQ(submitted["jobs"][0]["number"], 1);
  auto job = json("GET", kJobs + "/" + id);
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["class"], "train");
  EXPECT_EQ(job["tasks"][0]["node"], "n1");
  EXPECT_EQ(job["tasks"][0]["devices"][0]["emulated"], true);
  EXPECT_EQ(job["devices"][0]["count"], 1);
  EXPECT_EQ(job["spec"]["name"], "nap");
  end_all({.code = 3});
  job = json("GET", kJobs + "/nap");
  EXPECT_EQ(job["state"], "failed");
  EXPECT_EQ(job["reason"]["code"], "TaskFailed");
  EXPECT_EQ(job["tasks"][0]["exit"]["code"], 3);
  EXPECT_TRUE(job.contains("ended_at"));
}

TEST_F(ApiTest, BodiesAreJobsListsAndDocumentsInBothFormats) {
  const auto post = [&](const std::string& body, const std::string& type) {
    const auto response = ask("POST", kJobs, body, {{"content-type", type}});
    EXPECT_EQ(response.status, 201) << response.body;
    return Json::parse(response.body)["jobs"].size();
  };
  EXPECT_EQ(post(R"({"name":"a","run":"x"})", "application/json"), 1u);
  EXPECT_EQ(post(R"([{"name":"a","run":"x"},{"name":"b","run":"x"}])", "application/json"), 2u);
  EXPECT_EQ(post(R"({"jobs":[{"name":"a","run":"x"}]})", "application/json; charset=utf-8"), 1u);
  EXPECT_EQ(post("name: a\nrun: x\n---\nname: b\nrun: x\n", "application/yaml"), 2u);
  const auto wrong = ask("POST", kJobs, "name: a", {{"content-type", "text/plain"}});
  EXPECT_EQ(wrong.status, 415);
}

TEST_F(ApiTest, AMistakeInAJobNamesItsPlace) {
  const auto response = ask("POST", kJobs, "name: a\nrun: x\neach: {gpus: 8}\n",
                            {{"content-type", "application/yaml"}});
  EXPECT_EQ(response.status, 400);
  const auto problem = Json::parse(response.body);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(problem["code"], "Invalid");
  EXPECT_EQ(problem["line"], 3);
  EXPECT_EQ(problem["request_id"], "r1");
  EXPECT_NE(problem["hint"].get<std::string>().find("gpu"), std::string::npos);
  EXPECT_EQ(json("GET", kJobs)["jobs"].size(), 0u);
}

TEST_F(ApiTest, AnIdempotencyKeySubmitsOnce) {
  const auto first = submit(kSleep, "", "k1");
  const auto again = submit(kSleep, "", "k1", 200);
  EXPECT_EQ(again["jobs"], first["jobs"]);
  EXPECT_EQ(again["repeated"], true);
  EXPECT_EQ(submit("name: other\nrun: x\n", "", "k1", 422)["code"], "IdempotencyKeyReused");
  EXPECT_EQ(json("GET", kJobs)["jobs"].size(), 1u);
}

TEST_F(ApiTest, ValidateOnlySubmitsNothing) {
  const auto valid = submit(kSleep, "?validate_only=true", "", 200);
  EXPECT_EQ(valid["jobs"][0]["spec"]["name"], "nap");
  EXPECT_EQ(json("GET", kJobs)["jobs"].size(), 0u);
}

TEST_F(ApiTest, HoldReleaseRequeueCancel) {
  submit(kSleep, "?hold=true");
  EXPECT_EQ(json("GET", kJobs + "/nap")["held"], true);
  EXPECT_EQ(json("POST", kJobs + "/nap:release")["held"], false);
  deliver();
  EXPECT_EQ(json("GET", kJobs + "/nap")["state"], "running");
  EXPECT_EQ(json("POST", kJobs + "/nap:hold", 409)["code"], "Conflict");
  EXPECT_EQ(json("POST", kJobs + "/nap:requeue")["state"], "stopping");
  deliver();
  EXPECT_EQ(json("GET", kJobs + "/nap")["runs"], 2);
  json("POST", kJobs + "/nap:cancel");
  deliver();
  const auto job = json("GET", kJobs + "/nap");
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_EQ(job["reason"]["params"]["by"], "alice");
  EXPECT_EQ(json("POST", kJobs + "/nap:cancel", 409)["code"], "JobEnded");
  EXPECT_EQ(json("POST", kJobs + "/nap:cancel", 400, "{}")["code"], "Invalid");
}

TEST_F(ApiTest, AJobIsChangedWhileItWaits) {
  const auto change = [&](const std::string& job, const std::string& body) {
    const auto answer =
        ask("PATCH", kJobs + "/" + job, body, {{"content-type", "application/json"}});
    return std::pair{answer.status, Json::parse(answer.body)};
  };
  submit("name: nap\nrun: sleep 9\nports: 8000\neach: {gpu: 1}\n", "?hold=true");
  const Json from = {
      {"rule", "ports"}, {"tasks", 1}, {"devices", 1}, {"ports", 1}, {"elastic", false}};
  EXPECT_EQ(json("GET", kJobs + "/nap")["class"], "infer");
  EXPECT_EQ(json("GET", kJobs + "/nap")["class_from"], from);
  const auto [status, changed] = change("nap", R"({"class": "filler"})");
  EXPECT_EQ(status, 200) << changed;
  EXPECT_EQ(changed["class"], "filler");
  EXPECT_FALSE(changed.contains("class_from"));
  EXPECT_EQ(changed["spec"]["class"], "filler");
  EXPECT_NE(store_.load("live/spec/")->entries.at(0).value.find("\"class\":\"filler\""),
            std::string::npos);
  // Not of what it cannot be, and not once it has its place.
  EXPECT_EQ(change("nap", R"({"array_limit": 2})").first, 400);
  EXPECT_EQ(change("nap", R"({"class": "batch"})").second["field"], "class");
  EXPECT_EQ(change("nap", "{}").first, 400);
  EXPECT_EQ(change("nap", R"({"classs": "infer"})").second["hint"], "did you mean \"class\"?");
  json("POST", kJobs + "/nap:release");
  deliver();
  const auto [late, problem] = change("nap", R"({"class": "train"})");
  EXPECT_EQ(late, 409);
  EXPECT_NE(problem["hint"].get<std::string>().find("gridfold job requeue"), std::string::npos);
  EXPECT_EQ(change("nosuch", R"({"class": "train"})").first, 404);
}

TEST_F(ApiTest, TheLimitOfAnArrayIsChangedByAnyOfItsJobs) {
  submit("name: s\nrun: sleep 9\narray: 0-3%1\n");
  deliver();
  EXPECT_EQ(json("GET", kJobs + "/s%5B0%5D")["state"], "running");
  EXPECT_EQ(json("GET", kJobs + "/s%5B3%5D")["array"], Json({{"index", 3}, {"limit", 1}}));
  const Json explained = json("GET", kJobs + "/s%5B3%5D:explain");
  const Json reason = explained["reasons"][0]["reason"];
  EXPECT_EQ(reason["code"], "ArrayLimit");
  EXPECT_EQ(reason["params"], Json({{"limit", 1}, {"started", 1}, {"ahead", 2}}));
  EXPECT_EQ(explained["changes"]["list"][0]["change"], "array_limit");
  EXPECT_EQ(explained["changes"]["list"][0]["to"], 4);
  const auto limit = [&](const std::string& body) {
    return ask("PATCH", kJobs + "/s%5B3%5D", body, {{"content-type", "application/json"}}).status;
  };
  EXPECT_EQ(limit(R"({"array_limit": 3})"), 200);
  deliver();
  EXPECT_EQ(json("GET", kJobs + "/s%5B2%5D")["state"], "running");
  EXPECT_EQ(json("GET", kJobs + "/s%5B3%5D")["state"], "pending");
  EXPECT_EQ(limit(R"({"array_limit": 0})"), 400);
  EXPECT_EQ(limit(R"({"array_limit": "none"})"), 200);
  deliver();
  EXPECT_EQ(json("GET", kJobs + "/s%5B3%5D")["state"], "running");
  EXPECT_EQ(json("GET", kJobs + "/s%5B3%5D")["array"], Json::object({{"index", 3}}));
}

// N12: another tenant's job looks the same as none.
TEST_F(ApiTest, ForeignJobsLookLikeNone) {
  const auto id = submit(kSleep)["jobs"][0]["id"].get<std::string>();
  const std::string mallory = "/v1/tenants/mallory/jobs/";
  const auto strip = [](std::string text, const std::string& name) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), "X");
    return text;
  };
  const std::string none = "01a22c87-0000-7000-8000-000000000000";
  for (const char* rest : {"", "/logs", ":explain", ":wait"}) {
    const auto foreign = ask("GET", mallory + id + rest);
    const auto missing = ask("GET", mallory + none + rest);
    EXPECT_EQ(foreign.status, 404) << rest;
    EXPECT_EQ(strip(foreign.body, id), strip(missing.body, none));
  }
  for (const char* verb : {":cancel", ":hold", ":release", ":requeue"})
    EXPECT_EQ(ask("POST", mallory + id + verb).status, 404) << verb;
  EXPECT_EQ(json("GET", "/v1/tenants/mallory/jobs")["jobs"].size(), 0u);
  EXPECT_EQ(json("GET", kJobs + "/" + id)["state"], "running");
}

TEST_F(ApiTest, PagesNeitherOverlapNorSkipWhileJobsEnd) {
  for (int i = 0; i < 7; ++i) submit("name: j" + std::to_string(i) + "\nrun: x\n");
  std::vector<int> seen;
  std::string token;
  for (int page = 0; page < 10; ++page) {
    const auto answer =
        json("GET", kJobs + "?page_size=2" + (token.empty() ? "" : "&page_token=" + token));
    for (const auto& job : answer["jobs"]) seen.push_back(job["number"]);
    if (page == 1) end_all();
    if (page == 0) submit("name: late\nrun: x\n");
    if (!answer.contains("next_page_token")) break;
    token = answer["next_page_token"];
  }
  EXPECT_EQ(seen, (std::vector<int>{7, 6, 5, 4, 3, 2, 1}));
}

TEST_F(ApiTest, ListsAreFiltered) {
  submit("name: a\nrun: x\n");
  end_all();
  submit("name: b\nrun: x\n");
  submit("name: c\nrun: x\n", "?hold=true");
  const auto names = [&](const std::string& query) {
    std::string text;
    const auto page = json("GET", kJobs + query);
    for (const auto& job : page["jobs"]) text += job["name"];
    return text;
  };
  EXPECT_EQ(names(""), "cba");
  EXPECT_EQ(names("?state=live"), "cb");
  EXPECT_EQ(names("?state=ended"), "a");
  EXPECT_EQ(names("?state=running,succeeded"), "ba");
  EXPECT_EQ(names("?name=b"), "b");
  EXPECT_EQ(names("?queue=other"), "");
  EXPECT_EQ(json("GET", kJobs + "?state=bad", 400)["field"], "state");
  EXPECT_EQ(json("GET", kJobs + "?page_size=1001", 400)["field"], "page_size");
  EXPECT_EQ(json("GET", kJobs + "?page_size=0", 400)["field"], "page_size");
  EXPECT_EQ(json("GET", kJobs + "?page_token=x", 400)["field"], "page_token");
  EXPECT_FALSE(json("GET", kJobs)["jobs"][0].contains("spec"));
  EXPECT_TRUE(json("GET", kJobs + "?view=full")["jobs"][0].contains("spec"));
}

TEST_F(ApiTest, ExplainGivesReasonsWithNumbers) {
  submit("name: big\nrun: x\neach: {gpu: 3}\n");
  const auto explained = json("GET", kJobs + "/big:explain");
  EXPECT_EQ(explained["reasons"][0]["reason"]["code"], "NoMatchingNode");
  EXPECT_EQ(explained["reasons"][0]["never"], true);
  EXPECT_EQ(explained["job"]["state"], "pending");
  ASSERT_EQ(explained["limits"].size(), 1u);
  EXPECT_EQ(explained["limits"][0]["nodes"], 1);
  EXPECT_EQ(explained["limits"][0]["counts"][0]["limit"], "too_small");
  EXPECT_EQ(explained["limits"][0]["counts"][0]["resource"], "gpu");
  EXPECT_EQ(explained["limits"][0]["counts"][0]["nodes"], 1);
}

TEST_F(ApiTest, ExplainSaysWhenAJobStartsAndWhatWouldStartItNow) {
  submit("name: big\nrun: x\neach: {gpu: 3}\n");
  auto explained = json("GET", kJobs + "/big:explain");
  EXPECT_EQ(explained["start_estimate"]["known"], true);
  EXPECT_EQ(explained["start_estimate"]["within_horizon"], false);
  ASSERT_EQ(explained["changes"]["list"].size(), 1u);
  const Json change = explained["changes"]["list"][0];
  EXPECT_EQ(change["change"], "devices");
  EXPECT_EQ(change["by"], "owner");
  EXPECT_EQ(change["from"], 3);
  EXPECT_EQ(change["to"], 2);
  EXPECT_EQ(change["size_thousandths"], 333);

  submit("name: first\nrun: x\neach: {gpu: 2}\ntime_limit: 2h\n");
  submit("name: second\nrun: x\neach: {gpu: 1}\n");
  explained = json("GET", kJobs + "/second:explain");
  const Json estimate = explained["start_estimate"];
  EXPECT_EQ(estimate["within_horizon"], true);
  EXPECT_LT(estimate["from"], estimate["start"]);
  EXPECT_LT(estimate["start"], estimate["until"]);
  EXPECT_TRUE(explained["changes"]["list"].empty());  // every device is taken
  EXPECT_FALSE(json("GET", kJobs + "/first:explain").contains("start_estimate"));
}

TEST_F(ApiTest, WhatIfComparesTheStateWithAnother) {
  submit("name: first\nrun: x\neach: {gpu: 2}\ntime_limit: 2h\n");
  submit("name: second\nrun: x\neach: {gpu: 1}\ntime_limit: 1h\n");
  const auto what_if = [&](const std::string& yaml, int status = 200) {
    const auto response = ask("POST", "/v1/what-if", yaml, {{"content-type", "application/yaml"}});
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body, nullptr, false);
  };
  const Json added = what_if("changes: [add_nodes: {count: 1, like: n1}]\nhorizon: 10h\n");
  EXPECT_EQ(added["horizon_seconds"], 36'000);
  EXPECT_EQ(added["waiting_jobs"], 1);
  EXPECT_EQ(added["now"]["starting_jobs"], 1);
  EXPECT_NEAR(added["now"]["mean_wait_seconds"].get<double>(), 7200, 60);
  EXPECT_EQ(added["changed"]["mean_wait_seconds"], 0);
  EXPECT_EQ(added["changed"]["devices_thousandths"], 4000);
  EXPECT_GT(added["now"]["utilisation_ratio"], added["changed"]["utilisation_ratio"]);

  const Json submitted = what_if(
      "changes:\n"
      "  - queue_limit: {queue: default, resource: gpu, limit: 2}\n"
      "  - submit_job: {name: third, run: x, each: {gpu: 1}}\n"
      "  - submit_job: |\n"
      "      name: huge\n"
      "      run: x\n"
      "      each: {gpu: 9}\n"
      "  - policy: fgd\n");
  ASSERT_EQ(submitted["submitted"].size(), 2u);
  EXPECT_EQ(submitted["submitted"][0]["name"], "third");
  EXPECT_EQ(submitted["submitted"][0]["within_horizon"], true);
  EXPECT_NEAR(submitted["submitted"][0]["wait_seconds"].get<double>(), 7200, 60);
  EXPECT_EQ(submitted["submitted"][1]["within_horizon"], false);

  EXPECT_EQ(what_if("changes: [drain_node: n2]\n", 400)["field"], "changes[0].drain_node");
  EXPECT_EQ(what_if("changes: [drain: n2]\n", 400)["field"], "changes[0].drain");
  EXPECT_EQ(what_if("changes: [policy: fgb]\n", 400)["field"], "changes[0].policy");
  EXPECT_EQ(what_if("changes: []\n", 400)["field"], "changes");
  EXPECT_EQ(what_if("changes: [submit_job: {name: typo, run: x, each: {gpus: 1}}]\n", 400)["field"],
            "changes[0].submit_job.each.gpus");
  EXPECT_EQ(what_if("changes: [drain_node: n1]\nhorizon: 0s\n", 400)["field"], "horizon");
  EXPECT_EQ(ask("POST", "/v1/what-if", "{}", {{"content-type", "text/plain"}}).status, 415);
  // Nothing was changed.
  EXPECT_EQ(json("GET", "/v1/nodes")["nodes"].size(), 1u);
  EXPECT_EQ(json("GET", "/v1/nodes/n1")["drained"], false);
  EXPECT_EQ(json("GET", kJobs)["jobs"].size(), 2u);
}

TEST_F(ApiTest, ExplainSaysWhyATaskLiesThere) {
  submit(kSleep);
  submit("name: big\nrun: x\neach: {gpu: 3}\n");
  const auto placement = json("GET", kJobs + "/nap:explain")["placement"];
  ASSERT_EQ(placement["tasks"].size(), 1u);
  EXPECT_EQ(placement["tasks"][0]["decided_by"], "only_one");
  EXPECT_EQ(placement["tasks"][0]["feasible_nodes"], 1);
  EXPECT_FALSE(placement["tasks"][0].contains("runner_up"));
  EXPECT_TRUE(placement.contains("decided_at"));
  EXPECT_FALSE(placement.contains("domain"));
  EXPECT_FALSE(json("GET", kJobs + "/big:explain").contains("placement"));
}

TEST_F(ApiTest, WaitIsAnsweredWhenTheJobEnds) {
  submit(kSleep);
  EXPECT_EQ(json("GET", kJobs + "/nap:wait?timeout=0s")["state"], "running");
  EXPECT_EQ(json("GET", kJobs + "/nap:wait?timeout=6m", 400)["field"], "timeout");
  EXPECT_EQ(json("GET", kJobs + "/nap:wait?timeout=3", 400)["field"], "timeout");
  std::string state;
  std::thread waiter([&] { state = json("GET", kJobs + "/nap:wait?timeout=5m")["state"]; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  end_all();
  waiter.join();
  EXPECT_EQ(state, "succeeded");
}

TEST_F(ApiTest, LogsComeByOffset) {
  submit(kSleep);
  const auto read = [&](const std::string& query) {
    const auto response = ask("GET", kJobs + "/nap/logs" + query);
    EXPECT_EQ(response.status, 200) << response.body;
    std::string bytes;
    if (!response.stream) return bytes;
    for (bool ended = false; !ended;) {
      std::promise<BodyChunk> promise;
      response.stream->next([&](BodyChunk chunk) { promise.set_value(std::move(chunk)); });
      const auto chunk = promise.get_future().get();
      bytes += chunk.bytes;
      ended = chunk.outcome != BodyChunk::Outcome::kMore;
    }
    return bytes;
  };
  EXPECT_EQ(read(""), "hello\n");
  EXPECT_EQ(read("?offset=2"), "llo\n");
  thread_->call([this](ControlLoop&) {
    backend_.logs_ended = true;
    return 0;
  });
  EXPECT_EQ(read("?follow=true"), "hello\n");
  EXPECT_EQ(json("GET", kJobs + "/nap/logs?task=1", 404)["field"], "task");
  EXPECT_EQ(json("GET", kJobs + "/nap/logs?attempt=2", 404)["code"], "NotFound");
  EXPECT_EQ(json("GET", kJobs + "/nap/logs?stream=../x", 400)["field"], "stream");
  EXPECT_EQ(json("GET", kJobs + "/nap/logs?offset=-1", 400)["field"], "offset");
}

TEST_F(ApiTest, NodesShowDevicesAndTasksAndAreDrained) {
  submit(kSleep);
  const auto nodes = json("GET", "/v1/nodes");
  const auto& node = nodes["nodes"][0];
  EXPECT_EQ(nodes["enforcement"]["memory"], "enforced");
  EXPECT_EQ(node["devices"][0]["emulated"], true);
  EXPECT_EQ(node["devices"][0]["free_share_thousandths"].get<int>() +
                node["devices"][1]["free_share_thousandths"].get<int>(),
            1000);
  EXPECT_EQ(node["tasks"][0]["name"], "nap");
  EXPECT_EQ(json("POST", "/v1/nodes/n1:drain")["drained"], true);
  EXPECT_EQ(json("GET", "/v1/nodes/n1")["reason"]["code"], "DrainedBy");
  EXPECT_EQ(json("POST", "/v1/nodes/n1:undrain")["drained"], false);
  EXPECT_EQ(json("POST", "/v1/nodes/n2:drain", 404)["code"], "NotFound");
}

TEST_F(ApiTest, TheSummaryAddsUp) {
  submit(kSleep);
  const auto summary = json("GET", "/v1/summary");
  EXPECT_EQ(summary["devices"][0]["total"], 2);
  EXPECT_EQ(summary["devices"][0]["allocated_thousandths"], 1000);
  EXPECT_EQ(summary["devices"][0]["utilisation_ratio"], 0.5);
  EXPECT_EQ(summary["devices"][0]["emulated"], true);
  EXPECT_EQ(summary["jobs_by_state"]["running"], 1);
  EXPECT_EQ(summary["nodes"]["up"], 1);
  EXPECT_EQ(json("GET", "/v1/queues")["queues"][0]["running_jobs"], 1);
  EXPECT_EQ(json("GET", "/v1/version")["version"], "1.2.3");
}

TEST_F(ApiTest, AFullDiskMeansReadOnlyAndSaysSo) {
  submit(kSleep);
  thread_->call([this](ControlLoop&) {
    store_.full = true;
    return 0;
  });
  const auto refused = submit("name: late\nrun: x\n", "", "", 503);
  EXPECT_EQ(refused["code"], "StoreReadOnly");
  EXPECT_GT(refused["retry_after"], 0);
  EXPECT_EQ(json("POST", kJobs + "/nap:cancel", 503)["code"], "StoreReadOnly");
  EXPECT_EQ(json("POST", "/v1/nodes/n1:drain", 503)["code"], "StoreReadOnly");
  EXPECT_EQ(json("GET", "/v1/summary")["read_only"], true);
  EXPECT_EQ(ask("GET", "/readyz?verbose").status, 503);
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  EXPECT_EQ(json("GET", kJobs + "/nap")["state"], "running");
}

// The document and the routes hold each other: methods, paths, query
// parameters, and every field of the answers.
TEST_F(ApiTest, OpenapiDescribesTheRoutesServed) {
  const auto document = json("GET", "/openapi.json");
  std::set<std::string> described, served;
  for (const auto& [path, methods] : document["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::string line = method + " " + path;
      for (const auto& parameter : operation["parameters"])
        if (parameter["in"] == "query") line += " " + parameter["name"].get<std::string>();
      described.insert(line);
    }
  for (const auto& route : router_.routes()) {
    std::string line = route.method + " " + route.pattern;
    for (auto& c : line)
      if (c == ' ')
        break;
      else
        c = static_cast<char>(std::tolower(c));
    for (const auto& name : route.query) line += " " + name;
    served.insert(line);
  }
  // The order of parameters is not a promise.
  const auto sorted = [](const std::set<std::string>& lines) {
    std::set<std::multiset<std::string>> words;
    for (const auto& line : lines) {
      std::multiset<std::string> set;
      std::istringstream stream(line);
      for (std::string word; stream >> word;) set.insert(word);
      words.insert(set);
    }
    return words;
  };
  EXPECT_EQ(sorted(described), sorted(served));
}

class OpenapiFields {
 public:
  explicit OpenapiFields(const Json& document) : document_(document) {}

  // What of `value` the schema does not describe, as paths.
  std::vector<std::string> undescribed(const Json& value, const std::string& schema) {
    found_.clear();
    check(value, document_["components"]["schemas"][schema], schema);
    return found_;
  }

 private:
  void check(const Json& value, Json schema, const std::string& where) {
    while (schema.contains("$ref")) {
      const auto ref = schema["$ref"].get<std::string>();
      schema = document_["components"]["schemas"][ref.substr(ref.rfind('/') + 1)];
    }
    if (value.is_array() && schema.contains("items"))
      for (const auto& item : value) check(item, schema["items"], where + "[]");
    if (!value.is_object() || !schema.contains("properties")) return;
    for (const auto& [key, inner] : value.items()) {
      if (!schema["properties"].contains(key))
        found_.push_back(where + "." + key);
      else
        check(inner, schema["properties"][key], where + "." + key);
    }
    for (const auto& key : schema["required"])
      if (!value.contains(key.get<std::string>()))
        found_.push_back(where + " lacks " + key.get<std::string>());
  }

  const Json& document_;
  std::vector<std::string> found_;
};

TEST_F(ApiTest, OpenapiDescribesTheFieldsGiven) {
  const auto document = json("GET", "/openapi.json");
  OpenapiFields fields(document);
  const std::vector<std::string> none;
  submit("name: big\nrun: x\neach: {gpu: 3}\n");
  EXPECT_EQ(fields.undescribed(submit(kSleep), "Submitted"), none);
  EXPECT_EQ(fields.undescribed(json("GET", kJobs + "/nap"), "Job"), none);
  EXPECT_EQ(fields.undescribed(json("GET", kJobs), "JobPage"), none);
  EXPECT_EQ(fields.undescribed(json("GET", kJobs + "/big:explain"), "Explanation"), none);
  EXPECT_EQ(fields.undescribed(json("GET", kJobs + "/nap:explain"), "Explanation"), none);
  const auto answer =
      ask("POST", "/v1/what-if", R"({"changes": [{"submit_job": {"name": "new", "run": "x"}}]})",
          {{"content-type", "application/json"}});
  EXPECT_EQ(fields.undescribed(Json::parse(answer.body), "WhatIfAnswer"), none);
  EXPECT_EQ(fields.undescribed(json("GET", "/v1/nodes"), "NodeList"), none);
  EXPECT_EQ(fields.undescribed(json("GET", "/v1/queues"), "QueueList"), none);
  EXPECT_EQ(fields.undescribed(Json::parse(ask("POST", "/v1/config:reload").body),
                               "ReloadedConfiguration"),
            none);
  EXPECT_EQ(fields.undescribed(json("GET", "/v1/summary"), "Summary"), none);
  EXPECT_EQ(fields.undescribed(json("GET", "/v1/report/effective"), "EffectiveReport"), none);
  EXPECT_EQ(fields.undescribed(json("GET", "/v1/doctor"), "Diagnosis"), none);
  EXPECT_EQ(fields.undescribed(json("GET", kJobs + "/nosuch", 404), "Problem"), none);
  end_all({.code = 1});
  EXPECT_EQ(fields.undescribed(json("GET", kJobs + "/nap"), "Job"), none);
}

}  // namespace
}  // namespace gridfold
