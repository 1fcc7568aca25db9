#include "engine/cluster.h"

#include "base/planted.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace gridfold {

bool DeviceNeed::accepts(std::uint16_t model) const {
  return models.empty() || std::find(models.begin(), models.end(), model) != models.end();
}

bool device_fits(const DeviceRoom& device, const DeviceNeed& need) {
  if (!device.usable || device.device_class != need.device_class || !need.accepts(device.model))
    return false;
  if (need.is_whole())
    return device.holders == 0 && (need.memory == 0 || device.memory >= need.memory);
  if (GRIDFOLD_PLANTED_BUG(shares_compared_as_floats)) {
    if (static_cast<float>(device.free_share) / 1000 + 0.01f <
        static_cast<float>(need.share) / 1000)
      return false;
  } else if (device.free_share < need.share) {
    return false;
  }
  // Unknown memory (-1) cannot be asked for.
  return need.memory == 0 || device.free_memory >= need.memory;
}

namespace {

// How many units of the need one device can still take.
std::int64_t device_slots(const DeviceRoom& device, const DeviceNeed& need) {
  if (!device_fits(device, need)) return 0;
  if (need.is_whole()) return 1;
  std::int64_t n = std::numeric_limits<std::int32_t>::max();
  if (need.share > 0) n = std::min<std::int64_t>(n, device.free_share / need.share);
  if (need.memory > 0) n = std::min(n, device.free_memory / need.memory);
  return n;
}

void apply(Cluster::Scratch& scratch, const Request& request, std::uint64_t devices, int sign) {
  scratch.cpu += sign * request.cpu;
  scratch.memory += sign * request.memory;
  if (devices == 0) return;
  for (const DeviceNeed& need : request.devices) {
    std::int32_t left = need.count;
    for (std::size_t i = 0; i < scratch.devices.size() && left > 0; ++i) {
      DeviceRoom& device = scratch.devices[i];
      if (!(devices >> i & 1) || device.device_class != need.device_class) continue;
      if (!need.accepts(device.model)) continue;
      --left;
      device.holders -= sign;
      device.free_share += sign * need.share;
      if (device.memory >= 0)
        device.free_memory += sign * (need.is_whole() ? device.memory : need.memory);
    }
  }
}

}  // namespace

bool fits(const NodeRoom& node, const Request& request) {
  if (node.cpu < request.cpu || node.memory < request.memory) return false;
  for (const DeviceNeed& need : request.devices) {
    std::int32_t found = 0;
    for (const DeviceRoom& device : node.devices) {
      if (device_fits(device, need) && ++found == need.count) break;
    }
    if (found < need.count) return false;
  }
  return true;
}

std::int32_t slots(const NodeRoom& node, const Request& request) {
  if (!fits(node, request)) return 0;
  std::int64_t n = std::numeric_limits<std::int32_t>::max();
  if (request.cpu > 0) n = std::min(n, node.cpu / request.cpu);
  if (request.memory > 0) n = std::min(n, node.memory / request.memory);
  for (const DeviceNeed& need : request.devices) {
    std::int64_t units = 0;
    for (const DeviceRoom& device : node.devices) units += device_slots(device, need);
    n = std::min(n, units / std::max(need.count, 1));
  }
  return static_cast<std::int32_t>(n);
}

std::optional<NodeId> Cluster::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

