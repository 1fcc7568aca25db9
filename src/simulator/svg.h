// Small SVG plots: lines over a numeric x axis, with axes, ticks and a legend.
//
//   PlotOptions options{.title = "Utilisation", .x_label = "hours", .y_label = "% of GPUs"};
//   std::string svg = line_plot(options, {{"best_fit", points}});
//
// Colours are CSS variables (--plot-1 …, --ink, --grid), so that the page
// decides on light and dark.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gridfold {

struct PlotPoint {
  double x = 0;
  double y = 0;
};
struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;  // in order of x
  bool steps = false;             // y holds until the next x
};
enum class PlotScale : std::uint8_t { kLinear, kLogarithmic };

struct PlotOptions {
  std::string title;
  std::string x_label;
  std::string y_label;
  PlotScale x_scale = PlotScale::kLinear;  // logarithmic: x <= 0 is drawn at the left edge
  std::optional<double> y_max;             // else from the data; y starts at 0
  int width = 860;                         // pixels
  int height = 340;
};

std::string line_plot(const PlotOptions& options, std::span<const PlotSeries> series);

// Positions of about `count` ticks at round numbers within [low, high].
std::vector<double> round_ticks(double low, double high, int count);

// "&" and "<" made harmless for XML.
std::string escape_xml(std::string_view text);

// At most `most` of the points, evenly by index, the first and the last among
// them.
std::vector<PlotPoint> thinned(std::span<const PlotPoint> points, std::size_t most);

}  // namespace gridfold
