#include "simulator/fault_plan.h"

namespace gridfold {
namespace {

class SeededFaults : public FaultPlan {
 public:
  SeededFaults(std::uint64_t seed, const FaultRates& rates)
      : rates_(rates),
        reports_(seed, "faults.reports"),
        launches_(seed, "faults.launches"),
        shims_(seed, "faults.shims"),
        devices_(seed, "faults.devices"),
        nodes_(seed, "faults.nodes") {}

  bool active(Instant now) const override { return now < rates_.until; }

  ReportFate report_fate() override {
    ReportFate fate;
    fate.dropped = happens(reports_, rates_.report_dropped);
    if (happens(reports_, rates_.report_delayed))
      fate.delay = up_to(reports_, rates_.longest_delay);
    if (happens(reports_, rates_.report_repeated)) {
      fate.again = up_to(reports_, rates_.longest_delay);
    }
    return fate;
  }

  std::optional<LaunchFault> launch_fault() override {
    const bool by_node = happens(launches_, rates_.launch_fails_by_node);
    const bool by_job = happens(launches_, rates_.launch_fails_by_job);
    if (by_node) return LaunchFault::kNode;
    if (by_job) return LaunchFault::kJob;
    return std::nullopt;
  }

  std::optional<Duration> shim_loss() override {
    if (!happens(shims_, rates_.shim_lost)) return std::nullopt;
    return up_to(shims_, rates_.longest_shim_life);
  }

  std::uint64_t dirty_devices(std::uint64_t held) override {
    std::uint64_t dirty = 0;
    for (std::uint64_t rest = held; rest != 0; rest &= rest - 1) {
      if (happens(devices_, rates_.device_dirty)) dirty |= rest & (~rest + 1);
    }
    return dirty;
  }

  std::optional<NodeFault> next_node_fault(Instant now, std::size_t nodes) override {
    if (rates_.node_fault_interval <= Duration{} || nodes == 0) return std::nullopt;
    NodeFault fault;
    const double mean = static_cast<double>(rates_.node_fault_interval.ns);
    fault.at = now + Duration{static_cast<std::int64_t>(nodes_.exponential(mean))};
    fault.node = nodes_.below(nodes);
    fault.fencing =
        happens(nodes_, rates_.node_fault_unfenced) ? Fencing::kUnfenced : Fencing::kFenced;
    fault.outage = up_to(nodes_, rates_.longest_outage);
    if (fault.at >= rates_.until) return std::nullopt;
    return fault;
  }

 private:
  static bool happens(RandomStream& stream, std::int32_t per_mille) {
    return stream.chance(static_cast<std::uint64_t>(per_mille), 1000);
  }
  static Duration up_to(RandomStream& stream, Duration longest) {
    return {stream.between(0, longest.ns)};
  }

  FaultRates rates_;
  RandomStream reports_, launches_, shims_, devices_, nodes_;
};

}  // namespace

std::unique_ptr<FaultPlan> seeded_faults(std::uint64_t seed, const FaultRates& rates) {
  return std::make_unique<SeededFaults>(seed, rates);
}

}  // namespace gridfold
