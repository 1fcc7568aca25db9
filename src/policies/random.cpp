#include "policies/random.h"

#include <bit>

#include "engine/device_fit.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

// One step of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  std::uint64_t z = state + value + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t fingerprint(std::uint64_t seed, const NodeRoom& node, const Request& request) {
  std::uint64_t state = mixed(seed, static_cast<std::uint64_t>(node.cpu));
  state = mixed(state, static_cast<std::uint64_t>(node.memory));
  for (const DeviceRoom& device : node.devices)
    state = mixed(state, static_cast<std::uint64_t>(device.free_share));
  return mixed(state, request.id);
}

// The k-th of the devices set in the mask.
std::uint64_t nth_device(std::uint64_t mask, std::uint64_t k) {
  for (; k > 0; --k) mask &= mask - 1;
  return mask & -mask;
}

// Leaves out one device after another, as long as what stays still holds a set
// as the task wishes it.
std::uint64_t drawn_set(const NodeRoom& node, const DeviceNeed& need, std::uint64_t taken,
                        std::uint64_t& state) {
  const SetRequest request = set_request(node, need);
  std::uint64_t set = open_devices(node, need) & ~taken;
  for (std::uint64_t left = set; left != 0;) {
    state = mixed(state, 1);
    const std::uint64_t device =
        nth_device(left, state % static_cast<std::uint64_t>(std::popcount(left)));
    left &= ~device;
    if (most_of(set & ~device, request, groups_of(node)) >= need.count) set &= ~device;
  }
  return set;
}

}  // namespace

Result<RandomOptions> read_random_options(const PolicyOptions& options) {
  SettingsReader settings("random", options.settings);
  RandomOptions own;
  own.seed = static_cast<std::uint64_t>(settings.number("random.seed", 0, 0, INT64_MAX));
  if (auto error = settings.finish()) return *error;
  return own;
}

// A policy is pure, so the device is drawn from what it may look at: the room
// and the request.
Choice RandomFit::choose(const NodeRoom& node, const Request& request) const {
  std::uint64_t chosen = 0;
  std::uint64_t state = fingerprint(options_.seed, node, request);
  for (const DeviceNeed& need : request.devices) {
    if (need.partition != 0) {
      chosen |= choose_devices(node, need, chosen);
      continue;
    }
    if (need.place != DevicePlace::kAny) {
      const std::uint64_t set = drawn_set(node, need, chosen, state);
      chosen |= set;
      continue;
    }
    std::uint64_t open = 0;
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      if (!(chosen >> i & 1) && device_fits(node.devices[i], need)) open |= std::uint64_t{1} << i;
    }
    for (std::int32_t taken = 0; taken < need.count; ++taken) {
      state = mixed(state, 1);
      const auto left = static_cast<std::uint64_t>(std::popcount(open));
      const std::uint64_t device = nth_device(open, state % left);
      chosen |= device;
      open &= ~device;
    }
  }
  return {0, chosen};
}

}  // namespace gridfold
