// What other jobs send over the shared links, and what is left for one more.
//
//   LinkTraffic traffic(fabric);
//   for (const LinkRate& rate : expected.rates(job, places)) traffic.add(rate);
//   traffic.available(rack);
//
// Flows share a link max-min fairly (Bertsekas and Gallager, Data Networks,
// 1992, §6.5.2): a newcomer gets what the others leave, or as much as they a
// flow, whichever is more. One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"
#include "topology/fabric.h"

namespace gridfold {

// What one job sends over a domain's way up, or over one network card of a
// node when `card` is not -1, in the busier direction.
struct LinkRate {
  DomainId domain;
  std::int32_t card = -1;
  BitsPerSecond rate;
  std::int32_t flows = 1;  // into which it is cut
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

// A link as a newcomer finds it. Stretches in 2^-24.
struct SharedLink {
  std::int64_t alone = 0;   // stretch of the whole; 0: no limit known
  std::int64_t left = 0;    // stretch of what the others leave; 0: nothing
  std::int64_t others = 0;  // flows
};

class LinkTraffic {
 public:
  explicit LinkTraffic(const Fabric& fabric);

  // One more job sends so much. rate and flows > 0; a card of a node's domain.
  void add(const LinkRate& rate);
  // What was added before.
  void remove(const LinkRate& rate);

  const Fabric& fabric() const { return *fabric_; }
  // Bits per second for one more flow; 0: no limit known.
  std::int64_t available(DomainId domain) const;
  SharedLink shared(DomainId domain) const { return shared_[domain.value]; }
  SharedLink shared_card(NodeId node, std::int32_t card) const;
  // Of the same fabric: whether the same is sent over every link.
  friend bool operator==(const LinkTraffic& a, const LinkTraffic& b) {
    return a.fabric_ == b.fabric_ && a.cards_ == b.cards_ && a.loads_ == b.loads_;
  }

 private:
  struct Load {
    std::int64_t flows = 0;
    std::int64_t rate = 0;
    friend bool operator==(const Load&, const Load&) = default;
  };
  void change(const LinkRate& rate, std::int32_t sign);
  SharedLink share(LinkKind kind, std::int64_t capacity, const Load& load) const;
  void refresh(DomainId domain);

  const Fabric* fabric_;
  std::map<std::pair<DomainId, std::int32_t>, Load> cards_;  // those that others use
  // By DomainId.
  std::vector<Load> loads_;
  std::vector<SharedLink> shared_;
};

}  // namespace gridfold
