// VictimSearch against an exhaustive search that shares no code with it: a model
// of nodes, devices, NUMA nodes, partitions and domains of its own, every set of
// candidates tried.
#include "engine/victims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

namespace gridfold {
namespace {

class AnyPolicy final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "any"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

constexpr int kSlots = 8;             // of a split device
constexpr int kLengthOf[2] = {1, 4};  // profiles "1g" and "3g"
const std::vector<int> kStartsOf[2] = {{0, 1, 2, 3, 4, 5, 6}, {0, 4}};

// What one task asks, in the model's terms.
struct Ask {
  enum Kind { kWhole, kOneNuma, kSlice, kPartition } kind = kWhole;
  int amount = 1;  // devices, thousandths, or the profile's number
  int cores = 1;
};
struct Held {
  int node = 0;
  Ask ask;
  std::uint64_t devices = 0;
  int start = -1;
};
struct ModelNode {
  int rack = 0, spine = 0, cores = 0, gpus = 0, split = 0;  // the last `split` devices are split
  int numa_of(int device) const { return device * 2 / gpus; }
};
struct ModelJob {
  std::vector<Held> tasks;
  int min = 0;  // tasks; fewer than there are: an elastic gang
  std::int64_t lost = 0, lost_each = 0;
  enum { kStays, kCandidate, kLeaves } role = kStays;
};

// A node's room by the model, counted from what is held.
struct Room {
  int cores = 0;
  std::vector<int> share, holders, slots;  // by device; slots: a mask of the free ones
};

Room room_of(const ModelNode& node, const std::vector<const Held*>& held) {
  Room room{node.cores, std::vector<int>(static_cast<std::size_t>(node.gpus), 1000),
            std::vector<int>(static_cast<std::size_t>(node.gpus), 0),
            std::vector<int>(static_cast<std::size_t>(node.gpus), (1 << kSlots) - 1)};
  for (const Held* one : held) {
    room.cores -= one->ask.cores;
    for (int d = 0; d < node.gpus; ++d) {
      if (!(one->devices >> d & 1)) continue;
      const auto i = static_cast<std::size_t>(d);
      ++room.holders[i];
      if (one->ask.kind == Ask::kPartition) {
        room.slots[i] &= ~(((1 << kLengthOf[one->ask.amount]) - 1) << one->start);
      } else {
        room.share[i] -= one->ask.kind == Ask::kSlice ? one->ask.amount : 1000;
      }
    }
  }
  return room;
}

int most_partitions(int free, int profile) {
  int most = 0;
  for (const int start : kStartsOf[profile]) {
    const int mask = ((1 << kLengthOf[profile]) - 1) << start;
    if ((free & mask) == mask) most = std::max(most, 1 + most_partitions(free & ~mask, profile));
  }
  return most;
}

int tasks_on(const ModelNode& node, const Room& room, const Ask& ask) {
  int tasks = 0;
  const int whole = node.gpus - node.split;
  switch (ask.kind) {
    case Ask::kWhole:
      for (int d = 0; d < whole; ++d) tasks += room.holders[static_cast<std::size_t>(d)] == 0;
      tasks /= ask.amount;
      break;
    case Ask::kOneNuma:
      for (int numa = 0; numa < 2; ++numa) {
        int idle = 0;
        for (int d = 0; d < whole; ++d)
          idle += node.numa_of(d) == numa && room.holders[static_cast<std::size_t>(d)] == 0;
        tasks += idle / ask.amount;
      }
      break;
    case Ask::kSlice:
      for (int d = 0; d < whole; ++d) tasks += room.share[static_cast<std::size_t>(d)] / ask.amount;
      break;
    case Ask::kPartition:
      for (int d = whole; d < node.gpus; ++d)
        tasks += most_partitions(room.slots[static_cast<std::size_t>(d)], ask.amount);
      break;
  }
  return std::min(tasks, room.cores / ask.cores);
}

class State {
 public:
  explicit State(std::uint64_t seed) : random_(seed, "victims.test") {
    make_nodes();
    make_jobs();
    make_question();
    count_tables();
  }

  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(n))); }

  // --- the model's answer; a set of candidates is a mask ---
  bool fits(std::uint32_t mask) {
    std::vector<int> on(nodes.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) on[n] = tasks_without(n, mask);
    const auto enough = [&](auto&& in_home) {
      std::array<int, 4> racks{};
      int sum = 0;
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (!in_home(n)) continue;
        racks[static_cast<std::size_t>(nodes[n].rack)] += on[n];
        sum += on[n];
      }
      if (segment == 0) return sum >= tasks_needed;
      int whole = 0;
      for (const int tasks : racks) whole += tasks / segment;
      return whole * segment >= tasks_needed;
    };
    if (require.empty()) return enough([](std::size_t) { return true; });
    for (std::size_t home = 0; home < nodes.size(); ++home) {
      const ModelNode& h = nodes[home];
      if (enough([&](std::size_t n) {
            return require == "node"   ? n == home
                   : require == "rack" ? nodes[n].rack == h.rack
                                       : nodes[n].spine == h.spine;
          }))
        return true;
    }
    return false;
  }
  bool is_allowed(std::uint32_t mask) const {
    for (std::size_t g = 0; g < pool.groups.size(); ++g) {
      if (std::popcount(mask & group_masks_[g]) > pool.groups[g]) return false;
    }
    return true;
  }
  std::int64_t lost(std::uint32_t mask) const {
    std::int64_t sum = 0;
    for (; mask != 0; mask &= mask - 1)
      sum += pool.candidates[static_cast<std::size_t>(std::countr_zero(mask))].lost;
    return sum;
  }
  std::optional<std::int64_t> optimum() {
    std::optional<std::int64_t> best;
    std::vector<std::int64_t> lost_by(std::size_t{1} << pool.candidates.size(), 0);
    for (std::uint32_t mask = 0; mask < lost_by.size(); ++mask) {
      if (mask != 0) lost_by[mask] = lost_by[mask & (mask - 1)] + lost(mask & -mask);
      if ((best && lost_by[mask] >= *best) || !is_allowed(mask) || !fits(mask)) continue;
      best = lost_by[mask];
    }
    return best;
  }

  // --- the search's ---
  std::optional<VictimAnswer> search() {
    AnyPolicy policy;
    Cluster cluster;
    DomainSlots slots(cluster, policy);
    for (std::size_t n = 0; n < nodes.size(); ++n) put_node(cluster, n);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      for (std::size_t t = 0; t < jobs[j].tasks.size(); ++t) {
        const Held& held = jobs[j].tasks[t];
        cluster.take(at(held), {JobId(j + 1), static_cast<std::uint32_t>(t)},
                     cluster.compile(request(held.ask)),
                     jobs[j].role == ModelJob::kLeaves ? Cluster::Staying::kLeaves
                                                       : Cluster::Staying::kStays);
      }
    }
    std::vector<NodeId> leaving;
    for (const ModelJob& job : jobs) {
      if (job.role != ModelJob::kLeaves) continue;
      for (const Held& held : job.tasks)
        leaving.emplace_back(static_cast<std::uint32_t>(held.node));
    }
    for (Leaving& one : pool.leaving)
      one.request = &cluster.compile(request(asks_[&one - pool.leaving.data()]));
    const GangPart part{&cluster.compile(request(ask)), tasks_needed, tasks_needed};
    TopologyWish wish;
    wish.require = require;
    if (segment > 0) wish.segments = Segments{segment, "rack"};
    VictimSearch victims(cluster, slots);
    return victims.find({std::span(&part, 1), &wish, &pool, leaving, max_steps, {}});
  }

  std::vector<ModelNode> nodes;
  std::vector<ModelJob> jobs;
  VictimPool pool;
  Ask ask;
  int tasks_needed = 1;
  int segment = 0;
  std::string require;
  std::int64_t max_steps = 1'000'000;
  std::size_t most_candidates = 12;

 private:
  void make_nodes() {
    const int count = 2 + below(6);
    for (int n = 0; n < count; ++n) {
      const int rack = below(4);
      const int gpus = 2 << below(3);
      nodes.push_back({rack, rack / 2, 4 + below(16), gpus, below(4) == 0 ? gpus / 2 : 0});
    }
  }
  Ask random_ask() {
    switch (below(5)) {
      case 0: return {Ask::kSlice, 250 * (1 + below(3)), 1};
      case 1: return {Ask::kPartition, below(2), 1};
      case 2: return {Ask::kOneNuma, 1 + below(4), 1 + below(2)};
      default: return {Ask::kWhole, 1 + below(4), 1 + below(3)};
    }
  }

  // Somewhere on the node, at random; no devices when there is no room.
  std::optional<Held> place(int n, const Ask& wanted) {
    const ModelNode& node = nodes[static_cast<std::size_t>(n)];
    std::vector<const Held*> here;
    for (const ModelJob& job : jobs)
      for (const Held& held : job.tasks)
        if (held.node == n) here.push_back(&held);
    const Room room = room_of(node, here);
    if (tasks_on(node, room, wanted) == 0) return std::nullopt;
    Held held{n, wanted, 0, -1};
    std::vector<int> order;
    for (int d = 0; d < node.gpus; ++d) order.push_back(d);
    for (int i = node.gpus; i-- > 1;)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(below(i + 1))]);
    const int numa = below(2);
    for (const int first_choice : {0, 1}) {
      held.devices = 0;
      int left = wanted.kind == Ask::kWhole || wanted.kind == Ask::kOneNuma ? wanted.amount : 1;
      for (const int d : order) {
        const auto i = static_cast<std::size_t>(d);
        const bool split = d >= node.gpus - node.split;
        if (left == 0 || split != (wanted.kind == Ask::kPartition)) continue;
        if (wanted.kind == Ask::kPartition) {
          for (const int start : kStartsOf[wanted.amount]) {
            const int mask = ((1 << kLengthOf[wanted.amount]) - 1) << start;
            if (left == 0 || (room.slots[i] & mask) != mask) continue;
            held.start = start;
            held.devices = 1ull << d;
            --left;
          }
          continue;
        }
        if (wanted.kind == Ask::kSlice ? room.share[i] < wanted.amount : room.holders[i] > 0)
          continue;
        if (wanted.kind == Ask::kOneNuma && node.numa_of(d) != (numa ^ first_choice)) continue;
        held.devices |= 1ull << d;
        --left;
      }
      if (left == 0) return held;
    }
    return std::nullopt;
  }

  void make_jobs() {
    std::size_t candidates = 0;
    for (int tries = 0; tries < 40; ++tries) {
      ModelJob job;
      const Ask each = random_ask();
      const int tasks = 1 + below(4) * below(2);
      jobs.emplace_back();  // so that its tasks see each other
      for (int t = 0; t < tasks; ++t) {
        if (auto held = place(below(static_cast<int>(nodes.size())), each))
          jobs.back().tasks.push_back(*held);
      }
      if (jobs.back().tasks.empty()) {
        jobs.pop_back();
        continue;
      }
      ModelJob& made = jobs.back();
      made.min = static_cast<int>(made.tasks.size());
      made.lost = 1 + below(200);
      made.lost_each = 1 + below(40);
      const int kind = below(10);
      std::size_t more = 1;
      if (made.min > 1 && below(3) == 0) {
        more += static_cast<std::size_t>(made.min);
        made.min = 1 + below(made.min);
        if (static_cast<std::size_t>(made.min) == made.tasks.size()) more = 1;
      }
      if (kind == 0) {
        made.role = ModelJob::kLeaves;
      } else if (kind < 8 && candidates + more <= most_candidates) {
        made.role = ModelJob::kCandidate;
        candidates += more;
        offer(made, jobs.size());
      }
    }
  }
  void offer(const ModelJob& job, std::size_t number) {
    const auto first = static_cast<std::uint32_t>(pool.leaving.size());
    std::uint32_t task = 0;
    for (const Held& held : job.tasks) {
      pool.leaving.push_back({NodeId(static_cast<std::uint32_t>(held.node)), task++, nullptr,
                              held.devices, held.start});
      asks_.push_back(held.ask);
    }
    const auto last = static_cast<std::uint32_t>(pool.leaving.size());
    pool.candidates.push_back({JobId(number), job.lost, 0, first, last, -1});
    const int surplus = static_cast<int>(job.tasks.size()) - job.min;
    if (surplus == 0) return;
    for (std::uint32_t i = first; i < last; ++i)
      pool.candidates.push_back({JobId(number), job.lost_each, 0, i, i + 1,
                                 static_cast<std::int32_t>(pool.groups.size())});
    pool.groups.push_back(surplus);
  }
  void make_question() {
    ask = random_ask();
    tasks_needed = 1 + below(6) * below(2);
    switch (below(5)) {
      case 0: require = "rack"; break;
      case 1: require = "spine"; break;
      case 2: require = "node"; break;
      case 3:
        segment = 2;
        tasks_needed = 2 * (1 + below(3));
        if (below(2) == 0) require = "spine";
        break;
      default: break;
    }
  }

  void count_tables() {
    group_masks_.assign(pool.groups.size(), 0);
    for (std::uint32_t c = 0; c < pool.candidates.size(); ++c) {
      if (pool.candidates[c].group >= 0)
        group_masks_[static_cast<std::size_t>(pool.candidates[c].group)] |= 1u << c;
    }
    here_.resize(nodes.size());
    for (const ModelJob& job : jobs) {
      const JobId number(static_cast<std::uint64_t>(&job - jobs.data()) + 1);
      for (std::size_t t = 0; t < job.tasks.size(); ++t) {
        if (job.role == ModelJob::kLeaves) continue;
        Here& here = here_[static_cast<std::size_t>(job.tasks[t].node)];
        std::uint32_t by = 0;  // candidates with whom it goes
        for (std::uint32_t c = 0; c < pool.candidates.size(); ++c) {
          const VictimCandidate& one = pool.candidates[c];
          for (std::uint32_t i = one.first; i < one.last && one.job == number; ++i)
            if (pool.leaving[i].task == t) by |= 1u << c;
        }
        here.held.emplace_back(&job.tasks[t], by);
        here.matter |= by;
      }
    }
  }
  // Of those sets that differ on the node each is counted once.
  int tasks_without(std::size_t n, std::uint32_t gone) {
    Here& here = here_[n];
    const auto [at, fresh] = here.counted.try_emplace(gone & here.matter, 0);
    if (fresh) {
      std::vector<const Held*> left;
      for (const auto& [held, by] : here.held)
        if ((by & gone) == 0) left.push_back(held);
      at->second = tasks_on(nodes[n], room_of(nodes[n], left), ask);
    }
    return at->second;
  }

  void put_node(Cluster& cluster, std::size_t n) const {
    const ModelNode& node = nodes[n];
    NodeRecord record;
    record.spec.name = "n" + std::to_string(n);
    record.spec.cpu = MilliCores(node.cores * 1000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    record.spec.domains = {{"spine", "s" + std::to_string(node.spine)},
                           {"rack", "r" + std::to_string(node.rack)}};
    for (int d = 0; d < node.gpus; ++d) {
      DeviceSpec device{"gpu", "G", Bytes(80ll << 30)};
      device.numa = node.numa_of(d);
      if (d >= node.gpus - node.split) {
        for (int p = 0; p < 2; ++p)
          device.partitions.push_back({p == 0 ? "1g" : "3g",
                                       kLengthOf[p],
                                       kLengthOf[p],
                                       Unknown{},
                                       {kStartsOf[p].begin(), kStartsOf[p].end()}});
      }
      record.spec.devices.push_back(std::move(device));
    }
    record.up = true;
    cluster.put(std::move(record));
  }
  static TaskRequest request(const Ask& wanted) {
    TaskRequest task;
    task.cpu = MilliCores(wanted.cores * 1000);
    DeviceRequest device{"gpu", 1};
    switch (wanted.kind) {
      case Ask::kOneNuma: device.place = DevicePlace::kSingleNuma; [[fallthrough]];
      case Ask::kWhole: device.count = wanted.amount; break;
      case Ask::kSlice: device.share = DeviceShare(wanted.amount); break;
      case Ask::kPartition:
        device.share = DeviceShare(0);
        device.partition = wanted.amount == 0 ? "1g" : "3g";
        break;
    }
    task.devices.push_back(device);
    return task;
  }
  static Allocation at(const Held& held) {
    return {NodeId(static_cast<std::uint32_t>(held.node)), held.devices, held.start};
  }

  RandomStream random_;
  std::vector<Ask> asks_;  // beside pool.leaving
  struct Here {
    std::vector<std::pair<const Held*, std::uint32_t>> held;
    std::uint32_t matter = 0;  // candidates with anything here
    std::unordered_map<std::uint32_t, int> counted;
  };
  std::vector<Here> here_;  // by node
  std::vector<std::uint32_t> group_masks_;
};

