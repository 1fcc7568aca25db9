#include "simulator/verify/world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"

namespace gridfold::verify {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

template <class T, std::size_t N>
const T& pick(RandomStream& random, const std::array<T, N>& of) {
  return of[random.below(N)];
}

Duration seconds_between(RandomStream& random, std::int64_t low, std::int64_t high) {
  return Duration::milliseconds(random.between(low * 1000, high * 1000));
}

struct Model {
  std::string_view device_class;
  std::string_view name;
  std::int64_t memory_gib;  // 0: unknown
};
constexpr std::array<Model, 5> kModels = {
    {{"gpu", "A", 40}, {"gpu", "B", 80}, {"gpu", "C", 16}, {"gpu", "D", 0}, {"npu", "N", 32}}};

// The layouts of two real models, one of four slots and one of eight.
std::vector<PartitionProfile> partitions_of(std::string_view model) {
  if (model == "S4")
    return {{"1s", 1, 1, {}, {0, 1, 2, 3}}, {"2s", 2, 2, {}, {0, 2}}, {"4s", 4, 4, {}, {0}}};
  return {{"1g", 1, 1, {}, {0, 1, 2, 3, 4, 5, 6}},
          {"1g+", 1, 2, {}, {0, 2, 4, 6}},
          {"2g", 2, 2, {}, {0, 2, 4}},
          {"3g", 3, 4, {}, {0, 4}},
          {"4g", 4, 4, {}, {0}},
          {"7g", 7, 8, {}, {0}}};
}

// Sockets, switches under them, and islands across them; a few unknown.
void draw_places(RandomStream& random, std::vector<DeviceSpec>& devices) {
  const auto count = static_cast<std::int32_t>(devices.size());
  const std::int32_t numa = pick(random, std::array{1, 2, 2, 4});
  const std::int32_t switches = pick(random, std::array{2, 4, 4, 8});
  const std::int32_t islands = pick(random, std::array{1, 2, 4});
  for (std::int32_t i = 0; i < count; ++i) {
    DeviceSpec& device = devices[static_cast<std::size_t>(i)];
    device.numa = i * numa / count;
    device.pcie_switch = i * switches / count;
    device.island = i % islands;
    if (random.chance(1, 20)) device.numa = -1;
    if (random.chance(1, 20)) device.island = -1;
  }
}

DeviceSpec device_of(const Model& model) {
  DeviceSpec device;
  device.device_class = std::string(model.device_class);
  device.model = std::string(model.name);
  if (model.memory_gib != 0) device.memory = Bytes(model.memory_gib * kGiB);
  device.origin = DeviceOrigin::kEmulated;
  return device;
}

std::vector<NodeSpec> draw_nodes(std::uint64_t seed) {
  RandomStream random(seed, "world.nodes");
  // Mostly few: the fewer nodes, the more often two jobs want the same one.
  const std::int64_t count = random.chance(1, 6) ? random.between(10, 40) : random.between(2, 9);
  std::vector<NodeSpec> nodes;
  for (std::int64_t i = 0; i < count; ++i) {
    NodeSpec node;
    node.name = "n" + std::to_string(i);
    node.cpu = MilliCores(1000 * random.between(2, 32));
    node.memory = Bytes(kGiB * random.between(8, 128));
    const int devices = pick(random, std::array{0, 1, 2, 4, 4, 8, 8});
    Model model = pick(random, kModels);
    for (int d = 0; d < devices; ++d) {
      if (random.chance(1, 10)) model = pick(random, kModels);
      node.devices.push_back(device_of(model));
    }
    if (random.chance(1, 2)) draw_places(random, node.devices);
    if (random.chance(1, 5)) {
      const std::string_view split = random.chance(1, 3) ? "S4" : "S8";
      for (DeviceSpec& device : node.devices) {
        device.device_class = "gpu";
        device.model = std::string(split);
        device.partitions = partitions_of(split);
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void draw_limits(RandomStream& random, QueueSpec& queue) {
  if (random.chance(1, 3)) queue.limit.devices["gpu"] = 500 * random.between(2, 24);
  if (random.chance(1, 6)) queue.limit.devices["npu"] = 1000 * random.between(1, 4);
  if (random.chance(1, 5)) queue.limit.cpu = MilliCores(1000 * random.between(4, 40));
  if (random.chance(1, 8)) queue.limit.memory = Bytes(kGiB * random.between(16, 200));
}

// The first configuration; then one with other limits, and one in which a
// queue is missing.
std::vector<std::vector<QueueSpec>> draw_queues(std::uint64_t seed) {
  RandomStream random(seed, "world.queues");
  static constexpr std::array<std::string_view, 4> kNames = {"default", "a", "a/b", "c"};
  const std::int64_t count = random.between(1, 4);
  std::vector<QueueSpec> first;
  for (std::int64_t i = 0; i < count; ++i) {
    QueueSpec queue;
    queue.name = std::string(kNames[static_cast<std::size_t>(i)]);
    queue.priority = static_cast<std::int32_t>(random.between(0, 2));
    draw_limits(random, queue);
    first.push_back(std::move(queue));
  }
  std::vector<QueueSpec> cut = first;
  for (QueueSpec& queue : cut) {
    queue.priority = static_cast<std::int32_t>(random.between(0, 2));
    draw_limits(random, queue);
    if (random.chance(1, 5)) queue.open = false;
  }
  // Of a stream of its own, so that worlds without it stay as they are.
  RandomStream preempting(seed, "world.preempts");
  for (std::vector<QueueSpec>* queues : {&first, &cut}) {
    for (QueueSpec& queue : *queues) queue.preempts = preempting.chance(1, 3);
  }
  std::vector<QueueSpec> fewer = first;
  fewer.erase(fewer.begin() + random.between(0, count - 1));
  return {first, cut, fewer};
}

// In a third of the worlds queues have shares, tenants limits, and jobs are
// counted.
void draw_shares(std::uint64_t seed, std::vector<std::vector<QueueSpec>>& configurations) {
  RandomStream random(seed, "world.shares");
  if (!random.chance(1, 3)) return;
  for (std::vector<QueueSpec>& queues : configurations) {
    for (QueueSpec& queue : queues) {
      if (random.chance(1, 2)) queue.weight = static_cast<std::int32_t>(random.between(1, 4));
      if (random.chance(1, 3)) queue.guaranteed.devices["gpu"] = 1000 * random.between(1, 4);
      if (random.chance(1, 4)) queue.limit.running_jobs = random.between(1, 8);
      if (random.chance(1, 4)) queue.each_tenant.devices["gpu"] = 500 * random.between(2, 16);
      if (random.chance(1, 6)) queue.each_tenant.running_jobs = random.between(1, 8);
    }
  }
}

DeviceRequest draw_partition(RandomStream& random) {
  static constexpr std::array<std::string_view, 9> kNames = {"1g", "1g", "1g+", "2g", "2g",
                                                             "3g", "4g", "1s",  "2s"};
  DeviceRequest part;
  part.device_class = "gpu";
  part.count = 1;
  part.share = DeviceShare(0);
  part.partition = std::string(pick(random, kNames));
  return part;
}

DeviceRequest draw_devices(RandomStream& random) {
  if (random.chance(1, 5)) return draw_partition(random);
  DeviceRequest devices;
  devices.device_class = random.chance(1, 8) ? "npu" : "gpu";
  devices.count = 1;
  switch (random.below(5)) {
    case 0: devices.share = DeviceShare(random.between(50, 950)); break;
    case 1:
      devices.share = DeviceShare(0);
      devices.memory = Bytes(kGiB * random.between(1, 40));
      break;
    case 2:
      devices.share = DeviceShare(pick(random, std::array{100, 250, 333, 500}));
      devices.memory = Bytes(kGiB * random.between(1, 20));
      break;
    default: devices.count = pick(random, std::array{1, 1, 1, 2, 2, 4, 8}); break;
  }
  if (devices.is_whole() && devices.count > 1 && random.chance(1, 2))
    devices.place = static_cast<DevicePlace>(random.between(1, 4));
  if (random.chance(1, 5)) {
    for (const Model& model : kModels) {
      if (model.device_class == devices.device_class && random.chance(1, 2))
        devices.models.emplace_back(model.name);
    }
  }
  return devices;
}

Role draw_role(RandomStream& random) {
  Role role;
  role.command = {"/bin/true"};
  role.each.cpu = MilliCores(250 * random.between(1, 16));
  role.each.memory = Bytes((kGiB / 4) * random.between(1, 32));
  if (random.chance(3, 4)) role.each.devices.push_back(draw_devices(random));
  if (random.chance(1, 3)) {
    role.count = static_cast<std::int32_t>(random.between(2, 6));
    role.min =
        random.chance(1, 2) ? role.count : static_cast<std::int32_t>(random.between(1, role.count));
  }
  if (random.chance(1, 30)) role.each.cpu = MilliCores(1'000'000);  // on no node, ever
  return role;
}

// In a sixth of the worlds models are limited, beside their class or alone, or
// guaranteed.
void draw_model_rules(std::uint64_t seed, std::vector<std::vector<QueueSpec>>& configurations) {
  RandomStream random(seed, "world.models");
  if (!random.chance(1, 6)) return;
  for (std::vector<QueueSpec>& queues : configurations) {
    for (QueueSpec& queue : queues) {
      for (const Model& model : kModels) {
        const std::string name = std::string(model.device_class) + ":" + std::string(model.name);
        if (random.chance(1, 2)) queue.limit.devices[name] = 1000 * random.between(0, 6);
        if (random.chance(1, 6)) queue.each_tenant.devices[name] = 1000 * random.between(1, 4);
        if (random.chance(1, 6)) queue.guaranteed.devices[name] = 1000 * random.between(1, 2);
      }
    }
  }
}

PlannedJob draw_job(RandomStream& random, const std::vector<QueueSpec>& queues) {
  PlannedJob job;
  JobSpec& spec = job.spec;
  spec.queue = queues[random.below(queues.size())].name;
  spec.priority = static_cast<std::int32_t>(random.between(0, 2));
  spec.roles.push_back(draw_role(random));
  if (random.chance(1, 10)) {
    spec.roles.push_back(draw_role(random));
    spec.roles.back().name = "second";
  }
  spec.stop.grace = seconds_between(random, 0, 30);
  if (random.chance(1, 3)) {
    spec.workload_class = WorkloadClass::kFiller;
    Checkpoint checkpoint;
    checkpoint.grace = seconds_between(random, 0, 40);
    if (random.chance(1, 2)) checkpoint.interval = seconds_between(random, 5, 60);
    if (random.chance(2, 3)) spec.checkpoint = checkpoint;
  } else if (random.chance(1, 5)) {
    spec.workload_class = WorkloadClass::kInfer;
  }
  spec.retry.max = static_cast<std::int32_t>(pick(random, std::array{0, 0, 1, 3}));
  spec.retry.backoff = seconds_between(random, 0, 20);
  if (random.chance(1, 4)) spec.retry.on = {RetryCause::kFailure};
  if (random.chance(1, 8)) spec.retry.on = {RetryCause::kNodeLost};

  const Duration duration = seconds_between(random, 1, random.chance(1, 4) ? 900 : 180);
  job.truth.duration = duration;
  if (random.chance(1, 6)) job.truth.exit_code = static_cast<std::int32_t>(random.between(1, 9));
  job.truth.stop_time = seconds_between(random, 0, 40);
  if (random.chance(1, 6)) spec.time_limit = seconds_between(random, 10, 300);
  return job;
}

constexpr std::array<DependencyCondition, 4> kConditions = {
    DependencyCondition::kOk, DependencyCondition::kOk, DependencyCondition::kAny,
    DependencyCondition::kFailed};

// Adds batches of jobs and the calls that submit them.
void draw_jobs(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.jobs");
  std::vector<std::string> names;
  const std::int64_t target = random.between(20, 90);
  while (static_cast<std::int64_t>(names.size()) < target) {
    const auto index = static_cast<std::uint32_t>(world.batches.size());
    PlannedBatch batch;
    if (random.chance(3, 4)) batch.key = "key-" + std::to_string(index);
    batch.held = random.chance(1, 15);
    const std::int64_t size = random.chance(1, 4) ? random.between(2, 6) : 1;
    const bool array = random.chance(1, 3);  // alike but for their index
    const PlannedJob model = draw_job(random, world.queues.front());
    for (std::int64_t i = 0; i < size; ++i) {
      PlannedJob job = array ? model : draw_job(random, world.queues.front());
      job.spec.name = "j" + std::to_string(index) + "-" + std::to_string(i);
      if (array) job.spec.array_index = i;
      if (!names.empty() && random.chance(1, 6))
        job.spec.after.push_back({names[random.below(names.size())], pick(random, kConditions)});
      if (!array && i > 0 && random.chance(1, 2))
        job.spec.after.push_back({batch.jobs.back().spec.name, pick(random, kConditions)});
      batch.jobs.push_back(std::move(job));
    }
    for (const PlannedJob& job : batch.jobs) names.push_back(job.spec.name);
    // In bursts: many calls at one moment.
    const Instant at = random.chance(1, 3) && !world.actions.empty()
                           ? world.actions.back().at
                           : Instant{} + Duration{random.between(0, world.quiet.ns * 8 / 10)};
    world.actions.push_back({at, ActionKind::kSubmit, index});
    if (!batch.key.empty() && random.chance(1, 4)) {
      const Instant again{random.between(at.ns, world.quiet.ns - 1)};
      world.actions.push_back({again, ActionKind::kSubmitAgain, index});
    }
    world.batches.push_back(std::move(batch));
  }
}

// Zones of racks; some nodes lie in no rack, some in no domain at all, and in
// some worlds nobody has named a level.
void draw_domains(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.domains");
  const bool named = !random.chance(1, 8);
  const auto racks = static_cast<std::size_t>(random.between(2, 5));
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    auto& domains = world.nodes[i].domains;
    if (random.chance(1, 20)) continue;
    domains.emplace_back(named ? "zone" : "", "zone-" + std::to_string(i % 2));
    if (random.chance(1, 12)) continue;
    domains.emplace_back(named ? "rack" : "", "rack-" + std::to_string(i / racks));
  }
}

TopologyWish draw_wish(RandomStream& random, const JobSpec& spec) {
  static constexpr std::array<std::string_view, 4> kLevels = {"zone", "rack", "rack", "node"};
  TopologyWish wish;
  const auto level = [&] { return std::string(pick(random, kLevels)); };
  switch (random.below(5)) {
    case 0: wish.prefer = level(); break;
    case 1: wish.spread = level(); break;
    case 2: {
      std::int32_t least = 0;
      for (const Role& role : spec.roles) least += role.min;
      for (const std::int32_t size : {3, 2}) {
        if (spec.task_count() % size == 0 && least % size == 0)
          wish.segments = Segments{size, level()};
      }
      break;
    }
    default: wish.require = level(); break;
  }
  if (wish.require.empty() && random.chance(1, 3)) wish.require = "zone";
  const std::string within = wish.segments ? wish.segments->within : wish.spread;
  if (wish.require == within || wish.require == wish.prefer) wish.require.clear();
  return wish;
}

// In a third of the worlds waiting jobs are promised room, and in a fifth work
// is moved; where plans are made, more jobs say how long they may run.
void draw_planning(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.planning");
  if (random.chance(1, 5)) {
    world.consolidation.consolidate = Consolidate::kOn;
    world.consolidation.moves_an_hour = static_cast<std::int32_t>(random.between(1, 40));
    world.consolidation.worth = Duration::minutes(random.between(1, 30));
    for (PlannedBatch& batch : world.batches) {
      for (PlannedJob& job : batch.jobs) {
        if (job.spec.checkpoint || !random.chance(1, 2)) continue;
        job.spec.checkpoint = Checkpoint{};
        job.spec.checkpoint->grace = seconds_between(random, 0, 40);
      }
    }
  }
  if (!random.chance(1, 3)) return;
  world.backfill.mode = pick(random, std::array{BackfillMode::kEasy, BackfillMode::kConservative});
  if (random.chance(1, 3))
    world.backfill.max_reservations = static_cast<std::size_t>(random.between(1, 6));
  if (random.chance(2, 3)) world.backfill.default_run = seconds_between(random, 30, 400);
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      if (random.chance(1, 2)) job.spec.time_limit = seconds_between(random, 10, 300);
    }
  }
}

// In a quarter of the worlds gangs that lost a node keep their places for a time.
void draw_repair(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.repair");
  if (random.chance(1, 4)) world.gang_repair = seconds_between(random, 5, 300);
}

// Of half of the arrays of several jobs only some may be started at a time; now and
// then the number is changed.
void draw_array_limits(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.arrays");
  std::uint32_t index = 0;
  for (PlannedBatch& batch : world.batches) {
    const std::uint32_t first = index;
    index += static_cast<std::uint32_t>(batch.jobs.size());
    if (batch.jobs.size() < 2 || !batch.jobs.front().spec.array_index || !random.chance(1, 2))
      continue;
    const auto most = static_cast<std::int64_t>(batch.jobs.size());
    const auto limit = static_cast<std::int32_t>(random.between(1, most - 1));
    for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
      JobSpec& spec = batch.jobs[i].spec;
      // Alike, as those of an array are: one that can never start keeps the others off.
      JobSpec alike = batch.jobs.front().spec;
      alike.name = spec.name;
      alike.after = std::move(spec.after);
      alike.array_index = spec.array_index;
      alike.array_position = static_cast<std::int32_t>(i);
      alike.array_limit = limit;
      spec = std::move(alike);
    }
    for (std::int64_t changes = random.between(0, 2); changes > 0; --changes) {
      Action action{Instant{} + Duration{random.between(0, world.quiet.ns - 1)},
                    ActionKind::kLimitArray, first};
      action.index += static_cast<std::uint32_t>(random.between(0, most - 1));
      action.count = static_cast<std::uint32_t>(random.between(1, most));
      world.actions.push_back(action);
    }
  }
}

// The second role of half of the jobs that have one starts after the first.
void draw_role_order(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.role_order");
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      if (job.spec.roles.size() > 1 && random.chance(1, 2))
        job.spec.roles.back().start_after = {job.spec.roles.front().name};
    }
  }
}

