#include "tests/communication/rivals.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/random.h"

namespace gridfold {
namespace {

std::uint64_t lowest(std::uint64_t free, std::int32_t count) {
  std::uint64_t taken = 0;
  for (; count > 0; --count, free &= free - 1) taken |= free & (~free + 1);
  return taken;
}

class Search {
 public:
  Search(const World& world, Judge& judge, std::int64_t judgements)
      : world_(world),
        judge_(judge),
        last_(judge.judged() + judgements),
        random_(world.seed, "reference search") {}

  Reference run(const std::vector<Gang>& starts) {
    for (const Gang& start : starts) offer(start);
    const bool all = share_out_everywhere();
    std::sort(pool_.begin(), pool_.end(),
              [](const Entry& a, const Entry& b) { return a.seconds < b.seconds; });
    if (pool_.size() > 6) pool_.resize(6);
    std::vector<Entry> from = pool_;
    for (const Gang& start : starts) from.push_back({start, judged(start)});
    for (int i = 0; i < 1'000 && judge_.judged() < last_; ++i) {
      if (static_cast<std::size_t>(i) < from.size()) {
        climb(from[static_cast<std::size_t>(i)]);
      } else {
        const Gang gang = random_gang();
        climb({gang, judged(gang)});
      }
    }
    return {best_.gang, best_.seconds, all};
  }

 private:
  struct Entry {
    Gang gang;
    double seconds = std::numeric_limits<double>::infinity();
  };

  double judged(const Gang& gang) {
    const double seconds = judge_.step_seconds(ranks_of(gang));
    if (seconds < best_.seconds) best_ = {gang, seconds};
    return seconds;
  }
  void offer(const Gang& gang) { pool_.push_back({gang, judged(gang)}); }
  std::int32_t each() const { return world_.job.devices_per_task; }
  std::int32_t slots(std::size_t node) const { return std::popcount(world_.free[node]) / each(); }

  // True when all ways were judged: few enough of them.
  bool share_out_everywhere() {
    constexpr std::int64_t kMost = 600;
    std::vector<std::int32_t> counts(world_.nodes.size());
    if (count_ways(0, world_.job.tasks, kMost) > kMost) return false;
    share_out(0, world_.job.tasks, counts);
    return true;
  }
  std::int64_t count_ways(std::size_t node, std::int32_t left, std::int64_t most) const {
    if (left == 0) return 1;
    if (node == world_.nodes.size()) return 0;
    std::int64_t sum = 0;
    for (std::int32_t here = 0; here <= std::min(left, slots(node)) && sum <= most; ++here) {
      sum += count_ways(node + 1, left - here, most);
    }
    return sum;
  }
  void share_out(std::size_t node, std::int32_t left, std::vector<std::int32_t>& counts) {
    if (left == 0) {
      Gang gang;
      for (std::size_t n = 0; n < node; ++n) {
        std::uint64_t free = world_.free[n];
        for (std::int32_t i = 0; i < counts[n]; ++i) {
          const std::uint64_t devices = lowest(free, each());
          free &= ~devices;
          gang.push_back({NodeId(static_cast<std::uint32_t>(n)), devices});
        }
      }
      offer(gang);
      return;
    }
    if (node == world_.nodes.size()) return;
    for (std::int32_t here = std::min(left, slots(node)); here >= 0; --here) {
      counts[node] = here;
      share_out(node + 1, left - here, counts);
    }
    counts[node] = 0;
  }

  std::uint64_t unused(const Gang& gang, NodeId node) const {
    std::uint64_t free = world_.free[node.value];
    for (const TaskPlace& task : gang) {
      if (task.node == node) free &= ~task.devices;
    }
    return free;
  }

  Gang random_gang() {
    Gang gang;
    while (gang.size() < static_cast<std::size_t>(world_.job.tasks)) {
      const NodeId node(static_cast<std::uint32_t>(random_.below(world_.nodes.size())));
      const std::uint64_t free = unused(gang, node);
      // Sometimes as many as the node takes, so that tight gangs come up too.
      auto here = std::popcount(free) / each();
      if (here == 0) continue;
      if (random_.chance(1, 3)) here = 1;
      std::uint64_t left = free;
      for (; here > 0 && gang.size() < static_cast<std::size_t>(world_.job.tasks); --here) {
        const std::uint64_t devices = lowest(left, each());
        left &= ~devices;
        gang.push_back({node, devices});
      }
    }
    return gang;
  }