std::uint32_t mask_of(std::span<const std::uint32_t> victims) {
  std::uint32_t mask = 0;
  for (const std::uint32_t victim : victims) mask |= 1u << victim;
  return mask;
}

#ifdef __OPTIMIZE__
constexpr std::uint64_t kStates = 10'000;
#else
constexpr std::uint64_t kStates = 500;
#endif

TEST(Victims, LeastLostWorkOfAllSetsAndNobodyUnneeded) {
  int found = 0;
  int hopeless = 0;
  int at_once = 0;
  for (std::uint64_t seed = 0; seed < kStates; ++seed) {
    State state(seed);
    const auto optimum = state.optimum();
    const auto answer = state.search();
    ASSERT_EQ(answer.has_value(), optimum.has_value()) << "seed " << seed;
    if (!answer) {
      ++hopeless;
      continue;
    }
    const std::uint32_t mask = mask_of(answer->victims);
    ASSERT_TRUE(state.fits(mask) && state.is_allowed(mask)) << "seed " << seed;
    ASSERT_EQ(state.lost(mask), answer->lost) << "seed " << seed;
    ASSERT_LE(answer->lost * 100, *optimum * 102) << "seed " << seed;
    ASSERT_TRUE(answer->proven) << "seed " << seed;
    for (const std::uint32_t victim : answer->victims)
      ASSERT_FALSE(state.fits(mask & ~(1u << victim))) << "seed " << seed << " victim " << victim;
    ++(answer->victims.empty() ? at_once : found);
  }
  // The states are worth something.
  EXPECT_GT(found * 4, static_cast<int>(kStates)) << at_once << " fit at once, " << hopeless << " never";
}

}  // namespace
}  // namespace gridfold
