#include "engine/cluster.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "base/planted.h"
#include "engine/device_fit.h"
#include "engine/growth.h"

namespace gridfold {

namespace {

// Inlined into the loops of fits(), which reads of a device what it needs.
[[gnu::always_inline]] inline bool takes_one(const DeviceRoom& device, const DeviceNeed& need) {
  if (!device.usable || device.device_class != need.device_class || !need.accepts(device.model))
    return false;
  if (device.table != 0 || need.partition != 0) {
    return need.partition != 0 && need.kinds[device.table].length > 0 &&
           legal_starts(need.kinds[device.table], device.free_slots) != 0;
  }
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

}  // namespace

bool device_fits(const DeviceRoom& device, const DeviceNeed& need) {
  return takes_one(device, need);
}

namespace {

std::int32_t share_of_slots(const PartitionTable& table, SlotMask free) {
  return 1000 * std::popcount(free) / std::max(std::popcount(table.slots), 1);
}

// What does not fit the device's table, since it was split anew while somebody
// held it, holds all of it.
SlotMask slots_held(const DeviceNeed& need, const DeviceKind& kind, const PartitionTable& table,
                    std::int32_t start) {
  if (need.partition == 0 || need.kinds[kind.table].length == 0 || start < 0) return table.slots;
  const SlotMask slots = slots_at(need.kinds[kind.table], start) & table.slots;
  return GRIDFOLD_PLANTED_BUG(partitions_overlap) ? slots & (slots - 1) : slots;
}

// Adds (+1) or takes off (-1) what the request holds on these devices.
void apply(const NodeShape& shape, std::span<DeviceState> states, const Request& request,
           std::uint64_t devices, std::int32_t start, int sign) {
  for (const DeviceNeed& need : request.devices) {
    std::int32_t left = need.count;
    for (std::uint64_t rest = devices; rest != 0 && left > 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (i >= shape.kinds.size()) break;
      const DeviceKind& kind = shape.kinds[i];
      if (kind.device_class != need.device_class || !need.accepts(kind.model)) continue;
      --left;
      DeviceState& state = states[i];
      state.holders -= sign;
      if (kind.table != 0) {
        const PartitionTable& table = *shape.layout.tables[i];
        const SlotMask slots = slots_held(need, kind, table, start);
        const auto free = static_cast<SlotMask>(state.free_memory);
        state.free_memory = sign > 0 ? free | slots : free & ~slots;
        state.free_share = share_of_slots(table, static_cast<SlotMask>(state.free_memory));
        continue;
      }
      state.free_share += sign * need.share;
      if (kind.memory >= 0)
        state.free_memory += sign * (need.is_whole() ? kind.memory : need.memory);
    }
  }
}

void apply(Cluster::Scratch& scratch, const Request& request, std::uint64_t devices,
           std::int32_t start, int sign) {
  scratch.cpu += sign * request.cpu;
  scratch.memory += sign * request.memory;
  apply(*scratch.shape, scratch.devices, request, devices, start, sign);
}

// The smaller of two rooms of one device.
void narrow(DeviceState& now, const DeviceState& then, const PartitionTable* table) {
  now.holders = std::max(now.holders, then.holders);
  if (table == nullptr) {
    now.free_share = std::min(now.free_share, then.free_share);
    now.free_memory = std::min(now.free_memory, then.free_memory);
    return;
  }
  now.free_memory &= then.free_memory;
  now.free_share = share_of_slots(*table, static_cast<SlotMask>(now.free_memory));
}

}  // namespace

bool fits(const NodeRoom& node, const Request& request) {
  if (node.cpu < request.cpu || node.memory < request.memory) return false;
  for (const DeviceNeed& need : request.devices) {
    if (need.place != DevicePlace::kAny) {
      if (most_of(node, need) < need.count) return false;
      continue;
    }
    std::int32_t found = 0;
    for (const DeviceRoom& device : node.devices) {
      if (takes_one(device, need) && ++found == need.count) break;
    }
    if (found < need.count) return false;
  }
  return true;
}

namespace {

std::int32_t capped(std::int64_t value) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, -1, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

RoomBound bound_of(const NodeRoom& room) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  RoomBound bound{capped(room.cpu), -1, 0, 0};
  if (room.memory >= 0)
    bound.memory_mebibytes = capped(room.memory / kMebibyte + (room.memory % kMebibyte != 0));
  const std::span<const DeviceState> states = room.devices.states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if ((room.devices.usable() >> i & 1) == 0) continue;
    // What passes takes_one() by the planted bug has to pass here as well.
    const std::int32_t share =
        states[i].free_share + (GRIDFOLD_PLANTED_BUG(shares_compared_as_floats) ? 10 : 0);
    bound.share =
        static_cast<std::int16_t>(std::max<std::int32_t>(bound.share, std::min(share, 1000)));
    bound.idle = static_cast<std::uint8_t>(bound.idle + (states[i].holders == 0));
  }
  return bound;
}

std::int32_t slots(const NodeRoom& node, const Request& request) {
  if (!fits(node, request)) return 0;
  std::int64_t n = std::numeric_limits<std::int32_t>::max();
  if (request.cpu > 0) n = std::min(n, node.cpu / request.cpu);
  if (request.memory > 0) n = std::min(n, node.memory / request.memory);
  for (const DeviceNeed& need : request.devices) {
    n = std::min(n, slots_of(node, need));
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
    const NodeSpec& before = records_[id.value].spec;
    if (before.domains != record.spec.domains) ++path_changes_;
    if (before.links != record.spec.links || before.devices != record.spec.devices) ++link_changes_;
  } else {
    id = NodeId(static_cast<std::uint32_t>(nodes_.size()));
    reserve_more(nodes_, 1);
    nodes_.emplace_back();
    records_.emplace_back();
    by_name_.emplace(record.spec.name, id);
    name_ranks_.clear();
    ++membership_;
    states_.expect_nodes(nodes_.size());
    holdings_.expect_lists(nodes_.size());
    if (log_.size() < nodes_.size()) grow_log();
  }
  record.id = id;
  count_supply(id, -1);
  records_[id.value] = std::move(record);
  take_over_spec(id);
  return id;
}

void Cluster::remove_last() {
  assert(!nodes_.empty() && nodes_.back().holdings.size == 0 && !nodes_.back().is_claimed);
  count_supply(NodeId(static_cast<std::uint32_t>(nodes_.size() - 1)), -1);
  const Node& last = nodes_.back();
  states_.leave(last.state);
  if (last.version > forgotten_changes())
    log_[last.version & (log_.size() - 1)].node = NodeId::none();
  by_name_.erase(records_.back().spec.name);
  nodes_.pop_back();
  records_.pop_back();
  name_ranks_.clear();
  ++membership_;
}

void Cluster::set_status(const NodeRecord& record) {
  NodeRecord& mine = records_[record.id.value];
  count_supply(record.id, -1);
  mine.up = record.up;
  mine.drained = record.drained;
  mine.reason = record.reason;
  mine.dirty_devices = record.dirty_devices;
  mine.power = record.power;
  mine.power_since = record.power_since;
  mine.boot_failures = record.boot_failures;
  take_over_spec(record.id);
}

void Cluster::set_closed(NodeId id, bool closed) {
  Node& node = nodes_[id.value];
  if (node.is_closed == closed) return;
  node.is_closed = closed;
  node.takes_tasks = (in_service(id) || node.is_awaited) && !closed;
  log(id);
}

void Cluster::set_awaited(NodeId id, bool awaited) {
  Node& node = nodes_[id.value];
  if (node.is_awaited == awaited) return;
  node.is_awaited = awaited;
  node.takes_tasks = (in_service(id) || awaited) && !node.is_closed;
  log(id);
}

std::optional<std::uint16_t> Cluster::find_class(std::string_view name) const {
  for (std::size_t i = 0; i < names_.classes.size(); ++i) {
    if (names_.classes[i] == name) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

// What the node's record says, added or taken off.
namespace {

Supply::Model& supply_of(Supply& supply, std::uint16_t device_class, std::uint16_t model) {
  for (Supply::Model& known : supply.models) {
    if (known.device_class == device_class && known.model == model) return known;
  }
  return supply.models.emplace_back(Supply::Model{device_class, model});
}

}  // namespace

void Cluster::count_supply(NodeId id, int sign) {
  const NodeRecord& record = records_[id.value];
  if (!in_service(id)) return;
  supply_.cpu += sign * record.spec.cpu.value;
  supply_.memory += sign * record.spec.memory.value;
  for (std::size_t i = 0; i < record.spec.devices.size(); ++i) {
    const DeviceSpec& device = record.spec.devices[i];
    if ((record.dirty_devices >> i & 1) != 0 || !device.fault.empty()) continue;
    const std::uint16_t number = intern(names_.classes, device.device_class);
    if (supply_.devices.size() <= number) supply_.devices.resize(number + 1u);
    supply_.devices[number] += sign * 1000;
    supply_of(supply_, number, intern(names_.models, device.model)).thousandths += sign * 1000;
  }
}

// The node's room from its record and what is held of it.
void Cluster::take_over_spec(NodeId id) {
  const NodeRecord& record = records_[id.value];
  std::vector<DeviceKind> kinds;
  NodeLayout layout{groups_of(record.spec.devices), {}};
  std::uint64_t usable = 0;
  for (std::size_t i = 0; i < record.spec.devices.size(); ++i) {
    const DeviceSpec& spec = record.spec.devices[i];
    const bool is_dirty = (record.dirty_devices >> i & 1) != 0;
    if (!is_dirty && spec.fault.empty()) usable |= std::uint64_t{1} << i;
    const std::uint16_t table = table_of(spec.partitions);
    supply_of(supply_, intern(names_.classes, spec.device_class),
              intern(names_.models, spec.model));
    kinds.push_back({intern(names_.classes, spec.device_class), intern(names_.models, spec.model),
                     spec.memory.is_known() ? spec.memory.value().value : -1, table});
    layout.tables.push_back(table == 0 ? nullptr : &tables_[table]);
  }
  const ShapeIndex shape = states_.shape_with(kinds, layout);
  Node& node = nodes_[id.value];
  node.takes_tasks = in_service(id) && !node.is_closed;
  count_supply(id, +1);
  enter(node, {shape, record.spec.cpu.value, record.spec.memory.value, usable,
               states_.shape(shape).empty});
  recompute(id);
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

namespace {

// What fits nowhere without.
RoomBound least_of(const Request& request) {
  RoomBound bound{capped(request.cpu), capped(request.memory >> 20), 0, 0};
  for (const DeviceNeed& need : request.devices) {
    if (need.is_whole()) {
      bound.idle = static_cast<std::uint8_t>(std::clamp(need.count, int{bound.idle}, 255));
    } else {
      const int less = GRIDFOLD_PLANTED_BUG(shares_compared_as_floats) ? 10 : 0;
      bound.share =
          static_cast<std::int16_t>(std::max<std::int32_t>(bound.share, need.share - less));
    }
  }
  return bound;
}

}  // namespace

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
    if (device.place != DevicePlace::kAny) key += '@' + std::string(to_string(device.place));
    if (!device.partition.empty()) key += '/' + device.partition;
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
    need.place = device.place;
    if (!device.partition.empty()) {
      need.partition = static_cast<std::uint16_t>(intern(names_.profiles, device.partition) + 1);
      for (const PartitionTable& table : tables_)
        need.kinds.push_back(table.kind_named(need.partition));
    }
    request.devices.push_back(std::move(need));
  }
  request.least = least_of(request);
  requests_.push_back(std::move(request));
  return requests_.back();
}

NodeRoom Cluster::capacity(NodeId id) const {
  const NodeSpec& spec = records_[id.value].spec;
  const StateIndex state = nodes_[id.value].state;
  const NodeShape& shape = states_.shape_of(state);
  return {spec.cpu.value,
          spec.memory.value,
          {shape.kinds, shape.empty, states_.usable(state)},
          NodeId::none(),
          0,
          shape.known_layout()};
}

void Cluster::prefetch(std::span<const NodeId> nodes) const {
  for (const NodeId node : nodes) __builtin_prefetch(&nodes_[node.value]);
  for (const NodeId node : nodes) states_.prefetch(nodes_[node.value].state);
  for (const NodeId node : nodes) states_.prefetch_devices(nodes_[node.value].state);
}

namespace {

Holding holding_of(const Allocation& at, TaskId task, const Request& request,
                   Cluster::Staying staying) {
  return {task.job,
          at.devices,
          task.index,
          request.id,
          staying == Cluster::Staying::kLeaves,
          static_cast<std::uint32_t>(at.start + 1)};
}

}  // namespace

std::span<const Holding> Cluster::claims(NodeId id) const {
  if (!nodes_[id.value].is_claimed) return {};
  return claims_.at(id);
}

void Cluster::take(const Allocation& at, TaskId task, const Request& request, Staying staying) {
  Node& node = nodes_[at.node.value];
  const Holding holding = holding_of(at, task, request, staying);
  holdings_.insert(node.holdings, holding);
  if (node.is_claimed) return recompute(at.node);
  change_room(node, holding, -1);
  log(at.node);
}

void Cluster::give_back(NodeId id, TaskId task) {
  Node& node = nodes_[id.value];
  const auto holding = holdings_.remove(node.holdings, task);
  assert(holding && "gave back what was not held");
  if (!holding) return;
  if (node.is_claimed) return recompute(id);
  change_room(node, *holding, +1);
  log(id);
}

void Cluster::set_staying(NodeId id, TaskId task, Staying staying) {
  const Node& node = nodes_[id.value];
  if (Holding* holding = holdings_.find(node.holdings, task))
    holding->leaves = staying == Staying::kLeaves;
  if (node.is_claimed) recompute(id);
}

void Cluster::claim(const Allocation& at, TaskId task, const Request& request) {
  claims_[at.node].push_back(holding_of(at, task, request, Staying::kStays));
  nodes_[at.node.value].is_claimed = true;
  recompute(at.node);
}

void Cluster::unclaim(NodeId id, TaskId task) {
  const auto it = claims_.find(id);
  if (it == claims_.end()) return;
  std::erase_if(it->second, [&](const Holding& claim) { return claim.task() == task; });
  if (it->second.empty()) {
    claims_.erase(it);
    nodes_[id.value].is_claimed = false;
  }
  recompute(id);
}

// The room with one holding more or less.
void Cluster::change_room(Node& node, const Holding& holding, int sign) {
  const Request& request = requests_[holding.request];
  RoomState state = states_.state(node.state);
  changing_.assign(state.devices.begin(), state.devices.end());
  state.cpu += sign * request.cpu;
  state.memory += sign * request.memory;
  apply(states_.shape(state.shape), changing_, request, holding.devices, holding.start(), sign);
  state.devices = changing_;
  enter(node, state);
}

void Cluster::enter(Node& node, const RoomState& state) {
  const StateIndex before = node.state;
  node.state = states_.enter(state);
  if (before != RoomStates::kNone) states_.leave(before);
}

void Cluster::empty_into(NodeId id, Scratch& scratch) const {
  const StateIndex state = nodes_[id.value].state;
  scratch.shape = &states_.shape_of(state);
  scratch.devices = scratch.shape->empty;
  scratch.usable = states_.usable(state);
  scratch.cpu = records_[id.value].spec.cpu.value;
  scratch.memory = records_[id.value].spec.memory.value;
}

void Cluster::book(Scratch& scratch, const Holding& holding, int sign) const {
  apply(scratch, requests_[holding.request], holding.devices, holding.start(), sign);
}

void Cluster::copy_room(NodeId id, Scratch& scratch) const {
  const NodeRoom now = room(id);
  scratch.shape = &states_.shape_of(nodes_[id.value].state);
  scratch.devices.assign(now.devices.states().begin(), now.devices.states().end());
  scratch.usable = now.devices.usable();
  scratch.cpu = now.cpu;
  scratch.memory = now.memory;
}

void Cluster::planned(NodeId id, Scratch& scratch) const {
  empty_into(id, scratch);
  for (const Holding& holding : holdings(id)) {
    if (!holding.leaves) book(scratch, holding, -1);
  }
  for (const Holding& claim : claims(id)) book(scratch, claim, -1);
}

void Cluster::actual(NodeId id, Scratch& scratch) const {
  empty_into(id, scratch);
  for (const Holding& holding : holdings(id)) book(scratch, holding, -1);
}

void Cluster::add_back(Scratch& scratch, const Request& request, std::uint64_t devices,
                       std::int32_t start) {
  apply(scratch, request, devices, start, +1);
}

void Cluster::take_out(Scratch& scratch, const Request& request, std::uint64_t devices,
                       std::int32_t start) {
  apply(scratch, request, devices, start, -1);
}

bool Cluster::fits_exactly(const NodeRoom& room, const Request& request, const Allocation& at) {
  if (room.cpu < request.cpu || room.memory < request.memory) return false;
  for (const DeviceNeed& need : request.devices) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < room.devices.size(); ++i) {
      const DeviceRoom device = room.devices[i];
      if (!(at.devices >> i & 1) || !device_fits(device, need)) continue;
      if (need.partition != 0 &&
          !(at.start >= 0 &&
            (legal_starts(need.kinds[device.table], device.free_slots) >> at.start & 1) != 0))
        continue;
      found |= std::uint64_t{1} << i;
    }
    if (std::popcount(found) < need.count) return false;
    if (!is_legal_set(found, set_request(room, need), groups_of(room))) return false;
  }
  return true;
}

