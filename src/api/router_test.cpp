#include "api/router.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/access.h"
#include "api/page_token.h"
#include "api/problem.h"

namespace gridfold {
namespace {

Router jobs_router() {
  Router router;
  const auto answer = [](const char* name) {
    return [name](const ApiRequest& request, Respond respond) {
      HttpResponse response;
      response.body = name;
      for (const auto& [key, value] : request.path) response.body += " " + key + "=" + value;
      respond(std::move(response));
    };
  };
  router.add("GET", "/v1/tenants/{tenant}/jobs", {"state", "page_size"}, answer("list"));
  router.add("POST", "/v1/tenants/{tenant}/jobs", {}, answer("submit"));
  router.add("GET", "/v1/tenants/{tenant}/jobs/{job}", {}, answer("get"));
  router.add("POST", "/v1/tenants/{tenant}/jobs/{job}:cancel", {}, answer("cancel"));
  router.add("GET", "/v1/tenants/{tenant}/jobs/{job}/logs", {"follow"}, answer("logs"));
  return router;
}

HttpResponse ask(const std::string& method, const std::string& path,
                 const std::string& query = "") {
  static const Router router = jobs_router();
  HttpResponse got;
  got.status = 0;
  router.handle({method, path, query}, [&](HttpResponse response) { got = std::move(response); });
  return got;
}

TEST(Router, FindsHandlersAndPathValues) {
  EXPECT_EQ(ask("GET", "/v1/tenants/a/jobs").body, "list tenant=a");
  EXPECT_EQ(ask("GET", "/v1/tenants/a/jobs/b%20c").body, "get job=b c tenant=a");
  EXPECT_EQ(ask("POST", "/v1/tenants/a/jobs/b:cancel").body, "cancel job=b tenant=a");
}

TEST(Router, RefusesWhatIsNotServed) {
  EXPECT_EQ(ask("GET", "/").status, 400);
  EXPECT_EQ(ask("GET", "/v2/tenants/a/jobs").status, 404);
  EXPECT_EQ(ask("POST", "/v1/tenants/a/jobs/b:explode").status, 404);
  const auto wrong_method = ask("DELETE", "/v1/tenants/a/jobs");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.headers.front(),
            (std::pair<std::string, std::string>{"Allow", "GET, POST"}));
  EXPECT_EQ(ask("GET", "/v1/tenants/a/jobs/b:cancel").status, 405);
}

// N12: names that would leave their place are never names.
TEST(Router, RefusesPathsThatLeaveTheirPlace) {
  for (const char* job : {"..", "%2e%2e", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "a%2fb", "a%5cb",
                          "a%00b", "a%0ab", "%ff", "%zz", "", "%"}) {
    const auto path = "/v1/tenants/default/jobs/" + std::string(job) + "/logs";
    EXPECT_EQ(ask("GET", path).status, 400) << job;
  }
  EXPECT_EQ(ask("GET", "/v1/tenants/default/jobs/../../etc/passwd/logs").status, 400);
}

TEST(Router, UnknownQueryParametersAreErrorsThatNameTheNearest) {
  const auto typo = ask("GET", "/v1/tenants/a/jobs", "stat=live");
  EXPECT_EQ(typo.status, 400);
  EXPECT_NE(typo.body.find("did you mean state?"), std::string::npos) << typo.body;
  EXPECT_EQ(ask("GET", "/v1/tenants/a/jobs", "state=a&state=b").status, 400);
  EXPECT_EQ(ask("GET", "/v1/tenants/a/jobs", "state=%zz").status, 400);
}

TEST(Query, ReadsCountsAndFlags) {
  const auto query = Query::parse("follow&offset=12&text=a+b%2Bc&empty=");
  ASSERT_TRUE(query);
  EXPECT_TRUE(*query->flag("follow"));
  EXPECT_FALSE(*query->flag("absent"));
  EXPECT_EQ(*query->count("offset", 0), 12);
  EXPECT_EQ(query->text("text"), "a b+c");
  EXPECT_FALSE(query->count("text", 0));
  EXPECT_EQ(query->count("text", 0).error().field, "text");
  EXPECT_FALSE(query->flag("offset"));
}

RC_GTEST_PROP(PageToken, ReadsBackUnderItsOwnFilterOnly,
              (std::uint64_t number, std::string filter)) {
  const auto token = make_page_token(JobId(number), filter);
  const auto back = parse_page_token(token, filter);
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->value == number);
  RC_ASSERT(!parse_page_token(token, filter + "x").has_value());
}

TEST(PageToken, RefusesOtherText) {
  for (const char* text :
       {"", "p1", "7", "p10000000000000001000000000000000g", "p1000000000000000100000000000000000"})
    EXPECT_FALSE(parse_page_token(text, "")) << text;
}

TEST(Access, OnlyLoopbackMayBeListenedOn) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(parse_listen_address("localhost:0")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("[::1]:80")->host, "::1");
  for (const char* wide :
       {"0.0.0.0:80", "[::]:80", "192.168.1.7:80", "example.org:80", "127.0.0.1.example.org:80"}) {
    const auto refused = parse_listen_address(wide);
    ASSERT_FALSE(refused) << wide;
    EXPECT_EQ(refused.error().field, "listen");
  }
  for (const char* wrong : {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536"})
    EXPECT_FALSE(parse_listen_address(wrong)) << wrong;
}

TEST(Access, HostAndOriginMustBeThisMachines) {
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80"})
    EXPECT_TRUE(host_allowed(host)) << host;
  for (const char* host : {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example",
                           "localhost.evil.example", "localhost:80@evil", "[::2]", "[::1"})
    EXPECT_FALSE(host_allowed(host)) << host;
  EXPECT_TRUE(origin_allowed("", "localhost:1"));
  EXPECT_TRUE(origin_allowed("http://localhost:1", "localhost:1"));
  for (const char* origin : {"null", "http://localhost:2", "http://evil.example", "file://"})
    EXPECT_FALSE(origin_allowed(origin, "localhost:1")) << origin;
}

TEST(Access, TokensAreComparedWhole) {
  EXPECT_TRUE(tokens_equal("abc", "abc"));
  for (const char* wrong : {"", "ab", "abd", "abcd"}) EXPECT_FALSE(tokens_equal(wrong, "abc"));
  EXPECT_FALSE(tokens_equal("", ""));
  EXPECT_EQ(bearer_token("Bearer xyz"), "xyz");
  EXPECT_EQ(bearer_token("Basic xyz"), "");
}

TEST(Problem, CarriesFieldHintAndPlace) {
  Error error = invalid("bad");
  error.field = "roles[0]";
  error.hint = "do it right";
  error.position = {3, 4};
  const auto response = to_response(to_problem(error), "r1");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"urn:gridfold:problem:Invalid","title":"The request is not valid",)"
            R"("status":400,"code":"Invalid","params":{},"detail":"bad","request_id":"r1",)"
            R"("field":"roles[0]","hint":"do it right","line":3,"column":4})");
}

TEST(Problem, ReadOnlyStoreAsksToComeBack) {
  const auto response = to_response(store_read_only(unavailable("disk full")), "r1");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find(R"("code":"StoreReadOnly")"), std::string::npos);
  EXPECT_EQ(response.headers.front().first, "Retry-After");
}

}  // namespace
}  // namespace gridfold
