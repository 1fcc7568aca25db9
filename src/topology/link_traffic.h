// What other jobs send over the shared links, and what is left for one more.
//
//   LinkTraffic traffic(fabric);
//   for (const LinkRate& rate : expected.rates(job, places)) traffic.add(rate);
//   traffic.available(rack);
//
// A newcomer gets what the others leave or its fair share of the link,
// whichever is more: the max-min share when every job is one flow (Bertsekas
// and Gallager, Data Networks, 1992, §6.5.2). One owner; not thread-safe.
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
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

class LinkTraffic {
 public:
  explicit LinkTraffic(const Fabric& fabric);

  // One more job sends so much. rate > 0; a card of a node's domain.
  void add(const LinkRate& rate);
  // What was added before.
  void remove(const LinkRate& rate);

  const Fabric& fabric() const { return *fabric_; }
  // Bits per second; 0: no limit known.
  std::int64_t available(DomainId domain) const { return available_[domain.value]; }
  // How much slower than its kind's curve the way up is for a newcomer, in
  // 2^-24; 0: no limit known.
  std::int64_t stretch(DomainId domain) const { return stretches_[domain.value]; }
  std::int64_t card_stretch(NodeId node, std::int32_t card) const;

 private:
  struct Load {
    std::int32_t jobs = 0;
    std::int64_t rate = 0;
    std::int64_t left_of(std::int64_t capacity) const;
  };
  void change(const LinkRate& rate, std::int32_t jobs);
  void refresh(DomainId domain);

  const Fabric* fabric_;
  std::map<std::pair<DomainId, std::int32_t>, Load> cards_;  // those that others use
  // By DomainId.
  std::vector<Load> loads_;
  std::vector<std::int64_t> available_;
  std::vector<std::int64_t> stretches_;
};

}  // namespace gridfold
