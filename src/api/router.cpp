#include "api/router.h"

#include <algorithm>

#include "api/problem.h"
#include "base/nearest.h"
#include "base/quote.h"

namespace gridfold {
namespace {

std::vector<std::string_view> segments_of(std::string_view pattern) {
  std::vector<std::string_view> segments;
  pattern.remove_prefix(1);
  while (true) {
    const auto slash = pattern.find('/');
    segments.push_back(pattern.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    pattern.remove_prefix(slash + 1);
  }
}

using PathValues = std::map<std::string, std::string, std::less<>>;

// One segment against "{name}", "{name}:verb" or fixed text.
bool match_segment(std::string_view pattern, std::string_view segment, PathValues& values) {
  if (!pattern.starts_with('{')) return pattern == segment;
  const auto close = pattern.find('}');
  const auto suffix = pattern.substr(close + 1);
  if (!segment.ends_with(suffix) || segment.size() == suffix.size()) return false;
  const auto value = segment.substr(0, segment.size() - suffix.size());
  // Names hold no colon: a known name with an unknown verb is not a name.
  if (value.find(':') != std::string_view::npos) return false;
  values.emplace(pattern.substr(1, close - 1), value);
  return true;
}

std::optional<PathValues> match(std::string_view pattern, const std::vector<std::string>& path) {
  const auto segments = segments_of(pattern);
  if (segments.size() != path.size()) return std::nullopt;
  PathValues values;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (!match_segment(segments[i], path[i], values)) return std::nullopt;
  return values;
}

Problem unknown_route(const HttpRequest& request) {
  Problem problem{404, "UnknownRoute", "There is no such path",
                  "nothing is served at " + quote(request.path)};
  problem.hint = "/openapi.json lists what is served";
  return problem;
}

std::string query_hint(const Route& route, std::string_view name) {
  if (route.query.empty()) return "this path takes no query parameters";
  const std::vector<std::string_view> known(route.query.begin(), route.query.end());
  if (const auto meant = nearest(name, known); !meant.empty())
    return "did you mean " + std::string(meant) + "?";
  std::string hint = "this path takes";
  for (const auto word : known) hint.append(1, ' ').append(word);
  return hint;
}

std::optional<Problem> check_query(const Route& route, const Query& query) {
  for (const auto& [name, value] : query.all()) {
    if (std::find(route.query.begin(), route.query.end(), name) != route.query.end()) continue;
    Error error = invalid("there is no query parameter " + quote(name) + " here");
    error.field = name;
    error.hint = query_hint(route, name);
    return to_problem(error);
  }
  return std::nullopt;
}

HttpResponse method_not_allowed(const HttpRequest& request, const std::string& allowed) {
  auto response = to_response({405, "MethodNotAllowed", "The path has no such method",
                               request.method + " is not served here, but " + allowed},
                              request.request_id);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

void Router::add(std::string method, std::string pattern, std::vector<std::string> query,
                 ApiHandler handler) {
  routes_.push_back({std::move(method), std::move(pattern), std::move(query), std::move(handler)});
}

void Router::handle(HttpRequest request, Respond respond) const {
  const auto path = split_path(request.path);
  if (!path) return respond(to_response(to_problem(path.error()), request.request_id));
  std::string allowed;
  for (const auto& route : routes_) {
    auto values = match(route.pattern, *path);
    if (!values) continue;
    if (route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + route.method;
      continue;
    }
    auto query = Query::parse(request.query);
    if (!query) return respond(to_response(to_problem(query.error()), request.request_id));
    if (const auto problem = check_query(route, *query))
      return respond(to_response(*problem, request.request_id));
    return route.handler({std::move(request), std::move(*values), std::move(*query)},
                         std::move(respond));
  }
  if (!allowed.empty()) return respond(method_not_allowed(request, allowed));
  respond(to_response(unknown_route(request), request.request_id));
}

}  // namespace gridfold
