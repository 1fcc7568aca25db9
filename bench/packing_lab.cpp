// How well placement policies pack a cluster, without daemon or simulator: the
// books, the score table and a policy, fed with tasks one by one.
//
//   packing_lab NODES PODS [PODS …] [key=value …]
//     policy=fgd,gridfold   names, comma-separated
//     seeds=10  tune=1.3    arrivals until tune times the cluster's devices are asked for
//     test=iid              the list shuffled and repeated (the openb experiment)
//          shuffle          kinds weighed anew by draws from Exp(1)
//          drift            the first half from one list, the rest from the next
//          churn            Poisson arrivals at load=0.95 of the devices,
//                           exponential stays, until time=24 mean stays; measured from
//                           warm=4 on (earlier, who has refused before refuses less);
//                           groups=1 prints it by sizes of task
//     policy.key=value      a setting of the policy of that name
//
// Prints, as means over seeds: per cent of devices allocated when so many per
// cent have been asked for (with the standard deviation), or per cent refused of
// device demand, and of the CPU demand of tasks without devices; and microseconds of processor time
// a task, all told. `fgd` is told the mix. A task that fits nowhere is gone. Every refusal is
// checked by asking each node.
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/cluster.h"
#include "engine/score_table.h"
#include "policies/registry.h"
#include "simulator/openb_trace.h"
#include "simulator/text_file.h"

namespace gridfold {
namespace {

constexpr std::array kMarks = {80, 90, 95, 100, 130};
using Draw = std::mt19937_64;
using Tasks = std::vector<std::uint32_t>;  // kinds

std::map<std::string, std::string> options;

std::string text_option(const std::string& key, const std::string& otherwise) {
  const auto it = options.find(key);
  return it == options.end() ? otherwise : it->second;
}
double number_option(const std::string& key, double otherwise) {
  const auto it = options.find(key);
  return it == options.end() ? otherwise : std::atof(it->second.c_str());
}

template <class T>
T required(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "packing_lab: %s\n", result.error().describe().c_str());
  std::exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Kinds of tasks and lists of them.
struct Input {
  ClusterSpec cluster;
  std::int64_t capacity = 0;  // thousandths of devices
  std::vector<TaskRequest> kinds;
  std::vector<std::int64_t> asked;  // thousandths, by kind
  std::vector<Tasks> lists;
};

Input read_input(const std::string& nodes, const std::vector<std::string>& lists) {
  Input input;
  input.cluster = required(read_openb_nodes(required(read_text_file(nodes)), nodes));
  input.capacity = capacity_of(input.cluster).gpu_thousandths;
  for (const std::string& file : lists) {
    const Workload workload = required(read_openb_pods(required(read_text_file(file)), file));
    std::vector<std::uint32_t> kind_of_shape;
    for (const JobSpec& shape : workload.shapes) {
      const TaskRequest& each = shape.roles.front().each;
      const auto known = std::find(input.kinds.begin(), input.kinds.end(), each);
      kind_of_shape.push_back(static_cast<std::uint32_t>(known - input.kinds.begin()));
      if (known != input.kinds.end()) continue;
      input.kinds.push_back(each);
      input.asked.push_back(device_thousandths(shape, "gpu"));
    }
    input.lists.emplace_back();
    for (const TraceJob& job : workload.jobs)
      input.lists.back().push_back(kind_of_shape[job.shape]);
  }
  return input;
}

// A cluster under a policy.
class World {
 public:
  World(const Input& input, const std::string& policy, const Tasks& mix) : input_(input) {
    for (const NodeSpec& spec : input.cluster.nodes) {
      NodeRecord record;
      record.spec = spec;
      record.up = true;
      cluster_.put(record);
    }
    for (const TaskRequest& kind : input.kinds) requests_.push_back(&cluster_.compile(kind));
    PolicyOptions own;
    for (const auto& [key, value] : options) {
      if (key.rfind(policy + ".", 0) == 0) own.settings[key] = value;
    }
    if (policy == "fgd") own.known_mix = counted(mix);
    policy_ = required(make_policy(policy, own)).placement;
    policy_->prepare(cluster_);
    scores_ = std::make_unique<ScoreTable>(cluster_, *policy_, PlacementOptions{});
  }

  struct Place {
    NodeId node;
    TaskId task;
    std::uint32_t kind = 0;
  };
  std::optional<Place> place(std::uint32_t kind) {
    const Request& request = *requests_[kind];
    const bool learned = policy_->observe(request);
    if (settle(*policy_) || learned) scores_->forget_scores();
    const auto best = scores_->best(request, random_);
    if (!best) {
      if (number_option("check", 0) > 0) check_refusal(request);
      return std::nullopt;
    }
    const Place place{best->node, {JobId(++tasks_), 0}, kind};
    const Allocation at{best->node, best->devices};
    if (!Cluster::fits_exactly(cluster_.room(best->node), request, at)) std::abort();
    cluster_.take(at, place.task, request);
    allocated_ += input_.asked[kind];
    return place;
  }
  void leave(const Place& place) {
    cluster_.give_back(place.node, place.task);
    allocated_ -= input_.asked[place.kind];
    if (policy_->departed(*requests_[place.kind])) scores_->forget_scores();
  }
  double allocated_percent() const {
    return 100. * static_cast<double>(allocated_) / static_cast<double>(input_.capacity);
  }

