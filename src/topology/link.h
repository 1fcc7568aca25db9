// Links: how fast two places are joined, beside the tree that says how close
// they are. What nobody has measured or stated is unknown, not zero.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "model/link_kind.h"
#include "topology/domain_tree.h"

namespace gridfold {

// A domain, or one device of it when the domain is a node.
struct LinkEnd {
  DomainId domain = DomainId::none();
  std::int32_t device = -1;  // index among the node's devices; -1: the domain itself
  friend bool operator==(const LinkEnd&, const LinkEnd&) = default;
};

// Both ends the same domain: what joins everything beneath it, such as the
// switch of an NVLink island.
struct Link {
  LinkKind kind = LinkKind::kPcie;
  LinkEnd a;
  LinkEnd b;
  Known<Duration> latency;         // one way
  Known<BitsPerSecond> bandwidth;  // each way
  friend bool operator==(const Link&, const Link&) = default;
};

// Ends that exist in the tree and among the nodes' devices (nodes[i] is
// NodeId(i)), no negative latency, a bandwidth above zero. kInvalid with the
// field that is wrong.
Result<void> check_link(const Link& link, const DomainTree& tree, std::span<const NodeSpec> nodes);

}  // namespace gridfold