// In a fifth of the worlds training is decided in rounds, and most jobs without
// slices and wishes train and may change their size. Rounds count devices alone:
// there each node has devices of one model, and enough of all else.
void draw_rounds(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.rounds");
  if (!random.chance(1, 5)) return;
  // Those that give a job less than it would like, rather than nothing.
  world.policy = random.chance(1, 3) ? "equal_shares" : "gridfold";
  world.in_rounds = true;
  world.policy_settings["round"] = std::to_string(random.between(5, 30)) + "s";
  for (NodeSpec& node : world.nodes) {
    node.cpu = MilliCores(64'000);
    node.memory = Bytes(512 * kGiB);
    const Model& model = kModels[random.below(3)];
    for (DeviceSpec& device : node.devices) {
      const DeviceSpec placed = std::exchange(device, device_of(model));
      device.numa = placed.numa;
      device.pcie_switch = placed.pcie_switch;
      device.island = placed.island;
    }
  }
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      JobSpec& spec = job.spec;
      if (spec.roles.size() > 1 || !spec.topology.empty() || random.chance(1, 4)) continue;
      std::vector<DeviceRequest>& devices = spec.roles.front().each.devices;
      if (devices.empty() || !devices.front().is_whole()) continue;
      devices.front() = DeviceRequest{.device_class = "gpu",
                                      .count = static_cast<std::int32_t>(random.between(1, 2))};
      spec.workload_class = WorkloadClass::kTrain;
      Role& role = spec.roles.front();
      if (random.chance(2, 3)) {
        role.count = static_cast<std::int32_t>(random.between(1, 6));
        role.min = 1;
        if (role.count % 2 == 0 && random.chance(1, 3)) role.min = role.multiple_of = 2;
      }
      spec.training = TrainingDeclaration{.program = random.chance(1, 2) ? "p" : "",
                                          .initial_batch = 32,
                                          .batch = 64,
                                          .max_batch = 512,
                                          .max_local_batch = 128};
      if (random.chance(2, 3)) {
        spec.checkpoint = Checkpoint{};
        spec.checkpoint->grace = seconds_between(random, 0, 40);
      }
    }
  }
}

