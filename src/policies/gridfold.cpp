#include "policies/gridfold.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "engine/device_fit.h"
#include "policies/gridfold_board.h"

namespace gridfold {
namespace {

// 1 / Q of a device is the unit of scores, B weighs stranding against prices.
constexpr std::int64_t kUnitsPerDevice = 25;  // Q
constexpr std::int64_t kStrandingTenths = 3;  // B
// Dearer than anything that prices can say.
constexpr std::int64_t kScarcePenalty = std::int64_t{1} << 20;
constexpr std::int64_t kShortModelPrice = 1;
constexpr std::int64_t kKeptPenalty = std::int64_t{1} << 40;
// Of a task for several devices: as much as one more idle device left behind.
constexpr std::int64_t kMillicoresPerUnit = 16'000;

constexpr std::int64_t kLongestPlanGap = 2048;
constexpr std::int64_t kReserveGap = 16;
constexpr std::int64_t kScarcityGap = 64;
// The last arrivals are so much of the window.
constexpr std::int64_t kRecentPart = 8;

// `tenths`: in 2^-16 / 10 of a device. Half up.
std::int64_t rounded(std::int64_t tenths) {
  constexpr std::int64_t kUnit = std::int64_t{10} * kDeviceWorth;
  const std::int64_t scaled = tenths * kUnitsPerDevice + kUnit / 2;
  return scaled >= 0 ? scaled / kUnit : -((-scaled + kUnit - 1) / kUnit);
}

// Thousandths of devices, without those that are split into partitions.
std::int64_t unsplit_share(const Request& request) {
  std::int64_t sum = 0;
  for (const DeviceNeed& need : request.devices) {
    if (need.partition == 0) sum += static_cast<std::int64_t>(need.count) * need.share;
  }
  return sum;
}

struct Plan : SolveAnswer {
  Plan(GridfoldTables t, const Tightness& tight) : tables(std::move(t)), tightness(tight) {}
  GridfoldTables tables;
  Tightness tightness;
};

struct PlanProblem : SolveProblem {
  PlanProblem(const LearnedMix& m, std::vector<Stranding::Extent> extents, Departures d,
              const Tightness& tight)
      : mix(m), largest(std::move(extents)), departures(d), tightness(tight) {}

  // The tables of stranding are nearly all of it: a cell a kind.
  std::int64_t steps() const override {
    std::int64_t cells = 0;
    for (const Stranding::Extent& extent : largest)
      cells += (extent.share / 50 + 1) * (extent.cpu / 1000 + 1);
    return 1 + cells * static_cast<std::int64_t>(mix.kinds().size());
  }
  std::shared_ptr<const SolveAnswer> solve() const override {
    return std::make_shared<Plan>(GridfoldTables(mix, largest, departures), tightness);
  }

  LearnedMix mix;
  std::vector<Stranding::Extent> largest;  // by device class
  Departures departures;
  Tightness tightness;
};

}  // namespace

Result<GridfoldOptions> read_gridfold_options(const PolicyOptions& options) {
  SettingsReader settings("gridfold", options.settings);
  GridfoldOptions own;
  own.window = settings.number("gridfold.window", own.window, 16, 65536);
  if (auto error = settings.finish()) return *error;
  return own;
}

Gridfold::Gridfold(const GridfoldOptions& options)
    : options_(options), mix_(options.window), recent_(options.window / kRecentPart) {}

// --- Choosing ---

// A task tried on a node, device by device.
class Gridfold::Trial {
 public:
  Trial(GridfoldBoard& board, const NodeState& before, std::int64_t cpu_left,
        const ByCorePrice& cpu_cost, Worth price, std::int64_t guarded)
      : board_(board),
        before_(before),
        cpu_left_(cpu_left),
        worth_(difference(before.worth, cpu_cost)),
        besides_(price - before.value),
        opened_(guarded) {}

