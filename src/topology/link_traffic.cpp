#include "topology/link_traffic.h"

#include <algorithm>
#include <cassert>

namespace gridfold {

LinkTraffic::LinkTraffic(const Fabric& fabric)
    : fabric_(&fabric),
      loads_(fabric.tree().size()),
      available_(fabric.tree().size()),
      stretches_(fabric.tree().size()) {
  for (std::uint32_t i = 0; i < fabric.tree().size(); ++i) refresh(DomainId(i));
}

void LinkTraffic::add(const LinkRate& rate) { change(rate, 1); }
void LinkTraffic::remove(const LinkRate& rate) { change(rate, -1); }

void LinkTraffic::change(const LinkRate& rate, std::int32_t jobs) {
  assert(rate.rate > BitsPerSecond{});
  const std::pair at{rate.domain, rate.card};
  Load& load = rate.card < 0 ? loads_[rate.domain.value] : cards_[at];
  load.jobs += jobs;
  load.rate += jobs * rate.rate.value;
  assert(load.jobs >= 0 && load.rate >= 0);
  if (rate.card < 0) {
    refresh(rate.domain);
  } else if (load.jobs == 0) {
    cards_.erase(at);
  }
}

std::int64_t LinkTraffic::Load::left_of(std::int64_t capacity) const {
  return std::max({capacity / (jobs + 1), capacity - rate, std::int64_t{1}});
}

void LinkTraffic::refresh(DomainId domain) {
  const Fabric::Uplink& uplink = fabric_->uplink(domain);
  if (uplink.capacity == 0) return;
  available_[domain.value] = loads_[domain.value].left_of(uplink.capacity);
  stretches_[domain.value] = fabric_->stretch(uplink.kind, available_[domain.value]);
}

std::int64_t LinkTraffic::card_stretch(NodeId node, std::int32_t card) const {
  const Fabric::Layout& layout = fabric_->layout(node);
  const auto at = static_cast<std::size_t>(card);
  if (cards_.empty()) return layout.card_stretch[at];
  const auto load = cards_.find({fabric_->tree().domain_of(node), card});
  if (load == cards_.end()) return layout.card_stretch[at];
  const NetworkCard& loaded = layout.cards[at];
  return fabric_->stretch(loaded.kind, load->second.left_of(loaded.bandwidth.value));
}

}  // namespace gridfold