// In a quarter of the worlds slices that nearly fit three to a device: what
// rounds a share finds room for one more.
void draw_thirds(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.thirds");
  if (!random.chance(1, 4)) return;
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      for (Role& role : job.spec.roles) {
        for (DeviceRequest& device : role.each.devices) {
          if (!device.is_whole() && device.share.value > 0)
            device.share = DeviceShare(pick(random, std::array{330, 333, 335, 338}));
        }
      }
    }
  }
}

// A third of the jobs ask for a place in the tree, gangs more often.
void draw_wishes(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.wishes");
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      if (random.chance(1, job.spec.task_count() > 1 ? 2 : 6))
        job.spec.topology = draw_wish(random, job.spec);
    }
  }
}

// In a fifth of the worlds nodes are closed for a while, and more jobs say how
// long they may run.
void draw_windows(std::uint64_t seed, World& world) {
  RandomStream random(seed, "world.windows");
  if (!random.chance(1, 5)) return;
  const std::int64_t count = random.between(1, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    NodeWindow window;
    window.name = "window-" + std::to_string(i);
    window.from = Instant{} + Duration{random.between(0, world.quiet.ns * 8 / 10)};
    window.until = window.from + Duration{random.between(1, (world.quiet - window.from).ns - 1)};
    for (const NodeSpec& node : world.nodes) {
      if (random.chance(1, 3)) window.where.nodes.push_back(node.name);
    }
    if (!window.where.empty()) world.windows.push_back(std::move(window));
  }
  for (PlannedBatch& batch : world.batches) {
    for (PlannedJob& job : batch.jobs) {
      if (job.spec.time_limit.is_unlimited() && random.chance(2, 3))
        job.spec.time_limit = seconds_between(random, 60, 900);
    }
  }
}