  std::uint64_t chosen() const { return chosen_; }
  // Score but for what it spoils.
  std::int64_t score() const { return score_of(least(worth_), board_.stranded(cpu_left_)); }

  void take(std::size_t device, std::int32_t share) {
    chosen_ |= std::uint64_t{1} << device;
    const std::int32_t left = board_.left(device, share);
    board_.change_worth(device, left, worth_);
    besides_ += board_.gain_besides(device, left);
    opened_ += board_.share(device) == 1000 && left > 0;
    board_.take(device, share);
  }
  // The first whole devices that fit. There are so many.
  void take_whole(const NodeRoom& node, const DeviceNeed& need) {
    std::int32_t missing = need.count;
    for (std::size_t i = 0; missing > 0; ++i) {
      assert(i < node.devices.size());
      if ((chosen_ >> i & 1) || board_.share(i) < 1000 || !device_fits(node.devices[i], need))
        continue;
      take(i, need.share);
      --missing;
    }
  }
  // The device that scores best. There is one.
  void take_slice(const NodeRoom& node, const DeviceNeed& need) {
    std::size_t best = kMaxDevicesPerNode;
    std::int64_t best_score = 0;
    std::uint64_t tried = 0;
    const auto consider = [&](std::size_t i) {
      const bool is_full = board_.share(i) == 0 && need.share > 0;
      if (is_full || board_.has_twin_among(tried, i) || !device_fits(node.devices[i], need)) return;
      tried |= std::uint64_t{1} << i;
      const std::int32_t left = board_.left(i, need.share);
      const std::int64_t here =
          score_of(board_.least_after(i, left, worth_) + board_.gain_besides(i, left),
                   board_.stranded_after(i, left, cpu_left_)) -
          (board_.share(i) == 1000);
      if (best != kMaxDevicesPerNode && here <= best_score) return;
      best = i;
      best_score = here;
    };
    if (node.layout != nullptr) {
      for (const std::size_t i : order_of_devices(node, need, chosen_)) consider(i);
    } else {
      for (std::size_t i = 0; i < node.devices.size(); ++i) {
        if ((chosen_ >> i & 1) == 0) consider(i);
      }
    }
    assert(best < kMaxDevicesPerNode);
    take(best, need.share);
  }

 private:
  std::int64_t score_of(Worth value, Worth stranded) const {
    return rounded(10 * std::int64_t{value + besides_} +
                   kStrandingTenths * (before_.stranded - stranded)) -
           opened_;
  }

  GridfoldBoard& board_;
  const NodeState& before_;
  std::int64_t cpu_left_;
  ByCorePrice worth_;
  Worth besides_;
  std::int64_t opened_;
  std::uint64_t chosen_ = 0;
};

// Asked only where the task fits.
Choice Gridfold::choose(const NodeRoom& node, const Request& request) const {
  GridfoldBoard board(tables_, node);
  NodeState considered;
  const NodeState& before = state_of(node, board, considered);
  const std::int64_t cpu_left = node.cpu - request.cpu;
  Trial trial(board, before, cpu_left, cost_of(request.cpu), tables_.price(request),
              guarded(node, request, board));
  for (const DeviceNeed& need : request.devices) {
    if (is_choice_ruled(node, need)) {
      const std::uint64_t ruled = choose_devices(node, need, trial.chosen());
      for (std::uint64_t left = ruled; left != 0; left &= left - 1)
        trial.take(static_cast<std::size_t>(std::countr_zero(left)), need.share);
    } else if (need.is_whole()) {
      trial.take_whole(node, need);
    } else {
      for (std::int32_t unit = 0; unit < need.count; ++unit) trial.take_slice(node, need);
    }
  }
  const std::uint64_t chosen = trial.chosen();
  const std::int64_t units =
      trial.score() - partition_loss(node, request, chosen) - spoils(node, request, board, chosen);
  return {tightness_.refine(units, cpu_left, board.free_share()), chosen};
}

// What is kept on the node, whether it is guarded most, which models are short.
std::uint64_t Gridfold::node_key(NodeId node) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t key = 0;
  for (std::size_t k = 0; k < reservations_.size(); ++k) {
    key = (key + reservations_[k].key_of(node)) * kOdd;
    key = (key + balances_[k].changes() * 2 + guards_[k].is_rarest(*cluster_, node)) * kOdd;
  }
  return key;
}