NodeId Cluster::put(NodeRecord record) {
  const auto known = find(record.spec.name);
  NodeId id;
  if (known) {
    id = *known;
    if (records_[id.value].spec.domains != record.spec.domains) ++topology_version_;
  } else {
    id = NodeId(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.emplace_back();
    records_.emplace_back();
    by_name_.emplace(record.spec.name, id);
    name_ranks_.clear();
    ++topology_version_;
  }
  record.id = id;
  records_[id.value] = std::move(record);
  refresh_empty(id);
  recompute(id);
  return id;
}

void Cluster::remove_last() {
  assert(!nodes_.empty() && nodes_.back().holdings.empty() && nodes_.back().claims.empty());
  by_name_.erase(records_.back().spec.name);
  nodes_.pop_back();
  records_.pop_back();
  name_ranks_.clear();
  ++topology_version_;
  // Positions in the log may name the node that is gone: forget them all.
  log_begin_ = log_end() + 1;
  log_.clear();
}

void Cluster::set_status(const NodeRecord& record) {
  NodeRecord& mine = records_[record.id.value];
  mine.up = record.up;
  mine.drained = record.drained;
  mine.reason = record.reason;
  mine.dirty_devices = record.dirty_devices;
  refresh_empty(record.id);
  recompute(record.id);
}

bool Cluster::usable(NodeId node) const {
  const NodeRecord& record = records_[node.value];
  return record.up && !record.drained;
}

std::uint32_t Cluster::name_rank(NodeId node) const {
  if (name_ranks_.size() != nodes_.size()) rank_names();
  return name_ranks_[node.value];
}

void Cluster::rank_names() const {
  name_ranks_.assign(nodes_.size(), 0);
  std::uint32_t rank = 0;
  for (const auto& [name, id] : by_name_) name_ranks_[id.value] = rank++;
}

const Request& Cluster::compile(const TaskRequest& source) {
  std::string key;
  const auto number = [&key](std::int64_t v) {
    key.append(std::to_string(v));
    key += ' ';
  };
  number(source.cpu.value);
  number(source.memory.value);
  for (const DeviceRequest& device : source.devices) {
    key += device.device_class + ' ';
    number(device.count);
    number(device.share.value);
    number(device.memory.value);
    for (const std::string& model : device.models) key += model + '|';
    key += ';';
  }
  const auto [it, fresh] = request_ids_.emplace(key, static_cast<std::uint32_t>(requests_.size()));
  if (!fresh) return requests_[it->second];
  Request request;
  request.id = it->second;
  request.cpu = source.cpu.value;
  request.memory = source.memory.value;
  request.source = source;
  for (const DeviceRequest& device : source.devices) {
    DeviceNeed need;
    need.device_class = intern(names_.classes, device.device_class);
    need.count = device.count;
    need.share = static_cast<std::int32_t>(device.share.value);
    need.memory = device.memory.value;
    for (const std::string& model : device.models)
      need.models.push_back(intern(names_.models, model));
    request.devices.push_back(std::move(need));
  }
  requests_.push_back(std::move(request));
  return requests_.back();
}

NodeRoom Cluster::room(NodeId id) const {
  const Node& node = nodes_[id.value];
  return {node.room.cpu, node.room.memory, node.room.devices, id, node.version};
}

NodeRoom Cluster::capacity(NodeId id) const {
  const NodeSpec& spec = records_[id.value].spec;
  return {spec.cpu.value, spec.memory.value, nodes_[id.value].empty, NodeId::none(), 0};
}

void Cluster::take(NodeId id, const Holding& holding) {
  Node& node = nodes_[id.value];
  node.holdings.push_back(holding);
  if (node.claims.empty()) {
    apply(node.room, *holding.request, holding.devices, -1);
    log(id);
  } else {
    recompute(id);
  }
}

void Cluster::give_back(NodeId id, TaskId task) {
  Node& node = nodes_[id.value];
  // From the end: a plan that is rolled back gives back what it took last.
  for (auto it = node.holdings.rbegin(); it != node.holdings.rend(); ++it) {
    if (it->task != task) continue;
    const Holding holding = *it;
    node.holdings.erase(std::next(it).base());
    if (node.claims.empty()) {
      apply(node.room, *holding.request, holding.devices, +1);
      log(id);
    } else {
      recompute(id);
    }
    return;
  }
  assert(false && "gave back what was not held");
}

void Cluster::set_staying(NodeId id, TaskId task, Staying staying) {
  Node& node = nodes_[id.value];
  for (Holding& holding : node.holdings) {
    if (holding.task == task) holding.staying = staying;
  }
  if (!node.claims.empty()) recompute(id);
}

void Cluster::claim(NodeId id, const Holding& holding) {
  nodes_[id.value].claims.push_back(holding);
  recompute(id);
}

void Cluster::unclaim(NodeId id, TaskId task) {
  Node& node = nodes_[id.value];
  std::erase_if(node.claims, [&](const Holding& claim) { return claim.task == task; });
  recompute(id);
}

void Cluster::empty_into(NodeId id, Scratch& scratch) const {
  scratch.cpu = records_[id.value].spec.cpu.value;
  scratch.memory = records_[id.value].spec.memory.value;
  scratch.devices = nodes_[id.value].empty;
}

void Cluster::copy_room(NodeId id, Scratch& scratch) const { scratch = nodes_[id.value].room; }

void Cluster::planned(NodeId id, Scratch& scratch) const {
  const Node& node = nodes_[id.value];
  empty_into(id, scratch);
  for (const Holding& holding : node.holdings) {
    if (holding.staying == Staying::kStays) apply(scratch, *holding.request, holding.devices, -1);
  }
  for (const Holding& claim : node.claims) apply(scratch, *claim.request, claim.devices, -1);
}

void Cluster::actual(NodeId id, Scratch& scratch) const {
  const Node& node = nodes_[id.value];
  empty_into(id, scratch);
  for (const Holding& holding : node.holdings)
    apply(scratch, *holding.request, holding.devices, -1);
}

void Cluster::add_back(Scratch& scratch, const Request& request, std::uint64_t devices) {
  apply(scratch, request, devices, +1);
}

void Cluster::take_out(Scratch& scratch, const Request& request, std::uint64_t devices) {
  apply(scratch, request, devices, -1);
}

bool Cluster::fits_exactly(const NodeRoom& room, const Request& request, std::uint64_t devices) {
  if (room.cpu < request.cpu || room.memory < request.memory) return false;
  for (const DeviceNeed& need : request.devices) {
    std::int32_t found = 0;
    for (std::size_t i = 0; i < room.devices.size(); ++i) {
      if ((devices >> i & 1) && device_fits(room.devices[i], need)) ++found;
    }
    if (found < need.count) return false;
  }
  return true;
}

void Cluster::recompute(NodeId id) {
  Node& node = nodes_[id.value];
  actual(id, node.room);
  if (!node.claims.empty()) {
    Scratch future;
    planned(id, future);
    node.room.cpu = std::min(node.room.cpu, future.cpu);
    node.room.memory = std::min(node.room.memory, future.memory);
    for (std::size_t i = 0; i < node.room.devices.size(); ++i) {
      DeviceRoom& now = node.room.devices[i];
      const DeviceRoom& then = future.devices[i];
      now.free_share = std::min(now.free_share, then.free_share);
      now.free_memory = std::min(now.free_memory, then.free_memory);
      now.holders = std::max(now.holders, then.holders);
    }
  }
  log(id);
}

void Cluster::log(NodeId node) {
  // Readers that fall behind read every node again, so the log may be short.
  if (log_.size() >= 4 * nodes_.size() + 1024) {
    log_begin_ += log_.size();
    log_.clear();
  }
  log_.push_back(node);
  nodes_[node.value].version = ++last_version_;
}

void Cluster::refresh_empty(NodeId id) {
  const NodeRecord& record = records_[id.value];
  std::vector<DeviceRoom>& empty = nodes_[id.value].empty;
  empty.clear();
  for (std::size_t i = 0; i < record.spec.devices.size(); ++i) {
    const DeviceSpec& spec = record.spec.devices[i];
    DeviceRoom room;
    room.device_class = intern(names_.classes, spec.device_class);
    room.model = intern(names_.models, spec.model);
    room.memory = spec.memory.is_known() ? spec.memory.value().value : -1;
    room.free_memory = room.memory;
    room.usable = (record.dirty_devices >> i & 1) == 0 && spec.fault.empty();
    empty.push_back(room);
  }
}

std::uint16_t Cluster::intern(std::vector<std::string>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<std::uint16_t>(it - names.begin());
  names.emplace_back(name);
  return static_cast<std::uint16_t>(names.size() - 1);
}

}  // namespace gridfold
