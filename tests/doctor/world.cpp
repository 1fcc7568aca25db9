#include "tests/doctor/world.h"

#include <algorithm>
#include <cmath>

namespace gridfold::doctor_worlds {
namespace {

constexpr int kNodes = 16;
constexpr std::int32_t kDevices = 8;
constexpr std::int64_t kCores = 64;
constexpr double kLoad = 0.6;

std::string node_name(int i) { return "n" + std::to_string(i); }

std::vector<NodeSpec> healthy_nodes() {
  std::vector<NodeSpec> nodes;
  for (int i = 0; i < kNodes; ++i) {
    NodeSpec node;
    node.name = node_name(i);
    node.cpu = MilliCores(kCores * 1000);
    node.memory = Bytes(std::int64_t{1} << 40);
    // Every second one, so that racks are alike.
    const std::string model = i % 2 == 0 ? "H100" : "A100";
    for (int d = 0; d < kDevices; ++d) node.devices.push_back({"gpu", model});
    node.domains = {{"rack", "r" + std::to_string(i / 4)}};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

struct Size {
  std::int32_t tasks, devices;
  int weight;
};
constexpr Size kSizes[] = {{1, 1, 45}, {1, 2, 20}, {1, 4, 16}, {1, 8, 12}, {2, 8, 5}, {4, 8, 2}};

Size draw_size(RandomStream& random) {
  std::int64_t at = random.between(0, 99);
  for (const Size& size : kSizes) {
    if (at < size.weight) return size;
    at -= size.weight;
  }
  return kSizes[0];
}

// What users ask for: as in simulator/user_limits.h, roughly.
Duration asked_limit(Duration run, RandomStream& random) {
  static constexpr double kFactors[] = {1.2, 2, 4, 10};
  static constexpr int kHours[] = {1, 2, 4, 12, 24, 48};
  const double hours = run.in_seconds() / 3600 * kFactors[random.below(4)];
  for (const int asked : kHours) {
    if (hours <= asked) return Duration::hours(asked);
  }
  return Duration::hours(48);
}

WorldJob draw_job(RandomStream& random) {
  WorldJob job;
  const Size size = draw_size(random);
  static constexpr const char* kPrograms[] = {"bert", "resnet", "llama", "sweep", "gnn"};
  const auto program = random.below(5);
  job.spec.name = kPrograms[program];
  job.spec.tenant = "user" + std::to_string(random.below(8));
  job.spec.queue = random.below(100) < 60 ? "research" : "product";
  Role role;
  role.count = role.min = size.tasks;
  role.each.cpu = MilliCores(size.devices * 6 * 1000);
  role.each.memory = Bytes(std::int64_t{size.devices} << 36);
  role.each.devices.push_back({"gpu", size.devices});
  role.command = {"train"};
  job.spec.roles.push_back(role);
  const double hours =
      std::clamp(random.exponential(1.0 + 0.4 * static_cast<double>(program)), 0.1, 8.0);
  job.work = Duration::seconds(static_cast<std::int64_t>(hours * 3600));
  job.used = size.devices;
  job.input = random.between(10'000, 30'000);
  job.network = size.tasks * size.devices > 1 ? random.between(20'000, 40'000) : 0;
  job.reports = random.below(20) != 0;
  return job;
}

// --- Faults ---

// In a stream of its own, so that two faults do not shift one another.
RandomStream stream(const World& world, Cause cause) {
  return RandomStream(world.seed, "fault." + std::string(to_string(cause)));
}

void limit_queue(World& world, RandomStream& random) {
  if (random.below(2) == 0) {
    // The larger part of the jobs may have a fifth of the devices.
    for (QueueSpec& queue : world.queues) {
      if (queue.name == "research") queue.limit.devices["gpu"] = random.between(20, 28) * 1000;
    }
    return;
  }
  const std::int64_t count = random.between(7, 9);
  for (int i = 0; i < count; ++i)
    world.drained.push_back(node_name(2 * i % kNodes + i * 2 / kNodes));
}

void misshape(World& world, RandomStream& random) {
  const bool models = random.below(2) == 0;
  const std::int64_t cores = random.between(20, 24);
  for (WorldJob& job : world.jobs) {
    TaskRequest& each = job.spec.roles[0].each;
    if (models) {
      if (random.below(100) < 95) each.devices[0].models = {"H100"};
    } else {
      each.cpu = MilliCores(std::min<std::int64_t>(cores * each.devices[0].count, kCores) * 1000);
    }
  }
}

void hold_unused(World& world, RandomStream& random) {
  const auto part = static_cast<std::uint64_t>(random.between(25, 45));
  for (WorldJob& job : world.jobs) {
    DeviceRequest& devices = job.spec.roles[0].each.devices[0];
    if (!job.reports || devices.count > 2 || random.below(100) >= part) continue;
    devices.count *= 4;
  }
}

void starve_input(World& world, RandomStream& random) {
  const auto part = static_cast<std::uint64_t>(random.between(35, 60));
  for (WorldJob& job : world.jobs) {
    if (!job.reports || random.below(100) >= part) continue;
    job.input = random.between(350'000, 550'000);
  }
}

void slow_network(World& world, RandomStream& random) {
  const auto part = static_cast<std::uint64_t>(random.between(45, 75));
  for (WorldJob& job : world.jobs) {
    if (!job.reports || job.network == 0 || random.below(100) >= part) continue;
    job.network = random.between(250'000, 420'000);
  }
}

// Now and then a gang needs half of the nodes.
void add_gangs(World& world, RandomStream& random) {
  const std::int64_t gangs = random.between(9, 12);
  for (std::int64_t i = 0; i < gangs; ++i) {
    WorldJob gang = draw_job(random);
    gang.spec.name = "gang";
    Role& role = gang.spec.roles[0];
    role.count = role.min = kNodes / 2;
    role.each.cpu = MilliCores(kDevices * 6 * 1000);
    role.each.devices[0].count = gang.used = kDevices;
    gang.network = 30'000;
    gang.work = Duration::minutes(random.between(30, 60));
    gang.arrives = Duration::minutes(i * 24 * 60 / gangs + random.between(0, 60));
    gang.spec.time_limit = Duration::hours(2);
    world.jobs.push_back(std::move(gang));
  }
  std::stable_sort(world.jobs.begin(), world.jobs.end(),
                   [](const WorldJob& a, const WorldJob& b) { return a.arrives < b.arrives; });
}

// Nobody says how long jobs run, and plans take them to run for two days: whoever
// is short may not use the room that is kept for a gang.
void misplan(World& world) {
  world.learned_run_times = false;
  world.backfill.mode = BackfillMode::kConservative;
  world.backfill.default_run = Duration::hours(48);
  for (WorldJob& job : world.jobs) job.spec.time_limit = {};
}

void break_nodes(World& world, RandomStream& random) {
  const std::int64_t count = random.between(6, 9);
  for (int i = 0; i < count; ++i) {
    const Duration from = Duration::minutes(random.between(0, 4 * 60));
    const Duration length = Duration::minutes(random.between(14 * 60, 19 * 60));
    world.outages.push_back({node_name((i * 5 + 1) % kNodes), from, from + length});
  }
}

void remove_nodes(World& world, RandomStream& random) {
  const auto left = static_cast<std::size_t>(random.between(7, 9));
  const auto is_gone = [&](const std::string& name) {
    return std::none_of(world.nodes.begin(),
                        world.nodes.begin() + static_cast<std::ptrdiff_t>(left),
                        [&](const NodeSpec& node) { return node.name == name; });
  };
  std::erase_if(world.outages, [&](const Outage& outage) { return is_gone(outage.node); });
  std::erase_if(world.drained, is_gone);
  world.nodes.resize(left);
}

}  // namespace

World healthy_world(std::uint64_t seed) {
  World world;
  world.seed = seed;
  world.nodes = healthy_nodes();
  for (const char* name : {"research", "product"}) {
    QueueSpec queue;
    queue.name = name;
    world.queues.push_back(queue);
  }
  world.backfill.mode = BackfillMode::kConservative;
  RandomStream random(seed, "jobs");
  RandomStream limits(seed, "limits");
  // Device-hours until the load is reached.
  double asked = 0;
  const double wanted = kLoad * kNodes * kDevices * 24;
  while (asked < wanted) {
    WorldJob job = draw_job(random);
    job.arrives = Duration::seconds(random.between(0, 24 * 3600 - 1));
    job.spec.time_limit = asked_limit(job.run(), limits);
    asked +=
        static_cast<double>(job.spec.roles[0].count * job.spec.roles[0].each.devices[0].count) *
        job.run().in_seconds() / 3600;
    world.jobs.push_back(std::move(job));
  }
  std::stable_sort(world.jobs.begin(), world.jobs.end(),
                   [](const WorldJob& a, const WorldJob& b) { return a.arrives < b.arrives; });
  return world;
}

World inject(World world, Cause cause) {
  RandomStream random = stream(world, cause);
  switch (cause) {
    case Cause::kNotPooled: limit_queue(world, random); break;
    case Cause::kWrongShape: misshape(world, random); break;
    case Cause::kStaticHolding: hold_unused(world, random); break;
    case Cause::kInputBound: starve_input(world, random); break;
    case Cause::kNetworkBound: slow_network(world, random); break;
    case Cause::kGangWait:
      add_gangs(world, random);
      misplan(world);
      break;
    case Cause::kFaults: break_nodes(world, random); break;
    case Cause::kTooFew: remove_nodes(world, random); break;
  }
  return world;
}

World mend(World world, Cause cause) {
  if (cause == Cause::kGangWait) world.learned_run_times = true;
  return world;
}

World with(World world, const Fix& fix) {
  if (const auto* plan = std::get_if<PlanBy>(&fix)) {
    world.backfill.mode = plan->mode;
    world.learned_run_times = plan->learned_run_times;
  }
  if (const auto* bought = std::get_if<BuyNodes>(&fix)) {
    const auto like = std::find_if(world.nodes.begin(), world.nodes.end(),
                                   [&](const NodeSpec& node) { return node.name == bought->like; });
    const NodeSpec spec = *like;
    for (std::int64_t i = 1; i <= bought->count; ++i) {
      world.nodes.push_back(spec);
      world.nodes.back().name += "-more-" + std::to_string(i);
    }
  }
  return world;
}

}  // namespace gridfold::doctor_worlds