 private:
  std::vector<MixEntry> counted(const Tasks& mix) const {
    std::vector<std::int64_t> counts(input_.kinds.size());
    for (const std::uint32_t kind : mix) ++counts[kind];
    std::vector<MixEntry> entries;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) entries.push_back({input_.kinds[i], counts[i]});
    }
    return entries;
  }
  void check_refusal(const Request& request) const {
    for (std::uint32_t i = 0; i < cluster_.size(); ++i) {
      if (!fits(cluster_.room(NodeId(i)), request)) continue;
      std::fprintf(stderr, "packing_lab: refused a task that fits on node %u\n", i);
      std::abort();
    }
  }

  const Input& input_;
  Cluster cluster_;
  std::vector<const Request*> requests_;
  std::unique_ptr<PlacementPolicy> policy_;
  std::unique_ptr<ScoreTable> scores_;
  RandomStream random_{0, "packing_lab"};
  std::uint64_t tasks_ = 0;
  std::int64_t allocated_ = 0;
};

// The whole list and as many more of it as `tune` asks for, in random order.
Tasks draw_arrivals(const Input& input, const Tasks& list, Draw& draw, double tune) {
  Tasks tasks = list;
  std::int64_t asked = 0;
  const auto limit = static_cast<std::int64_t>(tune * static_cast<double>(input.capacity));
  for (const std::uint32_t kind : list) asked += input.asked[kind];
  if (asked < limit) {
    for (;;) {
      const std::uint32_t kind = list[draw() % list.size()];
      if (asked + input.asked[kind] > limit) break;
      asked += input.asked[kind];
      tasks.push_back(kind);
    }
  } else {
    while (asked > limit) {
      const std::size_t i = draw() % tasks.size();
      asked -= input.asked[tasks[i]];
      tasks[i] = tasks.back();
      tasks.pop_back();
    }
  }
  std::shuffle(tasks.begin(), tasks.end(), draw);
  return tasks;
}

Tasks reweighed(const Input& input, const Tasks& list, Draw& draw) {
  std::vector<double> weight(input.kinds.size());
  for (double& w : weight) w = -std::log((static_cast<double>(draw() % 1000000) + .5) / 1e6);
  std::vector<double> of_task;
  for (const std::uint32_t kind : list) of_task.push_back(weight[kind]);
  std::discrete_distribution<std::size_t> pick(of_task.begin(), of_task.end());
  Tasks tasks(list.size());
  for (std::uint32_t& kind : tasks) kind = list[pick(draw)];
  return tasks;
}

struct Sums {
  std::array<double, kMarks.size()> allocated{};
  std::array<double, kMarks.size()> squares{};
  double refused = 0;
  double cpu_refused = 0;
  double used = 0;
  std::vector<double> microseconds;
};

// Processor time of this thread: the machine may be shared.
class Stopwatch {
 public:
  double microseconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  }
  double start_ = now();
};

void fill_up(const Input& input, World& world, const Tasks& tasks, Sums& sums) {
  const Stopwatch watch;
  std::int64_t asked = 0;
  std::size_t mark = 0;
  const auto note = [&] {
    const double percent = world.allocated_percent();
    sums.allocated[mark] += percent;
    sums.squares[mark] += percent * percent;
    ++mark;
  };
  for (const std::uint32_t kind : tasks) {
    world.place(kind);
    asked += input.asked[kind];
    while (mark < kMarks.size() && asked * 100 >= kMarks[mark] * input.capacity) note();
  }
  while (mark < kMarks.size()) note();
  sums.microseconds.push_back(watch.microseconds() / static_cast<double>(tasks.size()));
}

// What a task with devices asks for: 8, or slice, and how many models it accepts.
std::string group_of(const TaskRequest& each) {
  if (each.devices.empty()) return "cpu";
  const DeviceRequest& request = each.devices.front();
  std::string group = request.share == kWholeDevice ? std::to_string(request.count) : "slice";
  if (!request.models.empty()) group += " of " + std::to_string(request.models.size());
  return group;
}