void Cluster::recompute(NodeId id) {
  Node& node = nodes_[id.value];
  Scratch now;
  actual(id, now);
  if (node.is_claimed) {
    Scratch future;
    planned(id, future);
    now.cpu = std::min(now.cpu, future.cpu);
    now.memory = std::min(now.memory, future.memory);
    for (std::size_t i = 0; i < now.devices.size(); ++i) {
      narrow(now.devices[i], future.devices[i], now.shape->layout.tables[i]);
    }
  }
  enter(node, {states_.state(node.state).shape, now.cpu, now.memory, now.usable, now.devices});
  log(id);
}

// --- Changes ---

std::uint64_t Cluster::forgotten_changes() const {
  const std::uint64_t kept = log_.size();
  return std::max(first_change_, last_change_ > kept ? last_change_ - kept : 0);
}

void Cluster::log(NodeId id) {
  Node& node = nodes_[id.value];
  const std::uint64_t mask = log_.size() - 1;
  if (node.version > forgotten_changes()) log_[node.version & mask].node = NodeId::none();
  node.version = ++last_change_;
  log_[node.version & mask] = {id, node.takes_tasks ? bound_of(room(id)) : RoomBound()};
}

// As many changes as there are nodes: who has missed more reads every node, and
// that costs no more. Never so few that this would happen often.
void Cluster::grow_log() {
  const std::uint64_t first = forgotten_changes() + 1;
  std::vector<Change> larger(std::bit_ceil(std::max<std::size_t>(nodes_.size(), 1024)));
  for (std::uint64_t change = first; change <= last_change_; ++change)
    larger[change & (larger.size() - 1)] = log_[change & (log_.size() - 1)];
  log_ = std::move(larger);
  first_change_ = first - 1;
}

