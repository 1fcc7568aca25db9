#include "simulator/html_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "simulator/svg.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostPoints = 400;  // one for two pixels of a plot's width

constexpr const char* kStyle = R"(
:root{--ground:#fff;--ink:#1c2330;--soft:#5a6475;--grid:#e3e7ee;--card:#f5f7fa;
--plot-1:#1f6feb;--plot-2:#d9480f;--plot-3:#2b8a3e;--plot-4:#9c36b5;--plot-5:#0b7285;--plot-6:#846a00}
@media(prefers-color-scheme:dark){:root{--ground:#12161d;--ink:#e6eaf0;--soft:#9aa5b5;--grid:#2a3240;
--card:#1b212b;--plot-1:#6ea8fe;--plot-2:#ff922b;--plot-3:#69db7c;--plot-4:#da77f2;--plot-5:#3bc9db;--plot-6:#ffd43b}}
body{margin:0 auto;max-width:920px;padding:24px 16px;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 4px}p.sub{color:var(--soft);margin:0 0 20px}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:12px;margin:0 0 24px}
dl div{background:var(--card);border-radius:8px;padding:10px 14px}
dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}
section{margin:0 0 28px}svg{width:100%;height:auto;display:block}
svg text{fill:var(--ink);font:13px system-ui,sans-serif}svg .title{font-weight:600;font-size:15px}
.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}.line{fill:none;stroke-width:2;stroke-linejoin:round}
details{margin-top:4px}summary{color:var(--soft);cursor:pointer;font-size:.85rem}
pre{background:var(--card);border-radius:8px;padding:12px;max-height:240px;overflow:auto;font-size:.8rem}
footer{color:var(--soft);font-size:.8rem;overflow-wrap:anywhere}
)";

std::string decimal(double value, const char* format = "%.6g") {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}
std::string per_cent(double ratio) { return decimal(100 * ratio, "%.2f") + " %"; }

// Seconds as a person says them.
std::string spoken(double seconds) {
  if (seconds < 120) return decimal(seconds, "%.3g") + " s";
  if (seconds < 7200) return decimal(seconds / 60, "%.1f") + " min";
  if (seconds < 172800) return decimal(seconds / 3600, "%.1f") + " h";
  return decimal(seconds / 86400, "%.1f") + " days";
}

