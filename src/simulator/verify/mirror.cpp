#include "simulator/verify/mirror.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "simulator/verify/device_rules.h"

namespace gridfold::verify {
namespace {

using Json = nlohmann::json;

template <class T, std::size_t N>
T word(const std::array<std::string_view, N>& words, const std::string& text) {
  const auto it = std::find(words.begin(), words.end(), text);
  if (it == words.end()) throw std::runtime_error("unknown word " + text);
  return static_cast<T>(it - words.begin());
}
constexpr std::array<std::string_view, 8> kPhases = {"idle",     "held",    "running", "stopping",
                                                     "cleaning", "backoff", "done",    "waiting"};
constexpr std::array<std::string_view, 7> kStates = {
    "pending", "starting", "running", "stopping", "succeeded", "failed", "cancelled"};

std::uint64_t number_of(std::string_view key) {
  const std::string_view digits = key.substr(key.rfind('/') + 1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw std::runtime_error("key " + std::string(key) + " has no number");
  return value;
}

}  // namespace

std::set<int> MirrorPlan::nodes() const {
  std::set<int> nodes;
  for (const Seat& seat : seats) nodes.insert(seat.node);
  return nodes;
}

bool MirrorJob::claims() const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const MirrorTask& task) { return task.claim.node >= 0; });
}

bool leaves(const MirrorJob& job, const MirrorTask& task) {
  if (task.shed || job.repairing) return task.shed;
  return job.state == State::kStopping || (task.phase == Phase::kCleaning && !task.restarts);
}

std::vector<std::string> queue_and_above(const std::string& queue) {
  std::vector<std::string> names{queue};
  for (std::size_t slash = queue.rfind('/'); slash != std::string::npos;) {
    names.push_back(queue.substr(0, slash));
    slash = names.back().rfind('/');
  }
  return names;
}

std::int64_t queue_charge(const DeviceRequest& device) {
  return std::int64_t{device.count} * (device.share.value == 0 ? 1000 : device.share.value);
}

bool add_use(const NodeSpec& node, const TaskRequest& request, std::uint64_t devices,
             std::int32_t start, int sign, NodeUse& use) {
  use.cpu += sign * request.cpu.value;
  use.memory += sign * request.memory.value;
  use.devices.resize(node.devices.size());
  std::uint64_t left = devices;
  bool as_asked = true;
  bool starts = false;
  for (const DeviceRequest& group : request.devices) {
    std::int32_t found = 0;
    const std::uint64_t before = left;
    for (std::size_t i = 0; i < node.devices.size() && found < group.count; ++i) {
      const DeviceSpec& spec = node.devices[i];
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((left & bit) == 0 || !suits(group, spec)) continue;
      left &= ~bit;
      ++found;
      DeviceUse& device = use.devices[i];
      device.share += sign * group.share.value;
      device.memory += sign * (group.is_whole() ? 0 : group.memory.value);
      device.holders += sign;
      device.whole += sign * group.is_whole();
      if (group.partition.empty()) continue;
      const PartitionProfile& profile = *profile_named(spec, group.partition);
      starts = true;
      as_asked &= may_begin(profile, start);
      if (!as_asked) return false;
      for (std::int32_t slot = start; slot < start + profile.length; ++slot)
        device.slots[static_cast<std::size_t>(slot)] += sign;
    }
    as_asked &= found == group.count && lies_as_wished(node, group, before & ~left);
  }
  return as_asked && left == 0 && starts == (start >= 0);
}

std::optional<std::string> exceeds(const NodeSpec& node, const NodeUse& use) {
  if (use.cpu > node.cpu.value) return node.name + " gives more CPU than it has";
  if (use.memory > node.memory.value) return node.name + " gives more memory than it has";
  for (std::size_t i = 0; i < use.devices.size(); ++i) {
    const DeviceUse& device = use.devices[i];
    const auto& memory = node.devices[i].memory;
    const char* what = nullptr;
    if (device.share > 1000) what = " is given beyond its whole";
    if (device.whole > 0 && device.holders > 1) what = " is whole and shared at once";
    if (device.memory > 0 && !memory.is_known()) what = " gives memory that is not known";
    if (device.memory > 0 && memory.is_known() && device.memory > memory.value().value)
      what = " gives more memory than it has";
    if (std::any_of(device.slots.begin(), device.slots.end(), [](auto n) { return n > 1; }))
      what = " has partitions that overlap";
    if (what != nullptr) return "device " + std::to_string(i) + " of " + node.name + what;
  }
  return std::nullopt;
}

