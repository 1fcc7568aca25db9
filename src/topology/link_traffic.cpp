#include "topology/link_traffic.h"

#include <algorithm>
#include <cassert>

namespace gridfold {

LinkTraffic::LinkTraffic(const Fabric& fabric)
    : fabric_(&fabric), loads_(fabric.tree().size()), shared_(fabric.tree().size()) {
  for (std::uint32_t i = 0; i < fabric.tree().size(); ++i) refresh(DomainId(i));
}

void LinkTraffic::add(const LinkRate& rate) { change(rate, 1); }
void LinkTraffic::remove(const LinkRate& rate) { change(rate, -1); }

void LinkTraffic::change(const LinkRate& rate, std::int32_t sign) {
  assert(rate.rate > BitsPerSecond{} && rate.flows > 0);
  const std::pair at{rate.domain, rate.card};
  Load& load = rate.card < 0 ? loads_[rate.domain.value] : cards_[at];
  load.flows += sign * rate.flows;
  load.rate += sign * rate.rate.value;
  assert(load.flows >= 0 && load.rate >= 0);
  if (rate.card < 0) {
    refresh(rate.domain);
  } else if (load.flows == 0) {
    cards_.erase(at);
  }
}

SharedLink LinkTraffic::share(LinkKind kind, std::int64_t capacity, const Load& load) const {
  const std::int64_t left = capacity - load.rate;
  return {fabric_->stretch(kind, capacity), left > 0 ? fabric_->stretch(kind, left) : 0,
          load.flows};
}

void LinkTraffic::refresh(DomainId domain) {
  const Fabric::Uplink& uplink = fabric_->uplink(domain);
  if (uplink.capacity == 0) return;
  shared_[domain.value] = share(uplink.kind, uplink.capacity, loads_[domain.value]);
}

std::int64_t LinkTraffic::available(DomainId domain) const {
  const std::int64_t capacity = fabric_->uplink(domain).capacity;
  const Load& load = loads_[domain.value];
  return std::max(capacity / (load.flows + 1), capacity - load.rate);
}

SharedLink LinkTraffic::shared_card(NodeId node, std::int32_t card) const {
  const Fabric::Layout& layout = fabric_->layout(node);
  const auto at = static_cast<std::size_t>(card);
  const SharedLink alone{layout.card_stretch[at], layout.card_stretch[at], 0};
  if (cards_.empty()) return alone;
  const auto load = cards_.find({fabric_->tree().domain_of(node), card});
  if (load == cards_.end()) return alone;
  return share(layout.cards[at].kind, layout.cards[at].bandwidth.value, load->second);
}

}  // namespace gridfold
