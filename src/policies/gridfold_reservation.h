// Room that small tasks leave alone as long as they fit elsewhere: whole
// devices, and CPU beside them, for the tasks of several devices that will come
// before the cluster is full. Only a preference: who fits nowhere else gets it,
// so that nobody is refused for the sake of somebody who has not come.
//
// Tasks for one device (and none) respect what is kept for two and more, those
// for 2 and 3 what is kept for four and more, and so on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "policies/gridfold_ledger.h"
#include "policies/gridfold_mix.h"

namespace gridfold {

class BlockReservation {
 public:
  // Decides anew what is kept, on the smallest blocks that suffice, last name
  // first, and touches the nodes where that has changed. `ledger` is up to date;
  // `recent` is the mix of the last arrivals alone.
  void update(Cluster& cluster, const IdleLedger& ledger, const LearnedMix& mix,
              const LearnedMix& recent);

  // Equal for nodes of which the same is kept; 0: nothing is.
  std::uint64_t key_of(NodeId node) const {
    return node.value < keys_.size() ? keys_[node.value] : 0;
  }
  // Whether anything is kept on the node; nothing on none.
  bool keeps(NodeId node) const { return key_of(node) != 0; }

  // Whether a task for so many whole devices that would leave this much behind
  // eats into what is kept from it, on a node on which something is.
  bool eats_into(NodeId node, std::int32_t devices, std::int32_t whole_left,
                 std::int64_t cpu_left) const;

 private:
  // Tasks for fewer than 2, 4, 8 and 16 devices are kept out of something.
  static constexpr std::size_t kLevels = 4;
  static constexpr std::int32_t bound(std::size_t level) { return 2 << level; }

  struct Room {
    std::int32_t whole = 0;
    std::int64_t cpu = 0;
    friend bool operator==(const Room&, const Room&) = default;
  };
  using Levels = std::array<Room, kLevels>;
  static std::uint64_t key_of(const Levels& levels);
  // A kind of task that blocks are kept for.
  struct Want {
    std::int32_t devices = 0;
    std::int64_t cpu = 0;
    const std::vector<std::uint16_t>* models = nullptr;  // null: any
    std::int64_t expected = 0;                           // in 1/1024: until the cluster is full
    std::int64_t observed = 0;                           // likewise: arrivals that tell us so
  };

  void collect_wants(const IdleLedger& ledger, const LearnedMix& mix);
  void raise_wants(const IdleLedger& ledger, const LearnedMix& recent);
  void keep_size(const Cluster& cluster, const IdleLedger& ledger, std::size_t first,
                 std::size_t last);
  void keep_on_blocks(const Cluster& cluster, const IdleLedger& ledger, const Want& want,
                      std::int64_t count);
  void record_levels(std::int32_t above, std::int32_t below);
  void publish(Cluster& cluster);

  std::vector<Levels> kept_;  // by NodeId
  std::vector<std::uint64_t> keys_;
  std::vector<NodeId> keeping_;  // nodes with anything in kept_
  // While update() runs: what is taken so far, what becomes of kept_.
  std::vector<Room> taken_;
  std::vector<Levels> next_;
  std::vector<NodeId> taking_;
  std::vector<Want> wants_;
};

}  // namespace gridfold
