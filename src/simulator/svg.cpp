#include "simulator/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace gridfold {
namespace {

constexpr double kLeft = 64, kRight = 16, kTop = 40, kBottom = 48;
constexpr int kColours = 6;

// Short decimal text: "12.5", "0.001", "1000000".
std::string number(double value, const char* format = "%.8g") {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}
std::string pixel(double value) { return number(value, "%.1f"); }

struct Range {
  double low = 0, high = 1;
};

// Maps data to pixels.
struct Frame {
  const PlotOptions& options;
  Range x, y;

  double across(double value) const {
    double share = 0;
    if (options.x_scale == PlotScale::kLogarithmic) {
      share = std::log10(std::max(value, x.low) / x.low) / std::log10(x.high / x.low);
    } else {
      share = (value - x.low) / (x.high - x.low);
    }
    return kLeft + share * (options.width - kLeft - kRight);
  }
  double up(double value) const {
    const double share = (std::clamp(value, y.low, y.high) - y.low) / (y.high - y.low);
    return options.height - kBottom - share * (options.height - kTop - kBottom);
  }
};

Range x_range(const PlotOptions& options, std::span<const PlotSeries> series) {
  const bool logarithmic = options.x_scale == PlotScale::kLogarithmic;
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  for (const auto& one : series) {
    for (const auto& point : one.points) {
      if (!logarithmic || point.x > 0) low = std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  if (high < low) return logarithmic ? Range{1, 10} : Range{0, 1};
  if (logarithmic) {
    low = std::pow(10, std::floor(std::log10(low)));
    return {low, std::max(high, low * 10)};
  }
  return {low, high > low ? high : low + 1};
}

Range y_range(const PlotOptions& options, std::span<const PlotSeries> series) {
  if (options.y_max) return {0, *options.y_max};
  double high = 0;
  for (const auto& one : series) {
    for (const auto& point : one.points) high = std::max(high, point.y);
  }
  return {0, high > 0 ? high * 1.05 : 1};
}

std::vector<double> x_ticks(const Frame& frame) {
  if (frame.options.x_scale == PlotScale::kLinear) return round_ticks(frame.x.low, frame.x.high, 8);
  std::vector<double> ticks;
  for (double tick = frame.x.low; tick <= frame.x.high * 1.0001; tick *= 10) ticks.push_back(tick);
  return ticks;
}

void text(std::string& out, double x, double y, std::string_view extra, std::string_view content) {
  out += "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" " + std::string(extra) + ">" +
         escape_xml(content) + "</text>\n";
}

void line(std::string& out, double x1, double y1, double x2, double y2, std::string_view css) {
  out += "<line x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) + "\" y2=\"" +
         pixel(y2) + "\" class=\"" + std::string(css) + "\"/>\n";
}

void draw_axes(std::string& out, const Frame& frame) {
  const auto& options = frame.options;
  const double bottom = options.height - kBottom, right = options.width - kRight;
  for (const double tick : round_ticks(frame.y.low, frame.y.high, 5)) {
    line(out, kLeft, frame.up(tick), right, frame.up(tick), "grid");
    text(out, kLeft - 8, frame.up(tick) + 4, "text-anchor=\"end\"", number(tick));
  }
  for (const double tick : x_ticks(frame)) {
    line(out, frame.across(tick), bottom, frame.across(tick), bottom + 5, "axis");
    text(out, frame.across(tick), bottom + 19, "text-anchor=\"middle\"", number(tick));
  }
  line(out, kLeft, bottom, right, bottom, "axis");
  text(out, kLeft, 20, "class=\"title\"", options.title);
  text(out, (kLeft + right) / 2, options.height - 8, "text-anchor=\"middle\"", options.x_label);
  const std::string turned =
      "text-anchor=\"middle\" transform=\"rotate(-90 16 " + pixel((kTop + bottom) / 2) + ")\"";
  text(out, 16, (kTop + bottom) / 2, turned, options.y_label);
}

void draw_series(std::string& out, const Frame& frame, const PlotSeries& series, int colour) {
  std::string path;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& point = series.points[i];
    if (series.steps && i > 0) path += "H" + pixel(frame.across(point.x));
    path += (i == 0 ? "M" : "L") + pixel(frame.across(point.x)) + " " + pixel(frame.up(point.y));
  }
  out += "<path class=\"line\" style=\"stroke:var(--plot-" + std::to_string(colour) + ")\" d=\"" +
         path + "\"><title>" + escape_xml(series.name) + "</title></path>\n";
}

void draw_legend(std::string& out, const Frame& frame, std::span<const PlotSeries> series) {
  double x = frame.options.width - kRight;
  for (std::size_t i = series.size(); i-- > 0;) {
    text(out, x, 20, "text-anchor=\"end\"", series[i].name);
    x -= 7.2 * static_cast<double>(series[i].name.size()) + 6;
    out += "<rect x=\"" + pixel(x - 14) +
           "\" y=\"13\" width=\"14\" height=\"4\" style=\"fill:var(--plot-" +
           std::to_string(i % kColours + 1) + ")\"/>\n";
    x -= 28;
  }
}

}  // namespace

std::string line_plot(const PlotOptions& options, std::span<const PlotSeries> series) {
  const Frame frame{options, x_range(options, series), y_range(options, series)};
  std::string out = "<svg viewBox=\"0 0 " + std::to_string(options.width) + " " +
                    std::to_string(options.height) + "\" role=\"img\" aria-label=\"" +
                    escape_xml(options.title) + "\" xmlns=\"http://www.w3.org/2000/svg\">\n";
  draw_axes(out, frame);
  for (std::size_t i = 0; i < series.size(); ++i) {
    draw_series(out, frame, series[i], static_cast<int>(i) % kColours + 1);
  }
  if (series.size() > 1) draw_legend(out, frame, series);
  return out + "</svg>\n";
}

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low) || count < 1) return {low};
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough * 0.999) {
      step = power * factor;
      break;
    }
  }
  std::vector<double> ticks;
  for (double index = std::ceil(low / step - 1e-9); index * step <= high + step * 1e-9; ++index) {
    ticks.push_back(index * step + 0.0);  // no -0
  }
  return ticks;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::vector<PlotPoint> thinned(std::span<const PlotPoint> points, std::size_t most) {
  if (points.size() <= most || most < 2) return {points.begin(), points.end()};
  std::vector<PlotPoint> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  }
  return kept;
}

}  // namespace gridfold
