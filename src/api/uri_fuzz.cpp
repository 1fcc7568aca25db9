// Paths and queries from any bytes: no crash, and what is accepted names
// nothing outside its own segment.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/router.h"
#include "api/uri.h"

using namespace gridfold;

namespace {

const Router& router() {
  static const Router routes = [] {
    Router made;
    const auto answer = [](const ApiRequest&, Respond respond) { respond({}); };
    made.add("GET", "/v1/tenants/{tenant}/jobs", {"state", "page_size"}, answer);
    made.add("GET", "/v1/tenants/{tenant}/jobs/{job}", {}, answer);
    made.add("POST", "/v1/tenants/{tenant}/jobs/{job}:cancel", {}, answer);
    made.add("GET", "/v1/tenants/{tenant}/jobs/{job}/logs", {"follow", "offset"}, answer);
    return made;
  }();
  return routes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = split_path(text))
    for (const auto& segment : *path)
      if (segment.empty() || segment == ".." || segment.find('/') != std::string::npos)
        std::abort();
  if (const auto query = Query::parse(text)) {
    static_cast<void>(query->count("offset", 0));
    static_cast<void>(query->flag("follow"));
  }
  HttpRequest request;
  request.method = size % 2 == 0 ? "GET" : "POST";
  const auto question = text.find('?');
  request.path = text.substr(0, question);
  if (question != std::string_view::npos) request.query = text.substr(question + 1);
  int answers = 0;
  router().handle(std::move(request), [&](HttpResponse) { ++answers; });
  if (answers != 1) std::abort();
  return 0;
}
