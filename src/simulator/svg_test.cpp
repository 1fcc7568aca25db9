#include "simulator/svg.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

TEST(Svg, TicksAreRoundNumbers) {
  EXPECT_EQ(round_ticks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(round_ticks(3, 13, 5), (std::vector<double>{4, 6, 8, 10, 12}));
  EXPECT_EQ(round_ticks(0, 0, 5), std::vector<double>{0});
}

TEST(Svg, TextIsMadeHarmless) {
  PlotOptions options{"a<b & \"c\"", "x", "y"};
  const std::string svg = line_plot(options, std::vector<PlotSeries>{{"<s>", {{0, 1}, {1, 2}}}});
  EXPECT_NE(svg.find("a&lt;b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(svg.find("<s>"), std::string::npos);
}

TEST(Svg, DrawsNothingButAxesWithoutPoints) {
  const std::string svg = line_plot({"empty", "x", "y"}, std::vector<PlotSeries>{{"none", {}}});
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Svg, ThinningKeepsTheExtremes) {
  std::vector<PlotPoint> points;
  for (int i = 0; i < 10'000; ++i) points.push_back({static_cast<double>(i), 1});
  points[4321].y = 100;
  points[777].y = -5;
  const auto kept = thinned(points, 100);
  EXPECT_LE(kept.size(), 100u);
  double low = 0, high = 0;
  for (const auto& point : kept) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  EXPECT_EQ(low, -5);
  EXPECT_EQ(high, 100);
}

}  // namespace
}  // namespace gridfold
