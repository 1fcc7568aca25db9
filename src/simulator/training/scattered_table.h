// Values measured at scattered points in space, between them linear over the
// Delaunay tetrahedra of the points.
//
//   ScatteredTable table(points);
//   table.at({6, 12, 40});  // unknown outside the points' convex hull
//
// Where five or more points lie on one sphere, as on grids, there are several
// such triangulations; Qhull's choice is taken, which is that of the programs
// that published results on these tables. This is the one place that knows Qhull.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/units.h"

namespace gridfold {

using SpacePoint = std::array<double, 3>;

struct ScatteredPoint {
  SpacePoint at{};
  std::array<double, 2> values{};
};

class ScatteredTable {
 public:
  // Fewer than five points, or all in one plane: nothing is known between them.
  explicit ScatteredTable(std::vector<ScatteredPoint> points);

  Known<std::array<double, 2>> at(const SpacePoint& place) const;

 private:
  struct Tetrahedron {
    std::array<std::size_t, 4> corners{};  // index in points_
    std::array<SpacePoint, 3> inverse{};   // rows: weights of the first three corners
  };
  static std::array<double, 4> weights(const Tetrahedron& t, const SpacePoint& last,
                                       const SpacePoint& place);

  std::vector<ScatteredPoint> points_;
  std::vector<Tetrahedron> tetrahedra_;
};

}  // namespace gridfold
