// A fault plan that counts what it draws, by kind.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "simulator/fault_plan.h"

namespace gridfold::verify {

class CountedFaults : public FaultPlan {
 public:
  using Counts = std::map<std::string, std::int64_t>;
  // The counts outlive the plan.
  CountedFaults(std::unique_ptr<FaultPlan> plan, Counts& counts)
      : plan_(std::move(plan)), counts_(counts) {}

  bool active(Instant now) const override { return plan_->active(now); }
  ReportFate report_fate() override {
    const ReportFate fate = plan_->report_fate();
    if (fate.dropped) ++counts_["report_dropped"];
    if (!fate.dropped && fate.delay > Duration{}) ++counts_["report_delayed"];
    if (fate.again) ++counts_["report_repeated"];
    return fate;
  }
  std::optional<LaunchFault> launch_fault() override {
    const auto fault = plan_->launch_fault();
    if (fault) ++counts_[*fault == LaunchFault::kNode ? "launch_by_node" : "launch_by_job"];
    return fault;
  }
  std::optional<Duration> shim_loss() override {
    const auto loss = plan_->shim_loss();
    if (loss) ++counts_["shim_lost"];
    return loss;
  }
  std::uint64_t dirty_devices(std::uint64_t held) override {
    const std::uint64_t dirty = plan_->dirty_devices(held);
    if (dirty != 0) counts_["device_dirty"] += std::popcount(dirty);
    return dirty;
  }
  std::optional<NodeFault> next_node_fault(Instant now, std::size_t nodes) override {
    const auto fault = plan_->next_node_fault(now, nodes);
    if (fault) ++counts_[fault->fencing == Fencing::kFenced ? "node_off" : "node_cut"];
    return fault;
  }

 private:
  std::unique_ptr<FaultPlan> plan_;
  Counts& counts_;
};

}  // namespace gridfold::verify