// --- Size ---

std::size_t Cluster::book_bytes() const {
  std::size_t claims = 0;
  for (const auto& [node, list] : claims_) claims += list.capacity() * sizeof(Holding);
  return nodes_.capacity() * sizeof(Node) + states_.bytes() + holdings_.bytes() + claims +
         log_.size() * sizeof(Change) + name_ranks_.size() * sizeof(std::uint32_t);
}

std::size_t Cluster::record_bytes() const {
  const auto text = [](const std::string& s) { return s.capacity() > 15 ? s.capacity() + 1 : 0; };
  std::size_t bytes = records_.size() * sizeof(NodeRecord);
  for (const NodeRecord& record : records_) {
    // The name twice: here and in the index, which has a node of its own.
    bytes += 2 * text(record.spec.name) + sizeof(std::string) + 48;
    bytes += record.spec.devices.capacity() * sizeof(DeviceSpec);
    for (const DeviceSpec& device : record.spec.devices)
      bytes +=
          text(device.device_class) + text(device.model) + text(device.uid) + text(device.fault);
    for (const DomainStep& domain : record.spec.domains)
      bytes += sizeof domain + text(domain.level) + text(domain.name);
    for (const auto& [key, value] : record.spec.labels)
      bytes += 2 * sizeof key + 48 + text(key) + text(value);
  }
  return bytes;
}

