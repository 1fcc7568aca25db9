#include "engine/communication_cost.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "topology/communication.h"
#include "topology/site_fabric.h"

namespace gridfold {
namespace {

// Evaluations of the order of ranks: this many ranks in all.
constexpr std::int64_t kMostRanksOrdered = 8'192;
constexpr std::int64_t kMostOrders = 32;

// Numbers domains so that those of one number are joined alike: the same layouts
// beneath, the same way up, the same joints. In order of domain.
std::vector<std::uint32_t> kinds_of(const DomainTree& tree, const Fabric& fabric) {
  struct Kind {
    std::uint32_t narrowest = UINT32_MAX;  // layouts beneath
    std::uint32_t widest = 0;
    std::int64_t up = 0;
    std::int64_t unit = 0;
    std::int64_t between_rails = 0;
    auto operator<=>(const Kind&) const = default;
  };
  std::vector<Kind> all(tree.size());
  std::map<Kind, std::uint32_t> numbers;
  std::vector<std::uint32_t> kinds(tree.size(), 0);
  for (std::uint32_t i = tree.size(); i-- > 0;) {
    const DomainId domain(i);
    Kind& kind = all[i];
    if (tree.is_node(domain))
      kind.narrowest = kind.widest = fabric.layout_id(tree.nodes_beneath(domain).front());
    kind.up = fabric.uplink(domain).capacity;
    kind.unit = fabric.unit_stretch(domain);
    kind.between_rails = fabric.between_rails(domain);
    if (i > 0) {
      Kind& above = all[tree.parent(domain).value];
      above.narrowest = std::min(above.narrowest, kind.narrowest);
      above.widest = std::max(above.widest, kind.widest);
    }
    kinds[i] = numbers.try_emplace(kind, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  return kinds;
}

// Whether it matters which of the tasks gets which ranks: not where every group
// lies within one task, or has a rank in each.
bool order_matters(const JobTraffic& traffic, std::int64_t devices) {
  return std::any_of(traffic.exchanges.begin(), traffic.exchanges.end(),
                     [&](const Exchange& exchange) {
                       const AxisGroups groups = groups_of(traffic, exchange.axis);
                       const std::int64_t span = groups.stride * groups.size;
                       if (groups.size == 1 || devices % span == 0) return false;
                       if (exchange.collective == Collective::kSendReceive) return true;
                       return span != traffic.ranks() || devices % groups.stride != 0;
                     });
}

}  // namespace

// As of one state of the nodes. The parts refer to one another.
struct CommunicationCost::Links {
  DomainTree tree;
  std::vector<bool> known;  // by node: its links
  Fabric fabric;
  LinkTraffic traffic;
  LinkTraffic silence;  // nobody sends
  ExpectedTime expected;
  ExpectedTime alone;
  RankMapper mapper;
  std::vector<std::uint32_t> kinds;  // by domain

  Links(DomainTree of, SiteFabric site)
      : tree(std::move(of)),
        known(std::move(site.known)),
        fabric(*Fabric::build(tree, std::move(site.spec))),
        traffic(fabric),
        silence(fabric),
        expected(traffic),
        alone(silence),
        mapper(expected),
        kinds(kinds_of(tree, fabric)) {}
};

std::vector<TaskPlace> communicating_tasks(const JobRecord& record) {
  std::vector<TaskPlace> tasks;
  for (const TaskRecord& task : record.tasks) {
    if (task.phase != TaskPhase::kIdle && task.allocation.devices != 0)
      tasks.push_back({task.allocation.node, task.allocation.devices});
  }
  return tasks;
}

CommunicationCost::CommunicationCost(const Cluster& cluster, std::vector<LevelLinks> levels)
    : cluster_(cluster), levels_(std::move(levels)) {}
CommunicationCost::~CommunicationCost() = default;

bool CommunicationCost::is_known() {
  if (version_ != cluster_.links_version()) build();
  return links_ != nullptr;
}

void CommunicationCost::build() {
  version_ = cluster_.links_version();
  links_.reset();
  const auto records = cluster_.records();
  const bool any = std::any_of(records.begin(), records.end(),
                               [](const NodeRecord& node) { return node.spec.links.is_known(); });
  if (!any) return;
  std::vector<DomainTree::NodePath> paths;
  std::vector<const NodeSpec*> nodes;
  for (const NodeRecord& record : records) {
    paths.push_back({record.spec.name, record.spec.domains});
    nodes.push_back(&record.spec);
  }
  DomainTree tree = DomainTree::build_from(paths);
  SiteFabric site = site_fabric(tree, nodes, levels_);
  if (!site.any_known()) return;
  links_ = std::make_unique<Links>(std::move(tree), std::move(site));
  for (auto& [job, sending] : running_) take(sending);
}

// --- Jobs that run ---

void CommunicationCost::add(JobId job, std::shared_ptr<const JobSpec> spec,
                            std::vector<TaskPlace> tasks) {
  is_known();
  Sending& sending = running_[job];
  sending = {std::move(spec), std::move(tasks), {}};
  if (links_) take(sending);
}

void CommunicationCost::remove(JobId job) {
  const auto at = running_.find(job);
  if (at == running_.end()) return;
  if (links_) {
    for (const LinkRate& rate : at->second.rates) links_->traffic.remove(rate);
  }
  running_.erase(at);
}

// Works out what the job sends, and adds it.
void CommunicationCost::take(Sending& sending) {
  sending.rates.clear();
  const JobTraffic* traffic = place(*sending.spec->communication, sending.tasks);
  if (traffic == nullptr) return;
  sending.rates = links_->alone.rates(*traffic, places_);
  for (const LinkRate& rate : sending.rates) links_->traffic.add(rate);
}

std::optional<std::string> CommunicationCost::check(std::span<const Running> jobs) {
  if (jobs.size() != running_.size()) return "the jobs that send are not those that run";
  for (const Running& at : jobs) {
    const auto mine = running_.find(at.job);
    if (mine == running_.end() || mine->second.tasks != at.tasks)
      return "job " + std::to_string(at.job.value) + ": sends from other places than it holds";
  }
  if (!is_known()) return std::nullopt;
  LinkTraffic counted(links_->fabric);
  ExpectedTime alone(links_->silence);
  for (const Running& at : jobs) {
    const JobTraffic* traffic = place(*at.spec->communication, at.tasks);
    if (traffic == nullptr) continue;
    for (const LinkRate& rate : alone.rates(*traffic, places_)) counted.add(rate);
  }
  if (!(counted == links_->traffic)) return "the traffic on the links is not the sum of its jobs'";
  return std::nullopt;
}

// --- Expected times ---

const JobTraffic* CommunicationCost::for_ranks(const JobTraffic& traffic, std::int64_t ranks) {
  if (traffic.ranks() == ranks) return &traffic;
  const std::int64_t each = static_cast<std::int64_t>(traffic.tensor) * traffic.pipeline;
  if (ranks == 0 || ranks % each != 0 || ranks / each % traffic.expert != 0) return nullptr;
  scaled_ = traffic;
  scaled_.data = static_cast<std::int32_t>(ranks / each);
  return &scaled_;
}

const JobTraffic* CommunicationCost::place(const JobTraffic& traffic,
                                           std::span<const TaskPlace> tasks) {
  std::int64_t ranks = 0;
  for (const TaskPlace& task : tasks) {
    if (!links_->known[task.node.value]) return nullptr;
    // A node may have come back with fewer devices than are held of it.
    const auto& devices = links_->fabric.layout(task.node).devices;
    if (static_cast<std::size_t>(std::bit_width(task.devices)) > devices.size()) return nullptr;
    if (std::popcount(task.devices) != std::popcount(tasks.front().devices)) return nullptr;
    ranks += std::popcount(task.devices);
  }
  const JobTraffic* scaled = for_ranks(traffic, ranks);
  if (scaled != nullptr) places_of(links_->fabric, tasks, places_);
  return scaled;
}

std::optional<StepTime> CommunicationCost::expected(const JobTraffic& traffic,
                                                    std::span<const TaskPlace> tasks) {
  if (!is_known()) return std::nullopt;
  const JobTraffic* scaled = place(traffic, tasks);
  if (scaled == nullptr) return std::nullopt;
  return links_->expected.step(*scaled, places_);
}

void CommunicationCost::read_seats(std::span<const GangSeat> seats) {
  tasks_.clear();
  for (const GangSeat& seat : seats) {
    if (seat.devices != 0) tasks_.push_back({seat.node, seat.devices});
  }
}

bool CommunicationCost::weighs(const Gang& gang) { return gang.traffic != nullptr && is_known(); }

std::optional<StepTime> CommunicationCost::cost(const Gang& gang, std::span<const GangSeat> seats) {
  read_seats(seats);
  return expected(*gang.traffic, tasks_);
}

std::optional<StepTime> CommunicationCost::undisturbed(const Gang& gang,
                                                       std::span<const GangSeat> seats) {
  read_seats(seats);
  const JobTraffic* scaled = place(*gang.traffic, tasks_);
  if (scaled == nullptr) return std::nullopt;
  return links_->alone.step(*scaled, places_);
}

bool CommunicationCost::is_loaded(DomainId domain) {
  return links_->traffic.shared(domain).others > 0;
}

std::uint32_t CommunicationCost::kind_of(DomainId domain) { return links_->kinds[domain.value]; }

std::optional<StepTime> CommunicationCost::order_ranks(const Gang& gang,
                                                       std::span<GangSeat> seats) {
  read_seats(seats);
  const JobTraffic* scaled = place(*gang.traffic, tasks_);
  if (scaled == nullptr) return std::nullopt;
  if (!order_matters(*scaled, std::popcount(tasks_.front().devices)) ||
      tasks_.size() != seats.size())
    return links_->expected.step(*scaled, places_);
  const auto most = std::clamp<std::int64_t>(kMostRanksOrdered / scaled->ranks(), 1, kMostOrders);
  const RankMap map = links_->mapper.map(*scaled, tasks_, static_cast<std::int32_t>(most));
  // The seats, found again by their places.
  std::map<std::pair<NodeId, std::uint64_t>, GangSeat> by_place;
  for (const GangSeat& seat : seats) by_place.emplace(std::pair(seat.node, seat.devices), seat);
  if (by_place.size() != seats.size()) return cost(gang, seats);
  for (std::size_t i = 0; i < seats.size(); ++i)
    seats[i] = by_place.at({tasks_[i].node, tasks_[i].devices});
  return map.expected;
}

}  // namespace gridfold
