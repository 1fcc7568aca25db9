#include "simulator/training/scattered_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace gridfold {
namespace {

using Corners = std::array<std::size_t, 4>;

// Qhull's own choice among triangulations depends on these.
constexpr char kOptions[] = "qhull d Qbb Qc Qz Q12 Qt";

Corners corners_of(qhT* qh, facetT* facet) {
  Corners corners{};
  std::size_t k = 0;
  vertexT* vertex = nullptr;
  vertexT** vertexp = nullptr;  // the macro below wants this name
  FOREACHvertex_(facet->vertices) {
    if (k < corners.size()) corners[k++] = static_cast<std::size_t>(qh_pointid(qh, vertex->point));
  }
  return corners;
}

// The lower hull of the points, lifted onto a paraboloid.
std::vector<Corners> triangulate(const std::vector<ScatteredPoint>& points) {
  std::vector<coordT> coordinates;
  for (const auto& point : points) {
    coordinates.insert(coordinates.end(), point.at.begin(), point.at.end());
  }
  qhT context;
  qhT* qh = &context;
  std::FILE* const silent = std::fopen("/dev/null", "w");  // Qhull must write somewhere
  qh_zero(qh, silent);
  char options[sizeof kOptions];
  std::copy(std::begin(kOptions), std::end(kOptions), options);
  std::vector<Corners> found;
  if (qh_new_qhull(qh, 3, static_cast<int>(points.size()), coordinates.data(), False, options,
                   silent, silent) == 0) {
    facetT* facet = nullptr;
    FORALLfacets {
      if (!facet->upperdelaunay) found.push_back(corners_of(qh, facet));
    }
  }
  qh_freeqhull(qh, qh_ALL);
  int kept = 0;
  int total = 0;
  qh_memfreeshort(qh, &kept, &total);
  if (silent != nullptr) std::fclose(silent);
  return found;
}

SpacePoint difference(const SpacePoint& a, const SpacePoint& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
SpacePoint cross(const SpacePoint& a, const SpacePoint& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const SpacePoint& a, const SpacePoint& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
SpacePoint scaled(const SpacePoint& a, double by) { return {a[0] * by, a[1] * by, a[2] * by}; }

}  // namespace

ScatteredTable::ScatteredTable(std::vector<ScatteredPoint> points) : points_(std::move(points)) {
  if (points_.size() < 5) return;
  for (const Corners& corners : triangulate(points_)) {
    // One that Qhull added at infinity, to close the hull, has no place here.
    if (std::any_of(corners.begin(), corners.end(),
                    [&](std::size_t i) { return i >= points_.size(); })) {
      continue;
    }
    const SpacePoint& last = points_[corners[3]].at;
    const SpacePoint a = difference(points_[corners[0]].at, last);
    const SpacePoint b = difference(points_[corners[1]].at, last);
    const SpacePoint c = difference(points_[corners[2]].at, last);
    const double volume = dot(a, cross(b, c));
    const double size = std::sqrt(dot(a, a) * dot(b, b) * dot(c, c));
    if (std::abs(volume) <= 1e-12 * size) continue;  // flat: its neighbours cover it
    tetrahedra_.push_back({corners,
                           {scaled(cross(b, c), 1 / volume), scaled(cross(c, a), 1 / volume),
                            scaled(cross(a, b), 1 / volume)}});
  }
}

std::array<double, 4> ScatteredTable::weights(const Tetrahedron& t, const SpacePoint& last,
                                              const SpacePoint& place) {
  const SpacePoint from_last = difference(place, last);
  std::array<double, 4> weights{};
  for (std::size_t i = 0; i < 3; ++i) weights[i] = dot(t.inverse[i], from_last);
  weights[3] = 1 - weights[0] - weights[1] - weights[2];
  return weights;
}

Known<std::array<double, 2>> ScatteredTable::at(const SpacePoint& place) const {
  constexpr double kSlack = 1e-9;  // a place on a face lies in both
  for (const Tetrahedron& t : tetrahedra_) {
    const auto share = weights(t, points_[t.corners[3]].at, place);
    if (*std::min_element(share.begin(), share.end()) < -kSlack) continue;
    std::array<double, 2> values{};
    for (std::size_t k = 0; k < share.size(); ++k) {
      for (std::size_t v = 0; v < values.size(); ++v) {
        values[v] += share[k] * points_[t.corners[k]].values[v];
      }
    }
    return values;
  }
  return Unknown{};
}

}  // namespace gridfold