// What users, operators, disks and machines do in between.
void draw_disturbances(std::uint64_t seed, std::size_t jobs, World& world) {
  RandomStream random(seed, "world.actions");
  using enum ActionKind;
  static constexpr std::array<ActionKind, 27> kOften = {
      kCancel,        kCancel,    kHold,          kRelease,       kRelease,       kRequeue,
      kRequeue,       kRequeue,   kCancelStorm,   kDrain,         kUndrain,       kUndrain,
      kCrash,         kCrash,     kCrashAtCommit, kCrashAtCommit, kCrashAtCommit, kCrashInOrders,
      kCrashInOrders, kStoreFull, kStoreBroken,   kNodeOff,       kNodeOff,       kNodeReboot,
      kNodeCut,       kNodeCut,   kTakeOver};
  const std::int64_t count = random.between(20, 90);
  for (std::int64_t i = 0; i < count; ++i) {
    Action action;
    action.at = Instant{} + Duration{random.between(0, world.quiet.ns - 1)};
    action.kind = pick(random, kOften);
    action.duration = seconds_between(random, 0, random.chance(1, 3) ? 120 : 15);
    action.queues =
        static_cast<std::uint32_t>(random.chance(1, 3) ? random.below(world.queues.size()) : 0);
    action.count = static_cast<std::uint32_t>(random.between(1, 4));
    switch (action.kind) {
      case kDrain:
      case kUndrain:
      case kNodeOff:
      case kNodeReboot:
      case kNodeCut:
        action.index = static_cast<std::uint32_t>(random.below(world.nodes.size()));
        break;
      case kCrashAtCommit: action.index = static_cast<std::uint32_t>(random.below(3)); break;
      case kCancelStorm:
        action.count = static_cast<std::uint32_t>(random.between(5, 30));
        [[fallthrough]];
      default: action.index = static_cast<std::uint32_t>(random.below(jobs)); break;
    }
    world.actions.push_back(action);
  }
  // Seldom: a third of the nodes at one moment.
  if (random.chance(1, 5)) {
    const Instant at{random.between(0, world.quiet.ns - 1)};
    for (std::uint32_t n = 0; n < world.nodes.size(); ++n) {
      if (!random.chance(2, 5)) continue;
      Action action{at, random.chance(1, 2) ? kNodeOff : kNodeCut, n};
      action.duration = seconds_between(random, 1, 120);
      world.actions.push_back(action);
    }
  }
}

