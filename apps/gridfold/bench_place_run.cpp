#include "apps/gridfold/bench_place_run.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "apps/gridfold/bench_bitmap.h"
#include "base/sha256.h"
#include "engine/cluster.h"
#include "engine/score_table.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

// CPU time of this thread.
std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

DecisionTimes sum_up(std::vector<std::uint32_t>& ns, std::uint64_t refused, std::int64_t cpu) {
  DecisionTimes times;
  times.decisions = ns.size();
  times.refused = refused;
  if (ns.empty()) return times;
  double sum = 0;
  for (const std::uint32_t value : ns) sum += value;
  times.ns_per_decision = sum / static_cast<double>(ns.size());
  times.cpu_ns_per_decision = static_cast<double>(cpu) / static_cast<double>(ns.size());
  std::sort(ns.begin(), ns.end());
  times.p50_ns = ns[ns.size() / 2];
  times.p99_ns = ns[ns.size() - 1 - ns.size() / 100];
  times.max_ns = ns.back();
  return times;
}

std::uint32_t clipped(std::int64_t ns) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(ns, UINT32_MAX));
}

struct Held {
  NodeId node;
  TaskId task;
  std::uint32_t kind = 0;
};

// One cluster, its books, and the tasks on it.
class Place {
 public:
  Place(const BenchPlaceOptions& options, TaskStream stream,
        std::unique_ptr<PlacementPolicy> policy)
      : options_(options),
        stream_(std::move(stream)),
        policy_(std::move(policy)),
        scores_(cluster_, *policy_, {.tie_break = TieBreak::kLowestName}),
        scan_(cluster_, *policy_,
              {.tie_break = TieBreak::kLowestName, .index = PlacementIndex::kScan}),
        draws_(options.seed, "bench.tasks"),
        leavings_(options.seed, "bench.leavings"),
        ties_(options.seed, "bench.ties") {
    policy_->prepare(cluster_);
    for (std::uint32_t i = 0; i < options.nodes; ++i) cluster_.put(bench_node(i));
    for (const TaskRequest& kind : stream_.kinds()) requests_.push_back(&cluster_.compile(kind));
    capacity_ = std::int64_t{options.nodes} * kBenchDevices * 1000;
  }

  // Until a whole cluster has been asked for. A task that does not fit is
  // refused and forgotten.
  DecisionTimes fill() {
    std::vector<std::uint32_t> kinds;
    for (std::int64_t asked = 0; asked < capacity_;) {
      kinds.push_back(static_cast<std::uint32_t>(stream_.draw(draws_)));
      asked += charge(kinds.back());
    }
    std::vector<std::uint32_t> ns;
    ns.reserve(kinds.size());
    held_.reserve(kinds.size());
    refused_ = 0;
    const std::int64_t cpu = cpu_ns();
    auto before = Clock::now();
    for (const std::uint32_t kind : kinds) {
      place(kind);
      const auto after = Clock::now();
      ns.push_back(clipped(ns_between(before, after)));
      before = after;
    }
    return sum_up(ns, refused_, cpu_ns() - cpu);
  }

  // Tasks leave until 95 % is held; then one leaves and one comes, again and
  // again. Both are one decision.
  DecisionTimes churn() {
    while (held_share_ * 100 > capacity_ * 95) leave();
    std::vector<std::uint32_t> kinds;
    for (std::uint64_t i = 0; i < options_.churn_decisions; ++i)
      kinds.push_back(static_cast<std::uint32_t>(stream_.draw(draws_)));
    std::vector<std::uint32_t> ns;
    ns.reserve(kinds.size());
    refused_ = 0;
    const std::int64_t cpu = cpu_ns();
    auto before = Clock::now();
    for (const std::uint32_t kind : kinds) {
      if (held_share_ + charge(kind) > capacity_ * 95 / 100) leave();
      place(kind);
      const auto after = Clock::now();
      ns.push_back(clipped(ns_between(before, after)));
      before = after;
    }
    return sum_up(ns, refused_, cpu_ns() - cpu);
  }

  DecisionTimes scan() {
    std::vector<std::uint32_t> ns;
    std::int64_t spent = 0;
    std::uint64_t refused = 0;
    const std::int64_t cpu = cpu_ns();
    while (ns.size() < options_.scan_decisions && spent < 1'000'000'000) {
      const Request& request = *requests_[stream_.draw(draws_)];
      const auto before = Clock::now();
      refused += !scan_.best(request, ties_);
      ns.push_back(clipped(ns_between(before, Clock::now())));
      spent += ns.back();
    }
    return sum_up(ns, refused, cpu_ns() - cpu);
  }

