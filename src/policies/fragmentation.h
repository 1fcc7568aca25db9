// How much of a node's free devices a mix of tasks could use: the sum behind
// FGD, as tables that answer in one look-up a device.
//
// For a task m the devices that are too full for it are fragments, and all of
// them are when the node cannot take m at all. With w(m) the weight of m,
//
//   F(node) = sum over m of w(m) * (free share that m cannot use)
//           = W * free(node) - U(node),      W = sum of w(m)
//   U(node) = sum over m that fit of w(m) * (free share on devices that m fits)
//
// U needs no loop over m: among tasks for one device it is a sum over devices,
// f * (weight of tasks that fit in f), and tasks for k >= 2 whole devices see
// only how many are whole. Both weights depend on the free CPU by steps.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cluster.h"
#include "policies/request_mix.h"

namespace gridfold {

class Fragmentation {
 public:
  Fragmentation() = default;  // an empty mix
  explicit Fragmentation(std::span<const WeightedKind> mix);

  std::int64_t weight() const { return weight_; }  // W

  // Row of the tables for so much free CPU.
  std::size_t cpu_step(std::int64_t cpu) const;

  // Devices of one class and model share one table: a task is taken to use
  // devices of one model. 0: nobody in the mix wants such devices.
  std::uint32_t pool(std::uint16_t device_class, std::uint16_t model) const;

  // U of one device with `share` free, by tasks for one device.
  std::int64_t single(std::uint32_t pool, std::size_t step, std::int32_t share) const {
    if (pool == 0) return 0;
    const Pool& p = pools_[pool];
    return share * p.single[step * (shares_.size() + 1) + share_step_[share]];
  }
  // U of `whole` wholly free devices, by tasks for two or more.
  std::int64_t gang(std::uint32_t pool, std::size_t step, std::int32_t whole) const {
    if (pool == 0) return 0;
    return 1000 * whole * pools_[pool].gang[step * kGangSteps + static_cast<std::size_t>(whole)];
  }

 private:
  static constexpr std::size_t kGangSteps = kMaxDevicesPerNode + 1;
  struct Pool {
    std::vector<std::int64_t> single;  // [cpu step][share step]: weight that fits
    std::vector<std::int64_t> gang;    // [cpu step][whole devices]: likewise
  };

  void find_steps(std::span<const WeightedKind> mix);
  void assign_pools(std::span<const WeightedKind> mix);
  void add(const WeightedKind& kind);
  void add(Pool& pool, const RequestKind::Need& need, std::int64_t cpu, std::int64_t count);
  void accumulate(Pool& pool) const;

  std::int64_t weight_ = 0;
  std::vector<std::int64_t> cpus_;                   // distinct, rising
  std::vector<std::int32_t> shares_;                 // distinct, rising
  std::array<std::uint16_t, 1001> share_step_{};     // how many of shares_ fit in a share
  std::vector<Pool> pools_;                          // [0] is unused
  std::vector<std::vector<std::uint32_t>> pool_of_;  // [class][model]; [class].back(): others
};

}  // namespace gridfold
