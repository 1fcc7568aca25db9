#include "topology/link_traffic.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace gridfold {

LinkTraffic::LinkTraffic(const Fabric& fabric)
    : fabric_(&fabric),
      jobs_(fabric.tree().size()),
      rates_(fabric.tree().size()),
      available_(fabric.tree().size()),
      stretches_(fabric.tree().size()) {
  for (std::uint32_t i = 0; i < fabric.tree().size(); ++i) refresh(DomainId(i));
}

void LinkTraffic::add(DomainId domain, BitsPerSecond rate) {
  assert(rate > BitsPerSecond{});
  ++jobs_[domain.value];
  rates_[domain.value] += rate.value;
  refresh(domain);
}

void LinkTraffic::remove(DomainId domain, BitsPerSecond rate) {
  --jobs_[domain.value];
  rates_[domain.value] -= rate.value;
  assert(jobs_[domain.value] >= 0 && rates_[domain.value] >= 0);
  refresh(domain);
}

void LinkTraffic::refresh(DomainId domain) {
  const Fabric::Uplink& uplink = fabric_->uplink(domain);
  if (uplink.capacity == 0) return;
  const std::int64_t fair = uplink.capacity / (jobs_[domain.value] + 1);
  const std::int64_t left = uplink.capacity - rates_[domain.value];
  available_[domain.value] = std::max({fair, left, std::int64_t{1}});
  stretches_[domain.value] = fabric_->stretch(uplink.kind, available_[domain.value]);
}

// A node's cards share what others send from it.
std::int64_t LinkTraffic::card_stretch(NodeId node, std::int32_t card) const {
  const std::int64_t alone = fabric_->layout(node).card_stretch[static_cast<std::size_t>(card)];
  const DomainId leaf = fabric_->tree().domain_of(node);
  if (jobs_[leaf.value] == 0) return alone;
  const auto wide =
      static_cast<__int128>(alone) * fabric_->uplink(leaf).capacity / available_[leaf.value];
  return static_cast<std::int64_t>(
      std::min<__int128>(wide, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace gridfold