  void report(BenchPlaceResult& result) const {
    result.gpu_allocated_ratio = static_cast<double>(held_share_) / static_cast<double>(capacity_);
    result.book_bytes = cluster_.book_bytes();
    result.record_bytes = cluster_.record_bytes();
    result.row_bytes = scores_.row_bytes();
    result.rows = scores_.row_count();
    Sha256 hash;
    hash.update({reinterpret_cast<const char*>(decisions_.data()),
                 decisions_.size() * sizeof decisions_[0]});
    result.decisions_sha256 = hash.hex();
  }

 private:
  std::int64_t charge(std::uint32_t kind) const {
    std::int64_t sum = 0;
    for (const DeviceNeed& need : requests_[kind]->devices) sum += need.charge();
    return sum;
  }

  void place(std::uint32_t kind) {
    const Request& request = *requests_[kind];
    const bool learned = policy_->observe(request);
    if (settle(*policy_) || learned) scores_.forget_scores();
    const auto best = scores_.best(request, ties_);
    if (!best) {
      ++refused_;
      decisions_.push_back(UINT64_MAX);
      return;
    }
    const TaskId task{JobId(++jobs_), 0};
    cluster_.take({best->node, best->devices}, task, request);
    held_share_ += charge(kind);
    held_.push_back({best->node, task, kind});
    decisions_.push_back(std::uint64_t{best->node.value} << 32 | (best->devices & 0xffffffff));
  }

  void leave() {
    if (held_.empty()) return;
    const std::size_t at = leavings_.below(held_.size());
    const Held gone = held_[at];
    held_[at] = held_.back();
    held_.pop_back();
    cluster_.give_back(gone.node, gone.task);
    held_share_ -= charge(gone.kind);
    if (policy_->departed(*requests_[gone.kind])) scores_.forget_scores();
  }

  const BenchPlaceOptions& options_;
  TaskStream stream_;
  std::unique_ptr<PlacementPolicy> policy_;
  Cluster cluster_;
  ScoreTable scores_;
  ScoreTable scan_;
  RandomStream draws_;
  RandomStream leavings_;
  RandomStream ties_;
  std::vector<const Request*> requests_;  // by kind
  std::vector<Held> held_;
  std::vector<std::uint64_t> decisions_;  // node and devices, or all ones
  std::int64_t capacity_ = 0;             // thousandths of devices
  std::int64_t held_share_ = 0;
  std::uint64_t jobs_ = 0;
  std::uint64_t refused_ = 0;
};

// Fill, then churn at 95 %, one device a task.
void run_bitmap(const BenchPlaceOptions& options, BenchPlaceResult& result) {
  const std::size_t devices = std::size_t{options.nodes} * kBenchDevices;
  DeviceBitmap bitmap(devices);
  std::vector<std::uint32_t> held(devices);
  std::int64_t begin = cpu_ns();
  for (std::uint32_t& device : held) device = bitmap.take();
  result.bitmap_fill_cpu_ns = static_cast<double>(cpu_ns() - begin) / static_cast<double>(devices);
  RandomStream random(options.seed, "bench.leavings");
  for (std::size_t i = 0; i < devices / 20; ++i) {
    std::swap(held[random.below(held.size())], held.back());
    bitmap.give_back(held.back());
    held.pop_back();
  }
  begin = cpu_ns();
  for (std::uint64_t i = 0; i < options.churn_decisions && !held.empty(); ++i) {
    std::uint32_t& device = held[random.below(held.size())];
    bitmap.give_back(device);
    device = bitmap.take();
  }
  result.bitmap_churn_cpu_ns =
      static_cast<double>(cpu_ns() - begin) /
      static_cast<double>(std::max<std::uint64_t>(options.churn_decisions, 1));
}

double clock_cost() {
  constexpr int kReadings = 100'000;
  const auto begin = Clock::now();
  auto last = begin;
  for (int i = 0; i < kReadings; ++i) last = Clock::now();
  return static_cast<double>(ns_between(begin, last)) / kReadings;
}

}  // namespace

Result<BenchPlaceResult> run_bench_place(const BenchPlaceOptions& options) {
  auto stream = TaskStream::of(options.stream);
  if (!stream) return stream.error();
  PolicyOptions policy_options;
  if (options.mix_is_known) {
    for (std::size_t i = 0; i < stream->kinds().size(); ++i)
      policy_options.known_mix.push_back({stream->kinds()[i], stream->weights()[i]});
  }
  auto policy = make_policy(options.policy, policy_options);
  if (!policy) return policy.error();

  const auto begin = Clock::now();
  BenchPlaceResult result;
  result.clock_ns = clock_cost();
  run_bitmap(options, result);
  Place place(options, std::move(*stream), std::move(policy->placement));
  result.fill = place.fill();
  result.churn = place.churn();
  place.report(result);
  result.scan = place.scan();
  result.wall_seconds = static_cast<double>(ns_between(begin, Clock::now())) / 1e9;
  return result;
}

}  // namespace gridfold