const Gridfold::NodeState& Gridfold::state_of(const NodeRoom& node, const GridfoldBoard& board,
                                              NodeState& considered) const {
  if (node.node.is_none()) return considered = derive(node, board);
  if (node.node.value >= states_.size()) states_.resize(node.node.value + 1);
  NodeState& kept = states_[node.node.value];
  if (kept.version != node.version || kept.plan != plan_number_) kept = derive(node, board);
  return kept;
}

Gridfold::NodeState Gridfold::derive(const NodeRoom& node, const GridfoldBoard& board) const {
  NodeState state;
  state.version = node.version;
  state.plan = plan_number_;
  state.worth = board.worth();
  const ByCorePrice cost = cost_of_cpu(node.cpu);
  for (std::size_t u = 0; u < kCorePrices; ++u) state.worth[u] += cost[u];
  state.value = least(state.worth);
  state.stranded = board.stranded(node.cpu);
  return state;
}

const ByCorePrice& Gridfold::cost_of(std::int64_t cpu) const {
  if (cpu != last_cpu_) {
    last_cpu_ = cpu;
    last_cost_ = cost_of_cpu(cpu);
  }
  return last_cost_;
}

// `board`: before anything is taken.
std::int64_t Gridfold::guarded(const NodeRoom& node, const Request& request,
                               const GridfoldBoard& board) const {
  std::int64_t price = 0;
  for (std::uint16_t k = 0; k < guards_.size(); ++k) {
    if (guards_[k].is_raised()) price += guards_[k].price(*cluster_, node.node, board.whole(k));
  }
  if (price == 0) return 0;
  std::int32_t asked = 0;
  for (const DeviceNeed& need : request.devices) asked += need.count;
  return asked > 1 ? 0 : price;
}

// `board`: what is left when the devices are taken.
std::int64_t Gridfold::spoils(const NodeRoom& node, const Request& request,
                              const GridfoldBoard& board, std::uint64_t devices) const {
  const std::int64_t cpu_left = node.cpu - request.cpu;
  std::int64_t spoiled = 0;
  for (const DeviceNeed& need : request.devices) {
    // The tightest block for a task of several devices.
    if (need.count >= 2) spoiled += board.whole(need.device_class) + cpu_left / kMillicoresPerUnit;
    spoiled += spoilt_model(node, need, devices);
  }
  for (std::uint16_t k = 0; k < reservations_.size(); ++k) {
    if (!reservations_[k].keeps(node.node)) continue;
    std::int32_t asked = 0;
    for (const DeviceNeed& need : request.devices) {
      if (need.device_class == k) asked = std::max(asked, need.count);
    }
    if (reservations_[k].eats_into(node.node, asked, board.whole(k), cpu_left))
      spoiled += kKeptPenalty;
  }
  return spoiled;
}

// By the first device taken: a node with several models is rare.
std::int64_t Gridfold::spoilt_model(const NodeRoom& node, const DeviceNeed& need,
                                    std::uint64_t devices) const {
  if (need.device_class >= scarce_.size()) return 0;
  const ScarceModels& scarce = scarce_[need.device_class];
  const ModelBalance& balance = balances_[need.device_class];
  if (!scarce.has_any() && !balance.any_short()) return 0;
  std::uint64_t left = devices;
  while (node.devices[std::countr_zero(left)].device_class != need.device_class) left &= left - 1;
  const std::uint16_t model = node.devices[std::countr_zero(left)].model;
  std::int64_t spoilt = balance.is_short(model) && need.models.size() != 1 ? kShortModelPrice : 0;
  if (scarce.is_scarce(model) && scarce.has_choice(need)) spoilt += kScarcePenalty;
  return spoilt;
}

