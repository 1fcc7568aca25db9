// The index decides exactly as the scan: one stream of placements, departures,
// faults and lessons, asked of both after every step. GRIDFOLD_DECISIONS asks
// for a longer run than a test can afford.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/device_fit.h"
#include "engine/score_table.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

std::uint64_t decisions_wanted() {
  const char* const text = std::getenv("GRIDFOLD_DECISIONS");
  return text == nullptr ? 100'000 : std::strtoull(text, nullptr, 10);
}

// Scores by the node's number, and changes its mind about one node now and
// then: what a policy that reserves nodes does.
class Fickle final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "fickle"; }
  void prepare(Cluster& cluster) override { cluster_ = &cluster; }
  std::uint64_t node_key(NodeId node) const override {
    return node.value < moods_.size() ? moods_[node.value] : 0;
  }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    const auto mood = static_cast<std::int64_t>(node_key(node.node));
    return {node.cpu % 5 - 3 * mood, first_fit_devices(node, request)};
  }
  bool observe(const Request& request) override {
    if (cluster_->size() == 0) return false;
    const NodeId node(static_cast<std::uint32_t>((request.cpu + ++seen_) % cluster_->size()));
    if (node.value >= moods_.size()) moods_.resize(node.value + 1);
    moods_[node.value] = (moods_[node.value] + 1) % 4;
    cluster_->touch(node);
    return false;
  }

 private:
  Cluster* cluster_ = nullptr;
  std::vector<std::uint64_t> moods_;
  std::int64_t seen_ = 0;
};

std::unique_ptr<PlacementPolicy> policy_named(const std::string& name) {
  if (name == "fickle") return std::make_unique<Fickle>();
  return std::move(make_policy(name, {}).value().placement);
}

class World {
 public:
  World(std::uint64_t seed, const std::string& policy, TieBreak tie_break, std::size_t row_bytes)
      : random_(seed, "world"),
        policy_(policy_named(policy)),
        tree_(cluster_, *policy_,
              {.tie_break = tie_break, .seed = seed, .max_row_bytes = row_bytes}),
        scan_(cluster_, *policy_,
              {.tie_break = tie_break, .seed = seed, .index = PlacementIndex::kScan}),
        tree_ties_(seed, "ties"),
        scan_ties_(seed, "ties") {
    policy_->prepare(cluster_);
    const std::uint64_t nodes = 1 + random_.below(90);
    for (std::uint64_t i = 0; i < nodes; ++i) add_node();
    const std::uint64_t requests = 1 + random_.below(12);
    for (std::uint64_t i = 0; i < requests; ++i) requests_.push_back(&cluster_.compile(request()));
  }

  // One of everything that can happen.
  void step() {
    const std::uint64_t what = random_.below(100);
    if (what < 55) return place();
    if (what < 85) return leave();
    if (what < 88) return change_status();
    if (what < 90) return claim();
    if (what < 92) return unclaim();
    if (what < 93) return add_node();
    if (what < 94) return remove_node();
    if (what < 96) return set_leaving();
    learn();
  }

  // Both asked for one request; true when they agree in everything.
  testing::AssertionResult agree() {
    const Request& request = *requests_[random_.below(requests_.size())];
    const std::int64_t tasks = static_cast<std::int64_t>(random_.below(40));
    if (tree_.has_slots(request, tasks) != scan_.has_slots(request, tasks))
      return testing::AssertionFailure() << "slots for " << tasks << " of request " << request.id;
    const auto a = tree_.best(request, tree_ties_);
    const auto b = scan_.best(request, scan_ties_);
    if (a.has_value() != b.has_value() ||
        (a && (a->node != b->node || a->devices != b->devices || a->score != b->score ||
               a->feasible_nodes != b->feasible_nodes)))
      return testing::AssertionFailure() << "best node of request " << request.id;
    if (a && tree_.why(request, *a) != scan_.why(request, *b))
      return testing::AssertionFailure() << "runner-up of request " << request.id;
    best_ = a;
    asked_ = &request;
    return testing::AssertionSuccess();
  }

 private:
  TaskRequest request() {
    TaskRequest request;
    request.cpu = MilliCores(static_cast<std::int64_t>(random_.below(9)) * 1000);
    request.memory = Bytes(static_cast<std::int64_t>(random_.below(3)) << 33);
    if (random_.below(5) == 0) return request;
    DeviceRequest device;
    device.device_class = random_.below(8) == 0 ? "npu" : "gpu";
    if (random_.below(6) == 0) {
      device.count = 1;
      device.share = DeviceShare(0);
      device.partition = random_.below(2) == 0 ? "1g" : "2g";
    } else if (random_.below(2) == 0) {
      device.count = static_cast<std::int32_t>(1 + random_.below(4));
      if (random_.below(3) == 0) device.place = static_cast<DevicePlace>(random_.below(5));
    } else {
      device.count = 1;
      device.share = DeviceShare(static_cast<std::int64_t>(1 + random_.below(10)) * 100);
      if (random_.below(3) == 0) device.memory = Bytes(std::int64_t{8} << 30);
    }
    if (random_.below(4) == 0) device.models.push_back("A");
    request.devices.push_back(device);
    return request;
  }

