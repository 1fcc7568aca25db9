#include "devices/islands.h"

#include <map>
#include <numeric>

namespace gridfold {
namespace {

std::size_t root_of(std::vector<std::size_t>& parents, std::size_t i) {
  while (parents[i] != i) i = parents[i] = parents[parents[i]];
  return i;
}

}  // namespace

std::vector<std::int32_t> islands_of(const std::vector<LinkedDevice>& devices) {
  std::map<std::string_view, std::size_t> by_uid;
  for (std::size_t i = 0; i < devices.size(); ++i) by_uid.emplace(devices[i].uid, i);

  std::vector<std::size_t> parents(devices.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  std::map<std::string_view, std::size_t> first_on_fabric;  // by plug-in
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].links.is_known()) continue;
    for (const DeviceLink& link : devices[i].links.value()) {
      if (link.kind != DeviceLink::Kind::kVendor) continue;
      std::size_t other = i;
      if (link.peer_uid.empty()) {
        other = first_on_fabric.emplace(devices[i].plugin, i).first->second;
      } else if (const auto peer = by_uid.find(link.peer_uid); peer != by_uid.end()) {
        other = peer->second;
      }
      parents[root_of(parents, i)] = root_of(parents, other);
    }
  }

  std::vector<std::int32_t> islands(devices.size(), -1);
  std::map<std::size_t, std::int32_t> numbers;  // by root
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].links.is_known()) continue;
    const auto next = static_cast<std::int32_t>(numbers.size());
    islands[i] = numbers.emplace(root_of(parents, i), next).first->second;
  }
  return islands;
}

}  // namespace gridfold
