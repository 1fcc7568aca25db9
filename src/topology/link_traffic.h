// What other jobs send over the shared links, and what is left for one more.
//
//   LinkTraffic traffic(fabric);
//   traffic.add(rack, BitsPerSecond(200'000'000'000));   // one job's, each way
//   traffic.available(rack);
//
// A newcomer gets what the others leave or its fair share of the link,
// whichever is more: the max-min share when every job is one flow (Bertsekas
// and Gallager, Data Networks, 1992, §6.5.2). One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "topology/fabric.h"

namespace gridfold {

class LinkTraffic {
 public:
  explicit LinkTraffic(const Fabric& fabric);

  // One job sends at this rate over the domain's way up (a node's: over its
  // cards), in the busier direction. rate > 0.
  void add(DomainId domain, BitsPerSecond rate);
  // What was added with the same rate before.
  void remove(DomainId domain, BitsPerSecond rate);

  const Fabric& fabric() const { return *fabric_; }
  // Bits per second; 0: no limit known.
  std::int64_t available(DomainId domain) const { return available_[domain.value]; }
  // How much slower than its kind's curve the way up is for a newcomer, in
  // 2^-24; 0: no limit known.
  std::int64_t stretch(DomainId domain) const { return stretches_[domain.value]; }
  std::int64_t card_stretch(NodeId node, std::int32_t card) const;

 private:
  void refresh(DomainId domain);

  const Fabric* fabric_;
  // By DomainId.
  std::vector<std::int32_t> jobs_;
  std::vector<std::int64_t> rates_;
  std::vector<std::int64_t> available_;
  std::vector<std::int64_t> stretches_;
};

}  // namespace gridfold