void churn(const Input& input, World& world, const Tasks& tasks, Draw& draw, Sums& sums) {
  const double load = number_option("load", .95);
  const double end = number_option("time", 24);
  const double warm = number_option("warm", 4);
  double mean = 0;
  for (const std::uint32_t kind : tasks) mean += static_cast<double>(input.asked[kind]);
  mean /= static_cast<double>(tasks.size());
  std::exponential_distribution<double> gap(load * static_cast<double>(input.capacity) / mean);
  std::exponential_distribution<double> stay(1.);
  using Leave = std::pair<double, World::Place>;
  const auto later = [](const Leave& a, const Leave& b) { return a.first > b.first; };
  std::priority_queue<Leave, std::vector<Leave>, decltype(later)> leaves(later);
  double now = 0;
  double last = 0;
  double offered = 0;
  double refused = 0;
  double cpu_offered = 0;
  double cpu_refused = 0;
  double area = 0;
  std::size_t arrivals = 0;
  std::map<std::string, std::pair<double, double>> groups;  // asked, refused
  const auto advance = [&](double to) {
    if (to > warm) area += (to - std::max(last, warm)) * world.allocated_percent();
    last = to;
  };
  const Stopwatch watch;
  while (now < end) {
    now += gap(draw);
    while (!leaves.empty() && leaves.top().first <= now) {
      advance(leaves.top().first);
      world.leave(leaves.top().second);
      leaves.pop();
    }
    advance(now);
    const std::uint32_t kind = tasks[draw() % tasks.size()];
    const double length = stay(draw);
    const auto place = world.place(kind);
    ++arrivals;
    if (now > warm) {
      const TaskRequest& each = input.kinds[kind];
      const double share = static_cast<double>(input.asked[kind]);
      auto& [group_asked, group_refused] = groups[group_of(each)];
      offered += share;
      group_asked += share;
      if (!place) refused += share;
      if (!place) group_refused += share;
      const double cores = each.devices.empty() ? static_cast<double>(each.cpu.value) : 0;
      cpu_offered += cores;
      if (!place) cpu_refused += cores;
    }
    if (place) leaves.push({now + length, *place});
  }
  if (number_option("groups", 0) > 0) {
    for (const auto& [name, sums_of] : groups)
      std::printf("  %-10s %.2f %% of all asked, %.2f %% refused\n", name.c_str(),
                  100 * sums_of.first / offered, 100 * sums_of.second / offered);
  }
  sums.microseconds.push_back(watch.microseconds() / static_cast<double>(arrivals));
  sums.refused += 100 * refused / offered;
  if (cpu_offered > 0) sums.cpu_refused += 100 * cpu_refused / cpu_offered;
  sums.used += area / (end - warm);
}

void run(const Input& input, const std::string& name, const std::string& policy) {
  const std::string test = text_option("test", "iid");
  const int seeds = static_cast<int>(number_option("seeds", 10));
  const double tune = number_option("tune", 1.3);
  Sums sums;
  for (int seed = 0; seed < seeds; ++seed) {
    Draw draw(42 + static_cast<std::uint64_t>(seed));
    Tasks mix = input.lists[0];
    if (test == "shuffle") mix = reweighed(input, mix, draw);
    Tasks tasks;
    if (test == "drift") {
      tasks = draw_arrivals(input, input.lists.at(0), draw, tune / 2);
      const Tasks then = draw_arrivals(input, input.lists.at(1), draw, tune / 2);
      tasks.insert(tasks.end(), then.begin(), then.end());
      mix = tasks;
    } else {
      tasks = draw_arrivals(input, mix, draw, tune);
    }
    World world(input, policy, mix);
    if (test == "churn") {
      churn(input, world, tasks, draw, sums);
    } else {
      fill_up(input, world, tasks, sums);
    }
  }
  std::sort(sums.microseconds.begin(), sums.microseconds.end());
  std::printf("%-22s %-10s", name.c_str(), policy.c_str());
  if (test == "churn") {
    std::printf(" refused %.3f cpu-only %.3f used %.3f", sums.refused / seeds,
                sums.cpu_refused / seeds, sums.used / seeds);
  } else {
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
      const double mean = sums.allocated[i] / seeds;
      const double deviation = std::sqrt(std::max(0., sums.squares[i] / seeds - mean * mean));
      std::printf(" %d:%.2f(%.2f)", kMarks[i], mean, deviation);
    }
  }
  std::printf(" us %.2f\n", sums.microseconds[sums.microseconds.size() / 2]);
  std::fflush(stdout);
}

std::string list_name(const std::string& file) {
  const std::string base = file.substr(file.rfind('_') + 1);
  return base.substr(0, base.find('.'));
}

}  // namespace
}  // namespace gridfold

int main(int argc, char** argv) {
  using namespace gridfold;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      files.push_back(argument);
    } else {
      options[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  if (files.size() < 2) {
    std::fprintf(stderr, "usage: packing_lab NODES PODS [PODS ...] [key=value ...]\n");
    return 2;
  }
  std::vector<std::vector<std::string>> runs;
  if (text_option("test", "iid") == "drift") {
    for (std::size_t i = 1; i + 1 < files.size(); i += 2) runs.push_back({files[i], files[i + 1]});
  } else {
    for (std::size_t i = 1; i < files.size(); ++i) runs.push_back({files[i]});
  }
  for (const std::vector<std::string>& lists : runs) {
    const Input input = read_input(files[0], lists);
    std::string name;
    for (const std::string& list : lists) name += (name.empty() ? "" : ">") + list_name(list);
    for (const std::string& policy : split(text_option("policy", "fgd,gridfold")))
      run(input, name, policy);
  }
  return 0;
}
