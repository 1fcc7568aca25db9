#include "policies/request_mix.h"

#include <algorithm>
#include <tuple>

namespace gridfold {

RequestKind kind_of(const Request& request) {
  RequestKind kind{request.cpu, {}};
  for (const DeviceNeed& need : request.devices) {
    if (need.partition != 0) continue;  // split devices are no concern of the rest
    kind.needs.push_back({need.share, need.count, need.device_class, need.models});
    auto& models = kind.needs.back().models;
    std::sort(models.begin(), models.end());
    models.erase(std::unique(models.begin(), models.end()), models.end());
  }
  return kind;
}

void RequestMix::add(const Request& request, std::int64_t count) {
  if (request.id >= by_id_.size()) by_id_.resize(request.id + 1);
  std::int64_t*& entry = by_id_[request.id];
  if (entry == nullptr) entry = &counts_[kind_of(request)];
  *entry += count;
  total_ += count;
}

std::vector<WeightedKind> RequestMix::typical(std::int64_t coverage_percent,
                                              std::size_t limit) const {
  std::vector<WeightedKind> kinds;
  for (const auto& [kind, count] : counts_) kinds.push_back({kind, count});
  std::sort(kinds.begin(), kinds.end(), [](const WeightedKind& a, const WeightedKind& b) {
    return std::tie(a.count, a.kind) > std::tie(b.count, b.kind);
  });
  std::int64_t covered = 0;
  std::size_t taken = 0;
  while (taken < std::min(limit, kinds.size()) && covered * 100 < total_ * coverage_percent)
    covered += kinds[taken++].count;
  kinds.resize(taken);
  return kinds;
}

}  // namespace gridfold
