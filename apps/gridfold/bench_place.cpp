#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "apps/gridfold/bench.h"
#include "apps/gridfold/bench_place_run.h"
#include "apps/gridfold/cli.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

// `phase` names the object for whoever looks for its figures alone.
void write_times(JsonWriter& json, const std::string& stream, const char* phase,
                 const DecisionTimes& times) {
  json.key(phase).begin_object().key("stream").string(stream + ", " + phase);
  json.key("decisions").number(times.decisions);
  json.key("refused").number(times.refused);
  json.key("decisions_per_second")
      .real(times.ns_per_decision > 0 ? 1e9 / times.ns_per_decision : 0);
  json.key("ns_per_decision").real(times.ns_per_decision);
  json.key("cpu_ns_per_decision").real(times.cpu_ns_per_decision);
  json.key("p50_ns").number(times.p50_ns);
  json.key("p99_ns").number(times.p99_ns);
  json.key("max_ns").number(times.max_ns).end_object();
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::string json_of(const BenchPlaceOptions& options, const BenchPlaceResult& result) {
  const auto per_node = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(options.nodes);
  };
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("nodes").number(options.nodes);
  json.key("devices_per_node").number(kBenchDevices);
  json.key("policy").string(options.policy);
  json.key("stream").string(options.stream);
  json.key("mix").string(options.mix_is_known ? "known" : "learned");
  json.key("seed").number(options.seed);
  write_times(json, options.stream, "fill", result.fill);
  write_times(json, options.stream, "churn", result.churn);
  write_times(json, options.stream, "scan", result.scan);
  json.key("bitmap_fill_cpu_ns").real(result.bitmap_fill_cpu_ns);
  json.key("bitmap_churn_cpu_ns").real(result.bitmap_churn_cpu_ns);
  json.key("fill_to_bitmap_ratio")
      .real(ratio(result.fill.cpu_ns_per_decision, result.bitmap_fill_cpu_ns));
  json.key("churn_to_bitmap_ratio")
      .real(ratio(result.churn.cpu_ns_per_decision, result.bitmap_churn_cpu_ns));
  json.key("scan_to_churn_ratio")
      .real(ratio(result.scan.cpu_ns_per_decision, result.churn.cpu_ns_per_decision));
  json.key("clock_ns").real(result.clock_ns);
  json.key("gpu_allocated_ratio").real(result.gpu_allocated_ratio);
  json.key("book_bytes_per_node").real(per_node(result.book_bytes));
  json.key("record_bytes_per_node").real(per_node(result.record_bytes));
  json.key("row_bytes_per_node").real(per_node(result.row_bytes));
  json.key("row_bytes").number(result.row_bytes);
  json.key("rows").number(result.rows);
  json.key("decisions_sha256").string(result.decisions_sha256);
  json.key("wall_seconds").real(result.wall_seconds).end_object();
  return text + "\n";
}

void print_times(const char* name, const DecisionTimes& times) {
  std::printf("%-7s %10llu %9llu %12.1f %14.1f %9lld %9lld %12lld\n", name,
              static_cast<unsigned long long>(times.decisions),
              static_cast<unsigned long long>(times.refused), times.ns_per_decision,
              times.cpu_ns_per_decision, static_cast<long long>(times.p50_ns),
              static_cast<long long>(times.p99_ns), static_cast<long long>(times.max_ns));
}

void print_table(const BenchPlaceOptions& options, const BenchPlaceResult& result) {
  std::printf("%u nodes of %lld devices, policy %s, stream %s, seed %llu\n\n", options.nodes,
              static_cast<long long>(kBenchDevices), options.policy.c_str(), options.stream.c_str(),
              static_cast<unsigned long long>(options.seed));
  std::printf("%-7s %10s %9s %12s %14s %9s %9s %12s\n", "PHASE", "DECISIONS", "REFUSED",
              "NS/DECISION", "CPU NS/DECISION", "P50 NS", "P99 NS", "MAX NS");
  print_times("fill", result.fill);
  print_times("churn", result.churn);
  print_times("scan", result.scan);
  const auto per_node = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(options.nodes);
  };
  std::printf("\nbare bitmap: fill %.1f ns, churn %.1f ns (%.0f and %.0f times less)\n",
              result.bitmap_fill_cpu_ns, result.bitmap_churn_cpu_ns,
              ratio(result.fill.cpu_ns_per_decision, result.bitmap_fill_cpu_ns),
              ratio(result.churn.cpu_ns_per_decision, result.bitmap_churn_cpu_ns));
  std::printf("bytes a node: books %.0f, rows %.0f (%zu of them), records %.0f\n",
              per_node(result.book_bytes), per_node(result.row_bytes), result.rows,
              per_node(result.record_bytes));
  std::printf("decisions %s, %.2f s\n", result.decisions_sha256.c_str(), result.wall_seconds);
}

}  // namespace

int bench_place_main(int argc, char** argv) {
  BenchPlaceOptions options;
  std::string mix = "learned";
  std::string output = "table";
  CLI::App app(
      "Fills a cluster and keeps it at 95 %, one task a decision, and tells how long each took; "
      "beside it the full scan and a bare bitmap of the devices.",
      "gridfold bench place");
  app.add_option("--nodes", options.nodes, "nodes of 8 devices")
      ->check(CLI::Range(1, 4'000'000))
      ->capture_default_str();
  app.add_option("--policy", options.policy, "a placement policy")->capture_default_str();
  app.add_option("--stream", options.stream, "single, eight, fraction or openb")
      ->capture_default_str();
  app.add_option("--mix", mix, "known: the policy is told the mix beforehand")
      ->check(CLI::IsMember({"learned", "known"}))
      ->capture_default_str();
  app.add_option("--decisions", options.churn_decisions, "at 95 %")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the tasks and of who leaves")->capture_default_str();
  app.add_option("-o,--output", output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  if (const auto ended = parse_flags(app, argc, argv)) return *ended;
  options.mix_is_known = mix == "known";
  const auto result = run_bench_place(options);
  if (!result) {
    std::fprintf(stderr, "gridfold bench place: %s\n", result.error().describe().c_str());
    return exit_code_of(result.error().kind);
  }
  if (output == "json") {
    std::fputs(json_of(options, *result).c_str(), stdout);
  } else {
    print_table(options, *result);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace gridfold