// --- Learning ---

bool Gridfold::observe(const Request& request) {
  mix_.add(request);
  recent_.add(request);
  ++arrivals_;
  load_.arrived(unsplit_share(request));
  for (const DeviceNeed& need : request.devices) {
    while (need.device_class >= ledgers_.size()) {
      const auto next = static_cast<std::uint16_t>(ledgers_.size());
      ledgers_.emplace_back(next);
      reservations_.emplace_back();
      scarce_.emplace_back(next);
      guards_.emplace_back();
      balances_.emplace_back();
    }
  }
  // What looks at many nodes is done the more rarely the more there are.
  const auto nodes = static_cast<std::int64_t>(cluster_->size());
  bool changed = false;
  if (arrivals_ >= next_plan_) {
    next_plan_ += std::min(next_plan_, std::max(kLongestPlanGap, nodes));
    plan_is_due_ = true;
  }
  if (arrivals_ >= next_reserve_) {
    next_reserve_ += std::max(kReserveGap, nodes / 64);
    changed |= reserve();
  }
  if (arrivals_ >= next_scarcity_) {
    next_scarcity_ += std::max(kScarcityGap, nodes / 16);
    for (ScarceModels& scarce : scarce_) changed |= scarce.update(*cluster_, mix_);
  }
  return changed;
}

bool Gridfold::departed(const Request& request) {
  load_.left(unsplit_share(request));
  departures_ = Departures::kSeen;
  return false;
}

std::shared_ptr<const SolveProblem> Gridfold::problem() {
  if (!plan_is_due_) return nullptr;
  plan_is_due_ = false;
  std::vector<Stranding::Extent> largest;
  for (IdleLedger& ledger : ledgers_) {
    ledger.refresh(*cluster_);
    largest.push_back(ledger.extent());
  }
  const Tightness tightness = departures_ == Departures::kSeen ? weigh_tightness() : Tightness();
  return std::make_shared<PlanProblem>(mix_, std::move(largest), departures_, tightness);
}

bool Gridfold::adopt(const SolveAnswer& answer) {
  const auto& plan = dynamic_cast<const Plan&>(answer);
  if (plan.tightness == tightness_ && GridfoldTables::alike(tables_, plan.tables)) return false;
  tightness_ = plan.tightness;
  tables_ = plan.tables;
  ++plan_number_;
  return true;
}

Tightness Gridfold::weigh_tightness() const {
  Tightness::Room largest;
  Tightness::Room capacity;
  Tightness::Room demand;
  for (const NodeRecord& node : cluster_->records()) {
    const std::int64_t share = static_cast<std::int64_t>(node.spec.devices.size()) * 1000;
    largest.cpu = std::max(largest.cpu, node.spec.cpu.value);
    largest.share = std::max(largest.share, share);
    capacity.cpu += node.spec.cpu.value;
    capacity.share += share;
  }
  for (const auto& [kind, weight] : mix_.kinds()) {
    for (const RequestKind::Need& need : kind.needs)
      demand.share += weight / 64 * need.count * need.share;
    demand.cpu += weight / 64 * kind.cpu;
  }
  return Tightness(largest, capacity, demand, load_.permille());
}

bool Gridfold::reserve() {
  bool changed = false;
  std::int64_t idle = 0;
  std::int64_t capacity = 0;
  for (std::size_t k = 0; k < ledgers_.size(); ++k) {
    ledgers_[k].refresh(*cluster_);
    reservations_[k].update(*cluster_, ledgers_[k], mix_, recent_);
    changed |= guards_[k].update(ledgers_[k]);
    balances_[k].update(*cluster_, ledgers_[k], guards_[k].is_raised());
    idle += ledgers_[k].idle_share();
    capacity += ledgers_[k].capacity_share();
  }
  load_.update(idle, capacity);
  return changed;
}

}  // namespace gridfold
