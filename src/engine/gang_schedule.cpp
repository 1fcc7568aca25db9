// Jobs that are placed by the tree of domains: those with a topology of their
// own, gangs that say what they exchange where links are known, and training
// gangs where there are domains.
#include "base/planted.h"
#include "engine/state.h"

namespace gridfold {
namespace {

// A wish that must be kept, rather than no start.
bool is_hard(const TopologyWish& wish) {
  return !wish.require.empty() || !wish.spread.empty() || wish.segments;
}

}  // namespace

bool Engine::State::goes_by_tree(const EngineJob& job) {
  const JobSpec& spec = *job.record.spec;
  if (!spec.topology.empty()) return true;
  if (spec.communication && spec.task_count() > 1 && communication.is_known()) return true;
  return spec.workload_class == WorkloadClass::kTrain && spec.task_count() > 1 &&
         domains.tree().has_domains();
}

// For the record, which outlives the tree.
std::shared_ptr<const WhyDomain> Engine::State::in_words(const HomeChoice& home) {
  const DomainTree& tree = domains.tree();
  const auto path = [&](DomainId domain) {
    return domain == DomainTree::root() ? "grid" : tree.path(domain);
  };
  auto why = std::make_shared<WhyDomain>();
  why->domain = path(home.domain);
  if (!home.runner_up.is_none()) why->runner_up = path(home.runner_up);
  why->by = home.by;
  why->feasible_domains = home.feasible_domains;
  why->value = home.value;
  why->runner_up_value = home.runner_up_value;
  return why;
}

Engine::State::Placement Engine::State::place_by_tree(EngineJob& job,
                                                      const std::vector<std::int64_t>& target) {
  const auto& roles = job.record.spec->roles;
  TopologyWish wish = job.record.spec->topology;
  if (GRIDFOLD_PLANTED_BUG(gang_crosses_required_domain)) wish.require.clear();
  std::vector<GangPart> parts;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const bool lenient = GRIDFOLD_PLANTED_BUG(gang_starts_incomplete) && roles[r].min > 1;
    parts.push_back({job.requests[r], target[r], roles[r].min - (lenient ? 1 : 0)});
  }
  const auto& traffic = job.record.spec->communication;
  const GangPlan* plan = gangs.plan({parts, &wish, traffic ? &*traffic : nullptr}, random);
  if (plan == nullptr) {
    if (is_hard(wish)) return {};
    return place_anywhere(job, target);
  }
  expected_step = plan->expected;
  otherwise_step = plan->otherwise;
  std::vector<Placed> placed;
  placed.reserve(plan->seats.size());
  std::uint32_t first = 0;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const Request& request = *job.requests[r];
    const std::int32_t feasible = domains.row(request).feasible_nodes;
    std::uint32_t task = first;
    for (const GangSeat& seat : plan->seats_of(r)) {
      cluster.take(seat.allocation(), {job.record.id, task}, request);
      placed.push_back({task,
                        seat.allocation(),
                        {seat.by, seat.runner_up, feasible, seat.score, seat.runner_up_score}});
      ++task;
    }
    first += static_cast<std::uint32_t>(roles[r].count);
  }
  return {std::move(placed), in_words(plan->home)};
}

}  // namespace gridfold
