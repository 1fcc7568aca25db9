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

TEST(Svg, ThinningKeepsTheEnds) {
  std::vector<PlotPoint> points;
  for (int i = 0; i < 10'000; ++i) points.push_back({static_cast<double>(i), 1});
  const auto kept = thinned(points, 100);
  ASSERT_EQ(kept.size(), 100u);
  EXPECT_EQ(kept.front().x, 0);
  EXPECT_EQ(kept.back().x, 9999);
  EXPECT_EQ(thinned(kept, 200).size(), 100u);
}

}  // namespace
}  // namespace gridfold
