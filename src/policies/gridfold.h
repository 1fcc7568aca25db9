// Priced packing, the policy `gridfold`: what a placement costs the tasks that
// are still to come, by prices learned from those that came.
//
//   score = floor(Q (V(after) - V(before) + price of the task
//                    + B (E(before) - E(after))) + 1/2) - what it spoils
//
// V, worth of the node's free devices  gridfold_node_value.h, gridfold_prices.h
// E, devices stranded for want of CPU  gridfold_stranding.h
// spoils: an idle device cut            here
//         kept blocks, scarce models   gridfold_reservation.h, gridfold_scarcity.h
//         untouched largest nodes      gridfold_guard.h
//         models running out           gridfold_balance.h
// and once tasks leave: worth of gaps   gridfold_churn.h
//         tight fits                   gridfold_tightness.h
//
// Scores are rounded to 1/25 of a device: among alike nodes the lowest name is
// to win, so that node after node is filled.
#pragma once

#include <vector>

#include "base/result.h"
#include "policies/gridfold_balance.h"
#include "policies/gridfold_guard.h"
#include "policies/gridfold_ledger.h"
#include "policies/gridfold_load.h"
#include "policies/gridfold_mix.h"
#include "policies/gridfold_reservation.h"
#include "policies/gridfold_scarcity.h"
#include "policies/gridfold_tables.h"
#include "policies/gridfold_tightness.h"
#include "policies/registry.h"
#include "policies/settings.h"

namespace gridfold {

class GridfoldBoard;

struct GridfoldOptions {
  std::int64_t window = 4096;  // arrivals after which one counts for little
};
Result<GridfoldOptions> read_gridfold_options(const PolicyOptions& options);

class Gridfold final : public PlacementPolicy {
 public:
  explicit Gridfold(const GridfoldOptions& options);
  std::string_view name() const override { return "gridfold"; }
  void prepare(Cluster& cluster) override { cluster_ = &cluster; }
  // Nodes of which room is kept stand alone; the guard tells the rarest apart.
  std::uint64_t node_key(NodeId node) const override;
  Choice choose(const NodeRoom& node, const Request& request) const override;
  // Plans anew at 32, 64, … 2,048 arrivals and then every 2,048, on more nodes
  // than that every so many; reserves and looks for scarce models more often.
  bool learns() const override { return true; }
  bool observe(const Request& request) override;
  bool departed(const Request& request) override;
  // A plan is worked out outside the step: from the mix as it is, and adopted
  // when it changes scores.
  std::shared_ptr<const SolveProblem> problem() override;
  bool adopt(const SolveAnswer& answer) override;

 private:
  // What the tables say about a node as it is, kept while it stays so.
  struct NodeState {
    std::uint64_t version = 0;
    std::uint64_t plan = 0;
    ByCorePrice worth{};  // sum of h and the cost of the free CPU
    Worth value = 0;      // V
    Worth stranded = 0;   // E
  };

  class Trial;

  Tightness weigh_tightness() const;
  bool reserve();
  // `considered` holds the state of a room that is nobody's.
  const NodeState& state_of(const NodeRoom& node, const GridfoldBoard& board,
                            NodeState& considered) const;
  NodeState derive(const NodeRoom& node, const GridfoldBoard& board) const;
  std::int64_t spoils(const NodeRoom& node, const Request& request, const GridfoldBoard& board,
                      std::uint64_t devices) const;

  std::int64_t guarded(const NodeRoom& node, const Request& request,
                       const GridfoldBoard& board) const;
  std::int64_t spoilt_model(const NodeRoom& node, const DeviceNeed& need,
                            std::uint64_t devices) const;
  const ByCorePrice& cost_of(std::int64_t cpu) const;

  GridfoldOptions options_;
  Cluster* cluster_ = nullptr;
  LearnedMix mix_;
  LearnedMix recent_;  // of the last arrivals alone: tells when the mix turns
  GridfoldTables tables_;
  std::uint64_t plan_number_ = 1;
  std::int64_t arrivals_ = 0;
  // At which arrival each is done next.
  std::int64_t next_plan_ = 32;
  bool plan_is_due_ = false;
  std::int64_t next_reserve_ = 1;
  std::int64_t next_scarcity_ = 1;
  Departures departures_ = Departures::kNone;
  Tightness tightness_;
  OfferedLoad load_;  // of the devices of all classes together
  // By device class.
  std::vector<IdleLedger> ledgers_;
  std::vector<BlockReservation> reservations_;
  std::vector<ScarceModels> scarce_;
  std::vector<LargeNodeGuard> guards_;
  std::vector<ModelBalance> balances_;
  // Kept results, the same as computed afresh.
  mutable std::vector<NodeState> states_;  // by NodeId
  mutable std::int64_t last_cpu_ = 0;
  mutable ByCorePrice last_cost_{};
};

}  // namespace gridfold