FaultRates draw_faults(std::uint64_t seed, Instant quiet) {
  RandomStream random(seed, "world.faults");
  FaultRates rates;
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int32_t>(random.between(0, most));
  };
  rates.report_dropped = up_to(150);
  rates.report_delayed = up_to(440);
  rates.report_repeated = up_to(350);
  rates.longest_delay = seconds_between(random, 1, 40);
  rates.launch_fails_by_node = up_to(80);
  rates.launch_fails_by_job = up_to(40);
  rates.shim_lost = up_to(80);
  rates.longest_shim_life = seconds_between(random, 5, 200);
  rates.device_dirty = up_to(60);
  if (random.chance(1, 2)) rates.node_fault_interval = seconds_between(random, 60, 600);
  rates.longest_outage = seconds_between(random, 5, 120);
  rates.until = quiet;
  return rates;
}

}  // namespace

std::string_view to_string(ActionKind kind) {
  static constexpr std::array<std::string_view, kActionKinds> kWords = {
      "submit",          "submit_again",    "cancel",     "hold",         "release",
      "requeue",         "cancel_storm",    "drain",      "undrain",      "crash",
      "crash_at_commit", "crash_in_orders", "store_full", "store_broken", "node_off",
      "node_reboot",     "node_cut",        "take_over",  "limit_array"};
  return kWords[static_cast<std::size_t>(kind)];
}

