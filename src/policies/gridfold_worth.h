// How the policy `gridfold` counts the worth of room: in fixed point, so that
// scores are the same on every machine.
#pragma once

#include <cstdint>

namespace gridfold {

using Worth = std::int32_t;  // 2^-16 of a device
inline constexpr Worth kDeviceWorth = 1 << 16;

// Shares of a device as the tables see them: hundredths, from 0 to 100.
inline constexpr int kShareSteps = 100;
// What a task takes, rounded up, and what is free, rounded down.
constexpr int share_step_of_need(std::int32_t thousandths) { return (thousandths + 9) / 10; }
constexpr int share_step_of_room(std::int32_t thousandths) { return thousandths / 10; }

// A double from [0, 2^14) to the nearest Worth.
constexpr Worth to_worth(double devices) {
  return static_cast<Worth>(devices * kDeviceWorth + 0.5);
}

// One number more in a hash (a step of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) {
  std::uint64_t z = (hash ^ number) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace gridfold