Mirror::Mirror(const World& world)
    : world_(world),
      node_use_(world.nodes.size()),
      drained_(world.nodes.size()),
      known_(world.nodes.size()),
      dirty_(world.nodes.size()) {
  for (const PlannedBatch& batch : world.batches) {
    for (const PlannedJob& job : batch.jobs) specs_[job.spec.name] = &job.spec;
  }
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    node_index_[world.nodes[n].name] = static_cast<int>(n);
    node_use_[n].devices.resize(world.nodes[n].devices.size());
  }
}

const MirrorJob* Mirror::job(std::uint64_t id) const {
  const auto it = jobs_.find(id);
  return it == jobs_.end() ? nullptr : &it->second;
}

std::int64_t QueueUse::of(const std::string& resource) const {
  if (resource == "cpu") return cpu;
  if (resource == "memory") return memory;
  if (resource == "running_jobs") return jobs;
  const auto it = devices.find(resource);
  return it == devices.end() ? 0 : it->second;
}

const QueueUse& Mirror::tenant_use(const std::string& queue, const std::string& tenant) const {
  static const QueueUse kNothing;
  const auto it = tenant_use_.find({queue, tenant});
  return it == tenant_use_.end() ? kNothing : it->second;
}

const QueueUse& Mirror::queue_use(const std::string& queue) const {
  static const QueueUse kNothing;
  const auto it = queue_use_.find(queue);
  return it == queue_use_.end() ? kNothing : it->second;
}

int Mirror::node_index(std::string_view name) const {
  const auto it = node_index_.find(std::string(name));
  return it == node_index_.end() ? -1 : it->second;
}

namespace {

Place place_from(const Json& task, const char* name, const Mirror& mirror) {
  const auto it = task.find(name);
  if (it == task.end()) return {};
  Place place{mirror.node_index(it->at(0).get_ref<const std::string&>()),
              it->at(1).get<std::uint64_t>(), it->size() > 2 ? it->at(2).get<std::int32_t>() : -1};
  if (place.node < 0) throw std::runtime_error("a task is on a node that never was");
  return place;
}

MirrorWhy why_from(const Json& why, const Mirror& mirror) {
  MirrorWhy mine{why.at(0).get<std::string>(), why.at(1).get<std::int64_t>(),
                 why.at(2).get<std::int64_t>()};
  if (why.size() < 4) return mine;
  mine.runner_up = mirror.node_index(why.at(3).get_ref<const std::string&>());
  mine.runner_up_score = why.at(4).get<std::int64_t>();
  return mine;
}

MirrorHome home_from(const Json& home) {
  return {home.at("domain").get<std::string>(),
          home.at("by").get<std::string>(),
          home.value("next", ""),
          home.at("of").get<std::int64_t>(),
          home.at("value").get<std::int64_t>(),
          home.value("next_value", std::int64_t{0})};
}

MirrorPlan plan_from(const Json& json, const Mirror& mirror) {
  MirrorPlan plan{json.at("start").get<std::int64_t>(), json.at("run").get<std::int64_t>(), {}};
  for (const Json& seat : json.at("seats")) {
    const int node = mirror.node_index(seat.at(0).get_ref<const std::string&>());
    if (node < 0) throw std::runtime_error("room is promised on a node that never was");
    plan.seats.push_back({node, seat.at(1).get<std::size_t>(), seat.at(2).get<std::int64_t>()});
  }
  return plan;
}

MirrorJob job_from(std::uint64_t id, const Json& json, const Mirror& mirror) {
  MirrorJob job;
  job.id = id;
  job.uid = json.at("uid").get<std::string>();
  job.state = word<State>(kStates, json.at("state").get_ref<const std::string&>());
  job.stopping = json.value("stopping", "");
  job.held = json.value("held", false);
  job.repairing = json.value("repairing", false);
  job.pending_since_ns = json.at("pending_since").get<std::int64_t>();
  job.runs = json.value("runs", 0);
  job.evictions = json.value("evictions", 0);
  job.losses = json.value("losses", 0);
  job.array_limit = json.value("array_limit", 0);
  if (const auto it = json.find("waits_for"); it != json.end()) {
    for (const Json& edge : *it) job.waits_for.push_back(edge.at(0).get<std::uint64_t>());
  }
  if (const auto it = json.find("why_domain"); it != json.end()) job.home = home_from(*it);
  if (const auto it = json.find("reservation"); it != json.end()) job.plan = plan_from(*it, mirror);
  for (const Json& value : json.at("tasks")) {
    MirrorTask task;
    task.phase = word<Phase>(kPhases, value.at("phase").get_ref<const std::string&>());
    task.attempt = value.value("attempt", 0u);
    task.at = place_from(value, "at", mirror);
    task.claim = place_from(value, "claim", mirror);
    task.restarts = value.contains("not_before");
    task.shed = value.value("shed", false);
    if (const auto it = value.find("exit"); it != value.end()) {
      task.exit = ExitStatus{it->at(0).get<std::int32_t>(), it->at(1).get<std::int32_t>(),
                             it->at(2).get<bool>(), it->at(3).get<bool>()};
    }
    if (const auto it = value.find("why"); it != value.end()) task.why = why_from(*it, mirror);
    job.tasks.push_back(std::move(task));
  }
  return job;
}

}  // namespace