class Page {
 public:
  explicit Page(const std::string& title) {
    out_ =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
        escape_xml(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<main>\n";
  }

  void add(const std::string& html) { out_ += html; }
  void begin_figures() { out_ += "<dl>\n"; }
  void figure(const std::string& name, const std::string& value) {
    out_ += "<div><dt>" + escape_xml(name) + "</dt><dd>" + escape_xml(value) + "</dd></div>\n";
  }
  void end_figures() { out_ += "</dl>\n"; }

  void plot(const PlotOptions& options, const std::vector<PlotSeries>& series) {
    out_ += "<section>\n" + line_plot(options, series);
    out_ += "<details><summary>Numbers (CSV)</summary>\n<pre>";
    out_ += escape_xml("series," + options.x_label + "," + options.y_label) + "\n";
    for (const auto& one : series) {
      for (const auto& point : one.points) {
        out_ += escape_xml(one.name) + "," + decimal(point.x, "%.9g") + "," +
                decimal(point.y, "%.9g") + "\n";
      }
    }
    out_ += "</pre></details>\n</section>\n";
  }

  std::string finish() { return std::move(out_) + "</main>\n</body>\n</html>\n"; }

 private:
  std::string out_;
};

double mean(std::span<const SeedResult> results, double (*value)(const SimulationResult&)) {
  double sum = 0;
  for (const auto& run : results) sum += value(run.result);
  return sum / static_cast<double>(results.size());
}

void add_head(Page& page, const RunDescription& description, std::span<const SeedResult> results) {
  const auto& capacity = description.capacity;
  std::string seeds = "seed " + std::to_string(results.front().seed);
  if (results.size() > 1) seeds += " to " + std::to_string(results.back().seed);
  page.add("<h1>" + escape_xml(description.workload) + " on " + escape_xml(description.cluster) +
           "</h1>\n<p class=\"sub\">policy " + escape_xml(description.policy) + ", mode " +
           std::string(to_string(description.settings.mode)) + ", " + seeds + "; " +
           std::to_string(capacity.nodes) + " nodes, " +
           std::to_string(capacity.gpu_thousandths / kWholeDevice.value) +
           " GPUs (simulated)</p>\n");
}

void add_figures(Page& page, const RunDescription& description,
                 std::span<const SeedResult> results) {
  const bool gpus = description.capacity.gpu_thousandths > 0;
  const SimulationResult& first = results.front().result;
  page.begin_figures();
  if (description.settings.mode == RunMode::kSaturation) {
    page.figure("GPUs allocated at the end",
                per_cent(mean(results, [](const auto& r) { return r.gpu_allocated; })));
    page.figure("Fragmented, of the idle GPUs",
                per_cent(mean(results, [](const auto& r) { return r.fragmentation; })));
  } else {
    if (gpus) {
      page.figure("GPU utilisation, mean",
                  per_cent(mean(results, [](const auto& r) { return r.gpu_utilisation; })));
    } else {
      page.figure("CPU utilisation, mean",
                  per_cent(mean(results, [](const auto& r) { return r.cpu_utilisation; })));
    }
    page.figure("Waiting time, mean",
                spoken(mean(results, [](const auto& r) { return r.wait.mean_seconds; })));
    page.figure("Waiting time, 99 % below",
                spoken(mean(results, [](const auto& r) { return r.wait.p99_seconds; })));
    page.figure("Completion time, mean",
                spoken(mean(results, [](const auto& r) { return r.completion.mean_seconds; })));
    page.figure("Makespan",
                spoken(mean(results, [](const auto& r) { return r.makespan.in_seconds(); })));
  }
  page.figure("Jobs submitted", std::to_string(first.counts.submitted));
  page.figure("Still waiting", std::to_string(first.waiting));
  page.figure("Can never run here", std::to_string(first.infeasible));
  page.end_figures();
}

// Means over equal stretches of time, in % of the capacity; empty when nothing
// was ever held.
std::vector<PlotPoint> usage_points(std::span<const UsagePoint> usage,
                                    std::int64_t UsagePoint::*what, std::int64_t capacity) {
  const bool used = std::any_of(usage.begin(), usage.end(),
                                [&](const UsagePoint& point) { return point.*what > 0; });
  if (!used) return {};
  const Instant from = usage.front().at, to = usage.back().at;
  const std::int64_t step = std::max<std::int64_t>((to - from).ns / kMostPoints, 1);
  std::vector<PlotPoint> points;
  for (const double mean : mean_usage_by_stretch(usage, what, Duration{step})) {
    const double hours = (from - Instant{}).in_seconds() / 3600 +
                         static_cast<double>(points.size()) * static_cast<double>(step) / 3.6e12;
    points.push_back({hours, 100 * mean / static_cast<double>(capacity)});
  }
  return points;
}

void add_usage(std::vector<PlotSeries>& series, const char* name, std::vector<PlotPoint> points) {
  if (points.empty()) return;
  series.push_back({name, std::move(points), true});
}

void plot_usage(Page& page, const RunDescription& description, const SimulationResult& result) {
  if (result.usage.empty()) return;
  PlotOptions options{"Utilisation over time", "hours", "% held by tasks"};
  options.y_max = 100;
  std::vector<PlotSeries> series;
  add_usage(series, "GPUs",
            usage_points(result.usage, &UsagePoint::gpu_thousandths,
                         description.capacity.gpu_thousandths));
  add_usage(series, "cores",
            usage_points(result.usage, &UsagePoint::millicores, description.capacity.millicores));
  page.plot(options, series);
}

void plot_waits(Page& page, const SimulationResult& result) {
  if (result.waits.empty()) return;
  std::vector<Duration> waits = result.waits;
  std::sort(waits.begin(), waits.end());
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const bool last_of_value = i + 1 == waits.size() || waits[i + 1] != waits[i];
    if (!last_of_value) continue;
    points.push_back({std::max(waits[i].in_seconds(), 1.0),
                      100 * static_cast<double>(i + 1) / static_cast<double>(waits.size())});
  }
  PlotOptions options{"Waiting time", "seconds waited at most (1 and less: at the left edge)",
                      "% of the jobs"};
  options.x_scale = PlotScale::kLogarithmic;
  options.y_max = 100;
  PlotSeries series{"jobs", thinned(points, kMostPoints)};
  series.steps = true;
  page.plot(options, {series});
}

// Mean over the runs at each per cent.
std::vector<PlotPoint> by_arrived(std::span<const SeedResult> results,
                                  std::vector<double> SimulationResult::*what) {
  std::vector<PlotPoint> points;
  for (std::size_t i = 0;; ++i) {
    double sum = 0, runs = 0;
    for (const auto& run : results) {
      if (i >= (run.result.*what).size()) continue;
      sum += (run.result.*what)[i];
      ++runs;
    }
    if (runs == 0) return points;
    points.push_back({static_cast<double>(i), 100 * sum / runs});
  }
}

void plot_saturation(Page& page, std::span<const SeedResult> results) {
  PlotOptions allocated{"Allocation by GPUs asked for", "% of the GPUs asked for so far",
                        "% of the GPUs"};
  allocated.y_max = 100;
  std::vector<PlotPoint> ideal;
  const auto points = by_arrived(results, &SimulationResult::gpu_allocated_by_arrived);
  for (const auto& point : points) ideal.push_back({point.x, std::min(point.x, 100.0)});
  page.plot(allocated, {{"allocated", points}, {"asked for", ideal}});
  PlotOptions fragmented{"Fragmentation", "% of the GPUs asked for so far", "% of the idle GPUs"};
  fragmented.y_max = 100;
  page.plot(fragmented,
            {{"fragmented", by_arrived(results, &SimulationResult::fragmentation_by_arrived)}});
}

}  // namespace

std::string html_report(const RunDescription& description, std::span<const SeedResult> results) {
  const SimulationResult& first = results.front().result;
  Page page("Gridfold: " + description.workload + " on " + description.cluster);
  add_head(page, description, results);
  add_figures(page, description, results);
  if (description.settings.mode == RunMode::kSaturation) {
    plot_saturation(page, results);
  } else {
    plot_usage(page, description, first);
    plot_waits(page, first);
  }
  page.add("<footer>decisions sha256 of the first run: " + first.decisions_sha256 + "</footer>\n");
  return page.finish();
}

}  // namespace gridfold
