// How long a message takes on a link of one kind: an α–β model, piecewise by
// message size (Hockney, "The communication challenge for MPP", Parallel
// Computing 20, 1994; the pieces are the protocols of the library beneath).
//
//   time(bytes) = start + hops · hop + transfer(bytes)
//
// `transfer` runs straight between knots from (0, 0) and with a fixed
// bandwidth after the last. It never falls as bytes grow. All integers, so it
// gives the same figures in every build.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "topology/link.h"

namespace gridfold {

struct CurveKnot {
  Bytes bytes;
  Duration time;
  friend bool operator==(const CurveKnot&, const CurveKnot&) = default;
};

class LinkCurve {
 public:
  // Knots in order of bytes, all above zero, at most 1 PiB each; times never
  // falling, and a bandwidth above zero. kInvalid names the knot.
  static Result<LinkCurve> build(Duration start, Duration hop, std::vector<CurveKnot> knots,
                                 BitsPerSecond bandwidth);
  // No knots: bandwidth > 0.
  static LinkCurve linear(Duration start, Duration hop, BitsPerSecond bandwidth);

  Duration start() const { return start_; }          // once an operation
  Duration hop() const { return hop_; }              // once a step of it
  BitsPerSecond bandwidth() const { return tail_; }  // of large messages
  // Without start and hops. bytes >= 0.
  Duration transfer(Bytes bytes) const;

 private:
  LinkCurve() = default;
  Duration start_;
  Duration hop_;
  std::vector<CurveKnot> knots_;
  BitsPerSecond tail_;
};

// One curve a kind of link, indexed by LinkKind. The bandwidth of a curve is
// that of the link it was measured on; a link of another bandwidth stretches
// `transfer` in proportion.
using LinkCurves = std::array<LinkCurve, kLinkKinds>;

// Latencies of the ring in NCCL's own model (its src/graph/tuning.cc, protocol
// Simple: 8.4 µs to start, then 3.4, 5.7 and 9.6 µs a step over NVLink, PCIe
// and the network) and round bandwidths. For machines nobody has measured.
LinkCurves typical_curves();

// Curves of one machine from a table of lines
//
//   machine,kind,start_ns,hop_ns,bits_per_second,bytes:ns bytes:ns …
//
// whose first line is the header; lines that begin with '#' are comments.
// Kinds that the table lacks for the machine stay typical. Errors: kNotFound
// without a line of the machine; kInvalid with the line.
Result<LinkCurves> read_link_curves(std::string_view table, std::string_view machine);

}  // namespace gridfold