  bool accept(Entry& entry, const Gang& gang) {
    if (judge_.judged() >= last_) return false;
    const double seconds = judged(gang);
    if (seconds >= entry.seconds * (1 - 1e-12)) return false;
    entry = {gang, seconds};
    return true;
  }

  void climb(Entry entry) {
    for (bool better = true; better && judge_.judged() < last_;) {
      better = move_all(entry) || move_one(entry) || swap_ranks(entry) || change_device(entry);
    }
  }
  // All tasks of one node to another.
  bool move_all(Entry& entry) {
    for (std::uint32_t from = 0; from < world_.nodes.size(); ++from) {
      for (std::uint32_t to = 0; to < world_.nodes.size(); ++to) {
        if (from == to) continue;
        Gang gang = entry.gang;
        std::uint64_t free = unused(gang, NodeId(to));
        bool any = false;
        for (TaskPlace& task : gang) {
          if (task.node != NodeId(from) || std::popcount(free) < each()) continue;
          task = {NodeId(to), lowest(free, each())};
          free &= ~task.devices;
          any = true;
        }
        if (any && accept(entry, gang)) return true;
      }
    }
    return false;
  }
  bool move_one(Entry& entry) {
    for (std::size_t i = 0; i < entry.gang.size(); ++i) {
      for (std::uint32_t to = 0; to < world_.nodes.size(); ++to) {
        const std::uint64_t free = unused(entry.gang, NodeId(to));
        if (entry.gang[i].node == NodeId(to) || std::popcount(free) < each()) continue;
        Gang gang = entry.gang;
        gang[i] = {NodeId(to), lowest(free, each())};
        if (accept(entry, gang)) return true;
      }
    }
    return false;
  }
  bool swap_ranks(Entry& entry) {
    for (std::size_t i = 0; i < entry.gang.size(); ++i) {
      for (std::size_t j = i + 1; j < entry.gang.size(); ++j) {
        Gang gang = entry.gang;
        std::swap(gang[i], gang[j]);
        if (accept(entry, gang)) return true;
      }
    }
    return false;
  }
  // One device of a task for a free one, or for one of another task of the node.
  bool change_device(Entry& entry) {
    for (std::size_t i = 0; i < entry.gang.size(); ++i) {
      const TaskPlace task = entry.gang[i];
      const std::uint64_t there = world_.free[task.node.value] & ~task.devices;
      for (std::uint64_t out = task.devices; out != 0; out &= out - 1) {
        const std::uint64_t leaving = out & (~out + 1);
        for (std::uint64_t in = there; in != 0; in &= in - 1) {
          const std::uint64_t coming = in & (~in + 1);
          Gang gang = entry.gang;
          for (TaskPlace& other : gang) {
            if (other.node == task.node && (other.devices & coming) != 0) {
              other.devices ^= coming | leaving;
            }
          }
          gang[i].devices ^= coming | leaving;
          if (accept(entry, gang)) return true;
        }
      }
    }
    return false;
  }

  const World& world_;
  Judge& judge_;
  std::int64_t last_;
  RandomStream random_;
  std::vector<Entry> pool_;
  Entry best_;
};

}  // namespace

std::vector<Place> ranks_of(const Gang& gang) {
  std::vector<Place> places;
  for (const TaskPlace& task : gang) {
    for (std::uint64_t left = task.devices; left != 0; left &= left - 1) {
      places.push_back({task.node, std::countr_zero(left)});
    }
  }
  return places;
}

Gang blind_best_fit(const World& world) {
  Gang gang;
  std::vector<std::uint64_t> free = world.free;
  for (std::int32_t i = 0; i < world.job.tasks; ++i) {
    std::size_t best = free.size();
    for (std::size_t n = 0; n < free.size(); ++n) {
      if (std::popcount(free[n]) < world.job.devices_per_task) continue;
      if (best == free.size() || std::popcount(free[n]) < std::popcount(free[best])) best = n;
    }
    const std::uint64_t devices = lowest(free[best], world.job.devices_per_task);
    free[best] &= ~devices;
    gang.push_back({NodeId(static_cast<std::uint32_t>(best)), devices});
  }
  return gang;
}

Reference reference_search(const World& world, Judge& judge, const std::vector<Gang>& starts,
                           std::int64_t judgements) {
  return Search(world, judge, judgements).run(starts);
}

}  // namespace gridfold