std::optional<std::string> Mirror::apply(const Transaction& transaction, Revision revision) {
  changed_.clear();
  changed_nodes_.clear();
  trouble_.clear();
  if (revision <= revision_) return "the revision of the store does not grow";
  revision_ = revision;
  try {
    for (const auto& [key, value] : transaction.put) {
      if (!key.starts_with("live/spec/") && !key.starts_with("history/job/")) continue;
      const Json json = Json::parse(value);
      const std::uint64_t id =
          key.starts_with("live/") ? number_of(key) : UINT64_MAX - number_of(key);
      const Json& spec = key.starts_with("live/") ? json : json.at("spec");
      names_[id] = spec.at("name").get<std::string>();
      by_name_[names_[id]].insert(id);
      if (key.starts_with("live/")) continue;
      MirrorJob job = job_from(id, json.at("record"), *this);
      job.in_history = true;
      replace(std::move(job));
    }
    for (const auto& [key, value] : transaction.put) {
      if (key.starts_with("live/job/")) {
        replace(job_from(number_of(key), Json::parse(value), *this));
      } else if (key.starts_with("live/node/")) {
        const int node = node_index(std::string_view(key).substr(10));
        if (node < 0) return "a node is stored that never was: " + key;
        const Json json = Json::parse(value);
        const auto n = static_cast<std::size_t>(node);
        known_[n] = true;
        drained_[n] = json.value("drained", false);
        dirty_[n] = json.value("dirty_devices", std::uint64_t{0});
      }
    }
    for (const std::string& key : transaction.erase) {
      if (!key.starts_with("live/job/")) continue;
      const std::uint64_t id = number_of(key);
      live_.erase(id);
      const auto it = jobs_.find(id);
      if (it == jobs_.end() || !it->second.in_history)
        return "I1: job " + std::to_string(id) + " is erased and in no history";
    }
  } catch (const std::exception& problem) {
    return std::string("I14: a record does not read back: ") + problem.what();
  }
  if (!trouble_.empty()) return trouble_;
  return std::nullopt;
}

