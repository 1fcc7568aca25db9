// From method and path to a handler:
//
//   Router router;
//   router.add("POST", "/v1/tenants/{tenant}/jobs/{job}:cancel", {}, cancel_job);
//   router.handle(request, respond);
//
// A "{name}" takes one segment; a ":verb" may follow the last. Unknown paths
// give 404, known paths with another method 405, unknown query parameters 400,
// naming the known ones. Constant after set-up; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_message.h"
#include "api/uri.h"

namespace gridfold {

struct ApiRequest {
  HttpRequest http;
  std::map<std::string, std::string, std::less<>> path;  // values of the "{name}"s
  Query query;

  const std::string& path_value(std::string_view name) const { return path.find(name)->second; }
};

using ApiHandler = std::function<void(const ApiRequest&, Respond)>;

struct Route {
  std::string method;
  std::string pattern;
  std::vector<std::string> query;  // the parameters it takes
  ApiHandler handler;
};

class Router {
 public:
  void add(std::string method, std::string pattern, std::vector<std::string> query,
           ApiHandler handler);
  void handle(HttpRequest request, Respond respond) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace gridfold
