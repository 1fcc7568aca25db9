// How fast a site's machines are joined, as the site says it: inside a node,
// and upwards from the domains of each level. What nobody has told is unknown.
// topology/site_fabric.h makes of it what the communication model reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "model/link_kind.h"

namespace gridfold {

struct NetworkCard {
  std::int32_t rail = 0;            // 0 to 63
  LinkKind kind = LinkKind::kRoce;  // kRoce, kInfiniband or kEthernet
  BitsPerSecond bandwidth;          // each way
  friend bool operator==(const NetworkCard&, const NetworkCard&) = default;
};

// Bandwidths are each way.
struct NodeLinks {
  std::vector<NetworkCard> cards;     // DeviceSpec::card counts these
  Known<BitsPerSecond> nvlink;        // of one device into its island
  Known<BitsPerSecond> pcie;          // of one device
  Known<BitsPerSecond> numa;          // of a PCIe switch to its socket; unknown: as pcie
  Known<BitsPerSecond> socket;        // of a socket to the others; unknown: as numa
  Known<BitsPerSecond> host_network;  // between nodes whose cards differ in kind; unknown: as
                                      // the slowest card
  friend bool operator==(const NodeLinks&, const NodeLinks&) = default;
};

// The links of a node, or none told. Immutable; alike nodes share one object.
class SharedLinks {
 public:
  SharedLinks() = default;
  SharedLinks(NodeLinks links) : links_(std::make_shared<const NodeLinks>(std::move(links))) {}

  bool is_known() const { return links_ != nullptr; }
  const NodeLinks& operator*() const { return *links_; }
  const NodeLinks* operator->() const { return links_.get(); }
  friend bool operator==(const SharedLinks& a, const SharedLinks& b) {
    if (a.links_ == b.links_) return true;
    return a.links_ != nullptr && b.links_ != nullptr && *a.links_ == *b.links_;
  }

 private:
  std::shared_ptr<const NodeLinks> links_;
};

// What each domain of one level has. At most one of bandwidth and
// oversubscription is known; without either its way up is no bottleneck that we
// know of.
struct LevelLinks {
  std::string level;
  Known<BitsPerSecond> bandwidth;        // upwards, each way
  Known<std::int64_t> oversubscription;  // thousandths: what lies beneath over what goes up
  Known<Duration> latency;               // of the way up
  Known<BitsPerSecond> nvlink;           // all devices beneath are on one NVLink switch, each by
                                         // so much
  bool rails = false;                    // card i of every node beneath is on switch i
  Known<BitsPerSecond> between_rails;    // what joins those switches
  friend bool operator==(const LevelLinks&, const LevelLinks&) = default;
};

}  // namespace gridfold