void Mirror::replace(MirrorJob job) {
  const auto name = names_.find(job.id);
  const auto spec = name == names_.end() ? specs_.end() : specs_.find(name->second);
  if (spec == specs_.end())
    throw std::runtime_error("job " + std::to_string(job.id) + " is none that was submitted");
  job.spec = spec->second;
  if (job.tasks.size() != static_cast<std::size_t>(job.spec->task_count()))
    throw std::runtime_error("job " + std::to_string(job.id) + " has another number of tasks");
  MirrorJob& slot = jobs_[job.id];
  changed_.push_back({slot, job.id});
  if (slot.spec != nullptr) account(slot, -1);
  job.in_history ? static_cast<void>(live_.erase(job.id)) : static_cast<void>(live_.insert(job.id));
  slot = std::move(job);
  account(slot, +1);
}

void QueueUse::add(const QueueUse& other, int sign) {
  cpu += sign * other.cpu;
  memory += sign * other.memory;
  jobs += sign * other.jobs;
  for (const auto& [device, amount] : other.devices) devices[device] += sign * amount;
}

void Mirror::account(const MirrorJob& job, int sign) {
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const MirrorTask& task = job.tasks[i];
    if (!holds(task.phase)) continue;
    const auto n = static_cast<std::size_t>(task.at.node);
    if (task.at.node < 0) throw std::runtime_error("a task holds nothing of any node");
    if (!add_use(world_.nodes[n], job.request(i), task.at.devices, task.at.start, sign,
                 node_use_[n]) &&
        sign > 0)
      trouble_ = "I3: job " + std::to_string(job.id) + " holds other devices than it asked for";
    changed_nodes_.insert(task.at.node);
  }
  const QueueUse use = use_of(world_, job);
  tenant_use_[{job.spec->queue, job.spec->tenant}].add(use, sign);
  for (const std::string& queue : queue_and_above(job.spec->queue))
    queue_use_[queue].add(use, sign);
}

namespace {

// One task's place, if it has one: of which models its devices are is seen there.
void charge(const World& world, const TaskRequest& request, const Place& at, QueueUse& use) {
  if (at.node < 0) return;
  use.cpu += request.cpu.value;
  use.memory += request.memory.value;
  const std::vector<DeviceSpec>& devices = world.nodes[static_cast<std::size_t>(at.node)].devices;
  std::uint64_t left = at.devices;
  for (const DeviceRequest& group : request.devices) {
    use.devices[group.device_class] += queue_charge(group);
    std::int32_t found = 0;
    for (std::size_t i = 0; i < devices.size() && found < group.count; ++i) {
      if ((left >> i & 1) == 0 || !suits(group, devices[i])) continue;
      left &= ~(std::uint64_t{1} << i);
      ++found;
      use.devices[group.device_class + ":" + devices[i].model] += queue_charge(group) / group.count;
    }
  }
}

}  // namespace

QueueUse use_of(const World& world, const MirrorJob& job) {
  QueueUse use;
  use.jobs = job.state == State::kStarting || job.state == State::kRunning ||
             job.state == State::kStopping || job.claims();
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const MirrorTask& task = job.tasks[i];
    if (holds(task.phase)) charge(world, job.request(i), task.at, use);
    charge(world, job.request(i), task.claim, use);
  }
  return use;
}

void add_staying(const World& world, const MirrorJob& job, QueueUse& use) {
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const MirrorTask& task = job.tasks[i];
    if (holds(task.phase) && !leaves(job, task)) charge(world, job.request(i), task.at, use);
    charge(world, job.request(i), task.claim, use);
  }
}

std::uint64_t MirrorJob::array() const {
  return id - static_cast<std::uint64_t>(spec->array_position);
}

Mirror::ArrayUse Mirror::array_use(const MirrorJob& job) const {
  ArrayUse use;
  for (const std::uint64_t id : live_) {
    const MirrorJob& other = jobs_.at(id);
    if (other.array_limit == 0 || other.array() != job.array()) continue;
    use.started += other.has_started();
    use.ahead += id < job.id && other.could_start();
  }
  return use;
}

bool Mirror::waits_for_array(const MirrorJob& job) const {
  return job.array_limit != 0 && job.could_start() && array_use(job).leaves_none(job.array_limit);
}

}  // namespace gridfold::verify
