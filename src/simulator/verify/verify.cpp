#include "simulator/verify/verify.h"

#include <algorithm>

#include "base/json_writer.h"
#include "simulator/verify/shrink.h"

namespace gridfold::verify {
namespace {

RunRequest request_for(const VerifyOptions& options, std::uint64_t seed) {
  RunRequest request;
  request.seed = seed;
  request.calm = options.calm;
  request.make_store = options.make_store;
  return request;
}

}  // namespace

VerifyReport verify_seeds(const VerifyOptions& options) {
  VerifyReport report;
  for (std::uint64_t seed = options.first_seed; seed <= options.last_seed; ++seed) {
    const RunRequest request = request_for(options, seed);
    RunResult result = run_seed(request);
    if (!result.violation && options.twice_every != 0 && seed % options.twice_every == 0) {
      const RunResult again = run_seed(request);
      if (again.decisions_sha256 != result.decisions_sha256)
        result.violation = Violation{"I12", "two runs of the seed decide differently"};
    }
    ++report.seeds;
    report.events += result.events;
    report.jobs += result.jobs;
    for (const auto& [kind, count] : result.faults) report.faults[kind] += count;
    if (result.violation) {
      Failure failure{seed, *result.violation, result.events, std::nullopt, Calm::kNo};
      if (options.shrink == Shrink::kYes) failure = shrink(request, failure);
      report.failures.push_back(std::move(failure));
    }
    if (options.on_seed) options.on_seed(seed, result);
    if (report.failures.size() >= options.most_failures) break;
  }
  return report;
}

std::string failure_line(const Failure& failure) {
  const std::string seed = std::to_string(failure.seed);
  const std::string event = std::to_string(failure.event);
  std::string line = "seed " + seed + ": " + failure.violation.invariant + " " +
                     failure.violation.text + " at event " + event +
                     ": gridfold sim replay --seed " + seed + " --until " + event;
  if (failure.calm == Calm::kYes) line += " --calm";
  if (failure.only)
    line += " --only " + (failure.only->empty() ? "none" : indices_text(*failure.only));
  return line;
}

std::string to_json(const VerifyReport& report, double wall_seconds) {
  std::string out;
  JsonWriter json(out);
  std::int64_t faults = 0;
  for (const auto& [kind, count] : report.faults) faults += count;
  json.begin_object().key("seeds").number(report.seeds).key("events").number(report.events);
  json.key("jobs").number(report.jobs).key("wall_seconds").real(wall_seconds);
  json.key("events_per_second").real(static_cast<double>(report.events) / wall_seconds);
  json.key("faults_total").number(faults).key("faults").begin_object();
  for (const auto& [kind, count] : report.faults) json.key(kind).number(count);
  json.end_object().key("failures").begin_array();
  for (const Failure& failure : report.failures) {
    json.begin_object().key("seed").number(failure.seed);
    json.key("invariant").string(failure.violation.invariant);
    json.key("message").string(failure.violation.text);
    json.key("event").number(failure.event).key("line").string(failure_line(failure));
    json.end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

std::string indices_text(const std::vector<std::uint32_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i;
    while (end + 1 < indices.size() && indices[end + 1] == indices[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(indices[i]);
    if (end > i) text += "-" + std::to_string(indices[end]);
    i = end + 1;
  }
  return text;
}

Result<std::vector<std::uint32_t>> parse_indices(std::string_view text) {
  constexpr std::int64_t kMost = 100'000;
  std::vector<std::uint32_t> indices;
  if (text == "none") return indices;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view piece = text.substr(0, comma);
    const std::size_t dash = piece.find('-');
    const auto first = parse_count(piece.substr(0, dash));
    if (!first) return first.error();
    const auto last = dash == std::string_view::npos ? first : parse_count(piece.substr(dash + 1));
    if (!last) return last.error();
    if (*last < *first || *last >= kMost) {
      Error error = invalid("the range " + std::string(piece) + " is empty or too large");
      error.hint = "write numbers and ranges, such as 3-5,9";
      return error;
    }
    for (std::int64_t i = *first; i <= *last; ++i) indices.push_back(static_cast<std::uint32_t>(i));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

}  // namespace gridfold::verify