bool World::goes_by_rounds(const JobSpec& job) const {
  if (!in_rounds || !job.training || job.array_limit != 0) return false;
  if (job.roles.size() != 1 || !job.topology.empty()) return false;
  const std::vector<DeviceRequest>& devices = job.roles.front().each.devices;
  return devices.size() == 1 && devices.front().is_whole() &&
         devices.front().place == DevicePlace::kAny;
}

World draw_world(std::uint64_t seed) {
  World world;
  RandomStream random(seed, "world.frame");
  static constexpr std::array<std::string_view, 5> kPolicies = {"best_fit", "fgd", "dot_product",
                                                                "random", "gridfold"};
  world.policy = std::string(pick(random, kPolicies));
  world.tie_break =
      pick(random, std::array{TieBreak::kLowestName, TieBreak::kRandom, TieBreak::kSeededOrder});
  world.quiet = Instant{} + Duration::minutes(random.between(5, 30));
  world.reconcile_interval = Duration::seconds(random.between(5, 60));
  world.cluster.start_latency = Duration::milliseconds(random.between(0, 3000));
  world.cluster.clean_latency =
      random.chance(1, 3) ? Duration{} : Duration::milliseconds(random.between(0, 5000));
  world.cluster.loss_detection = Duration::seconds(random.between(1, 15));
  world.nodes = draw_nodes(seed);
  draw_domains(seed, world);
  world.queues = draw_queues(seed);
  draw_shares(seed, world.queues);
  draw_jobs(seed, world);
  draw_wishes(seed, world);
  draw_thirds(seed, world);
  draw_planning(seed, world);
  draw_rounds(seed, world);
  if (!world.in_rounds) draw_model_rules(seed, world.queues);
  draw_repair(seed, world);
  draw_role_order(seed, world);
  draw_array_limits(seed, world);
  draw_windows(seed, world);
  std::size_t jobs = 0;
  for (const PlannedBatch& batch : world.batches) jobs += batch.jobs.size();
  draw_disturbances(seed, jobs, world);
  std::stable_sort(world.actions.begin(), world.actions.end(),
                   [](const Action& a, const Action& b) { return a.at < b.at; });
  world.faults = draw_faults(seed, world.quiet);
  return world;
}

}  // namespace gridfold::verify