  // Often of a make that is there already, so that states are shared.
  void add_node() {
    NodeRecord record;
    record.spec.name = "n" + std::to_string(random_.below(1'000'000));
    if (cluster_.find(record.spec.name)) return;
    record.spec.cpu = MilliCores(32'000);
    record.spec.memory = Bytes(std::int64_t{256} << 30);
    const std::uint64_t devices = random_.below(3) * 4;
    for (std::uint64_t i = 0; i < devices; ++i)
      record.spec.devices.push_back(
          {i == 7 ? "npu" : "gpu", i < 4 ? "A" : "B", Bytes(std::int64_t{40} << 30)});
    const std::uint64_t make = random_.below(4);
    for (std::size_t i = 0; make > 1 && i < devices; ++i) {
      DeviceSpec& device = record.spec.devices[i];
      device.numa = static_cast<std::int32_t>(i / 4);
      device.pcie_switch = static_cast<std::int32_t>(i / 2);
      device.island = i == 3 ? -1 : 0;
      if (make == 3 && i < 2)
        device.partitions = {{"1g", 1, 1, {}, {0, 1, 2}}, {"2g", 2, 2, {}, {0, 2}}};
    }
    record.up = true;
    cluster_.put(std::move(record));
  }

  Allocation allocation() const {
    return {best_->node, best_->devices,
            choose_start(cluster_.room(best_->node), *asked_, best_->devices)};
  }

  void place() {
    if (!best_) return;
    const TaskId task{JobId(++jobs_), 0};
    const Allocation at = allocation();
    ASSERT_TRUE(Cluster::fits_exactly(cluster_.room(at.node), *asked_, at));
    cluster_.take(at, task, *asked_);
    held_.push_back({best_->node, task, asked_});
    best_.reset();
    const bool learned = policy_->observe(*asked_);
    if (settle(*policy_) || learned) forget();
  }

  void leave() {
    if (held_.empty()) return;
    const std::size_t i = random_.below(held_.size());
    const Held gone = held_[i];
    held_[i] = held_.back();
    held_.pop_back();
    cluster_.give_back(gone.node, gone.task);
    best_.reset();
    if (policy_->departed(*gone.request)) forget();
  }

  void change_status() {
    if (cluster_.size() == 0) return;
    const NodeId node(static_cast<std::uint32_t>(random_.below(cluster_.size())));
    NodeRecord record = cluster_.record(node);
    if (random_.below(2) == 0) {
      record.drained = !record.drained;
    } else {
      record.dirty_devices ^= std::uint64_t{1} << random_.below(8);
    }
    cluster_.set_status(record);
    best_.reset();
  }

  void claim() {
    if (!best_ || !cluster_.claims(best_->node).empty()) return;
    claimed_.push_back({best_->node, {JobId(++jobs_), 0}, asked_});
    cluster_.claim(allocation(), claimed_.back().task, *asked_);
    best_.reset();
  }

  void unclaim() {
    if (claimed_.empty()) return;
    cluster_.unclaim(claimed_.back().node, claimed_.back().task);
    claimed_.pop_back();
    best_.reset();
  }

  void set_leaving() {
    if (held_.empty()) return;
    const Held& held = held_[random_.below(held_.size())];
    cluster_.set_staying(held.node, held.task, Cluster::Staying::kLeaves);
    best_.reset();
  }

  void remove_node() {
    if (cluster_.size() < 2) return;
    const NodeId last(static_cast<std::uint32_t>(cluster_.size() - 1));
    if (!cluster_.holdings(last).empty() || !cluster_.claims(last).empty()) return;
    cluster_.remove_last();
    best_.reset();
  }

  void learn() {
    for (std::uint64_t i = random_.below(20); i > 0; --i) {
      const bool learned = policy_->observe(*requests_[random_.below(requests_.size())]);
      if (settle(*policy_) || learned) forget();
    }
    best_.reset();
  }

  void forget() {
    tree_.forget_scores();
    scan_.forget_scores();
  }

  struct Held {
    NodeId node;
    TaskId task;
    const Request* request = nullptr;
  };

  RandomStream random_;
  Cluster cluster_;
  std::unique_ptr<PlacementPolicy> policy_;
  ScoreTable tree_;
  ScoreTable scan_;
  RandomStream tree_ties_;
  RandomStream scan_ties_;
  std::vector<const Request*> requests_;
  std::vector<Held> held_;
  std::vector<Held> claimed_;
  std::uint64_t jobs_ = 0;
  std::optional<ScoreTable::Best> best_;
  const Request* asked_ = nullptr;
};

TEST(PlacementIndex, DecidesExactlyAsTheScan) {
  std::vector<std::string> policies{"fickle"};
  for (const std::string_view name : policy_names()) {
    const auto made = make_policy(name, {});
    if (made && !made->rounds) policies.emplace_back(name);  // those place by another's scores
  }
  constexpr TieBreak kTieBreaks[] = {TieBreak::kLowestName, TieBreak::kRandom,
                                     TieBreak::kSeededOrder};
  // Room for every row, for a few, and for none.
  constexpr std::size_t kRowBytes[] = {std::size_t{1} << 30, 40'000, 0};
  const std::uint64_t wanted = decisions_wanted();
  constexpr std::uint64_t kDecisionsAWorld = 500;
  std::uint64_t seed = 0;
  for (std::uint64_t made = 0; made < wanted; made += kDecisionsAWorld, ++seed) {
    World world(seed, policies[seed % policies.size()], kTieBreaks[seed / 2 % 3],
                kRowBytes[seed % 7 == 0 ? 2 : seed % 2]);
    for (std::uint64_t i = 0; i < kDecisionsAWorld; ++i) {
      ASSERT_TRUE(world.agree()) << "seed " << seed << ", decision " << i << ", policy "
                                 << policies[seed % policies.size()];
      world.step();
      // At times several changes between two questions.
      for (std::uint64_t more = i % 7 == 0 ? i % 40 : 0; more > 0; --more) world.step();
    }
  }
}

}  // namespace
}  // namespace gridfold
