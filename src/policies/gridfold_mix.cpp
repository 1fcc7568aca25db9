#include "policies/gridfold_mix.h"

namespace gridfold {

std::int64_t asked_share(const RequestKind& kind, std::uint16_t device_class) {
  std::int64_t sum = 0;
  for (const RequestKind::Need& need : kind.needs) {
    if (need.device_class == device_class)
      sum += static_cast<std::int64_t>(need.count) * need.share;
  }
  return sum;
}

void LearnedMix::add(const Request& request) {
  if (request.id >= by_id_.size()) by_id_.resize(request.id + 1);
  auto*& entry = by_id_[request.id];
  if (entry == nullptr) entry = &*kinds_.try_emplace(kind_of(request), 0).first;
  entry->second += unit_;
  count(entry->first, unit_);
  // Instead of all others losing weight the next one weighs more.
  unit_ += unit_ / window_;
  if (unit_ > kLargestUnit) shrink();
}

void LearnedMix::count(const RequestKind& kind, std::int64_t weight) {
  weight_ += weight;
  for (const RequestKind::Need& need : kind.needs) {
    if (need.device_class >= demand_.size()) demand_.resize(need.device_class + 1u);
    demand_[need.device_class] += weight * need.count * need.share;
  }
}

// Back to small numbers; what has not come for long is forgotten.
void LearnedMix::shrink() {
  const std::int64_t factor = unit_ / kSmallestUnit;
  unit_ /= factor;
  weight_ = 0;
  demand_.assign(demand_.size(), 0);
  by_id_.clear();
  for (auto it = kinds_.begin(); it != kinds_.end();) {
    it->second /= factor;
    if (it->second < kSmallestUnit / 1024) {
      it = kinds_.erase(it);
    } else {
      count(it->first, it->second);
      ++it;
    }
  }
}

}  // namespace gridfold