// The number of the table with these profiles, 0 for none. A new one is made
// known to the requests that were compiled before it.
std::uint16_t Cluster::table_of(const std::vector<PartitionProfile>& profiles) {
  if (profiles.empty()) return 0;
  PartitionTable table;
  for (const PartitionProfile& profile : profiles) {
    PartitionKind kind;
    kind.name = static_cast<std::uint16_t>(intern(names_.profiles, profile.name) + 1);
    kind.slices = profile.slices;
    kind.length = profile.length;
    for (const std::int32_t start : profile.starts) {
      kind.starts |= SlotMask{1} << start;
      table.slots |= slots_at(kind, start);
    }
    table.kinds.push_back(kind);
  }
  const auto known = std::find(tables_.begin() + 1, tables_.end(), table);
  if (known != tables_.end()) return static_cast<std::uint16_t>(known - tables_.begin());
  tables_.push_back(std::move(table));
  for (Request& request : requests_) {
    for (DeviceNeed& need : request.devices) {
      if (need.partition != 0) need.kinds.push_back(tables_.back().kind_named(need.partition));
    }
  }
  return static_cast<std::uint16_t>(tables_.size() - 1);
}

std::uint16_t Cluster::intern(std::vector<std::string>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<std::uint16_t>(it - names.begin());
  names.emplace_back(name);
  return static_cast<std::uint16_t>(names.size() - 1);
}

}  // namespace gridfold
