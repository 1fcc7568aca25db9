#include "control/records.h"

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "base/planted.h"

namespace gridfold::records {
namespace {

// Ordered: a reason's parameters keep their order.
using Json = nlohmann::ordered_json;

std::string padded(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}
std::string complemented(std::uint64_t number) { return padded(UINT64_MAX - number); }

Result<std::uint64_t> read_number(std::string_view digits, std::string_view key) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    return corrupt("key " + std::string(key) + " does not end in a number");
  return value;
}

// Runs a reader over parsed JSON; whatever it throws is a damaged record.
template <class T, class Reader>
Result<T> read(std::string_view what, std::string_view value, Reader reader) {
  try {
    return reader(Json::parse(value));
  } catch (const std::exception& problem) {
    return corrupt("record " + std::string(what) + " does not read back: " + problem.what());
  }
}

template <class T>
T must(std::optional<T> value, const char* what) {
  if (!value) throw std::runtime_error(std::string("unknown ") + what);
  return *value;
}

Reason reason_from(const Json& json) {
  Reason reason(must(parse_reason_code(json.at("code").get<std::string>()), "reason code"));
  for (const auto& [name, value] : json.at("params").items()) {
    if (value.is_string()) {
      reason.params.emplace_back(name, value.get<std::string>());
    } else {
      reason.params.emplace_back(name, value.get<std::int64_t>());
    }
  }
  return reason;
}

// {"rack": "r3"}, or "rack-3" where the level has no name.
DomainStep domain_from(const Json& json) {
  DomainStep step;
  if (json.is_string()) {
    step.name = json.get<std::string>();
  } else {
    if (!json.is_object() || json.size() != 1) throw std::runtime_error("a domain has one level");
    const auto entry = json.items().begin();
    step = DomainStep(entry.key(), entry.value().get<std::string>());
  }
  if (step.name.empty()) throw std::runtime_error("a domain has no name");
  return step;
}

void write_time(JsonWriter& json, const char* name, Instant at) {
  if (!at.is_never()) json.key(name).number(at.ns);
}
Instant time_from(const Json& json, const char* name) {
  const auto it = json.find(name);
  return it == json.end() ? Instant::never() : Instant{it->get<std::int64_t>()};
}

void write_allocation(JsonWriter& json, const char* name, const Allocation& at,
                      std::span<const NodeRecord> nodes) {
  if (at.node.is_none()) return;
  json.key(name).begin_array().string(nodes[at.node.value].spec.name).number(at.devices);
  if (at.start != kNoPartition) json.number(at.start);
  json.end_array();
}
Allocation allocation_from(const Json& json, const char* name, const FindNode& find_node) {
  const auto it = json.find(name);
  if (it == json.end()) return {};
  const auto node = it->at(0).get<std::string>();
  const NodeId id = find_node(node);
  if (id.is_none()) throw std::runtime_error("unknown node " + node);
  Allocation at{id, it->at(1).get<std::uint64_t>()};
  if (it->size() > 2) {
    at.start = it->at(2).get<std::int32_t>();
    if (at.start < 0 || at.start >= kMaxPartitionSlots)
      throw std::runtime_error("a partition from slot " + std::to_string(at.start));
  }
  return at;
}

// {"start": …, "run": …, "seats": [["n1", role, tasks], …]}
void write_reservation(JsonWriter& json, const Reservation& reservation,
                       std::span<const NodeRecord> nodes) {
  json.key("reservation").begin_object().key("start").number(reservation.start.ns);
  json.key("run").number(reservation.run.ns).key("seats").begin_array();
  for (const ReservedSeat& seat : reservation.seats) {
    json.begin_array().string(nodes[seat.node.value].spec.name).number(seat.role);
    json.number(seat.tasks).end_array();
  }
  json.end_array().end_object();
}
Reservation reservation_from(const Json& json, const FindNode& find_node) {
  Reservation reservation;
  reservation.start.ns = json.at("start").get<std::int64_t>();
  reservation.run.ns = json.at("run").get<std::int64_t>();
  for (const Json& item : json.at("seats")) {
    const auto node = item.at(0).get<std::string>();
    const ReservedSeat seat{find_node(node), item.at(1).get<std::uint32_t>(),
                            item.at(2).get<std::int32_t>()};
    if (seat.node.is_none()) throw std::runtime_error("unknown node " + node);
    reservation.seats.push_back(seat);
  }
  return reservation;
}

void write_partitions(JsonWriter& json, const std::vector<PartitionProfile>& profiles) {
  json.begin_array();
  for (const PartitionProfile& profile : profiles) {
    json.begin_object().key("name").string(profile.name).key("slices").number(profile.slices);
    json.key("length").number(profile.length);
    if (profile.memory.is_known()) json.key("memory").number(profile.memory.value().value);
    json.key("starts").begin_array();
    for (const std::int32_t start : profile.starts) json.number(start);
    json.end_array().end_object();
  }
  json.end_array();
}
std::vector<PartitionProfile> partitions_from(const Json& json) {
  std::vector<PartitionProfile> profiles;
  for (const Json& item : json) {
    PartitionProfile profile;
    profile.name = item.at("name").get<std::string>();
    profile.slices = item.at("slices").get<std::int32_t>();
    profile.length = item.at("length").get<std::int32_t>();
    if (const auto it = item.find("memory"); it != item.end())
      profile.memory = Bytes(it->get<std::int64_t>());
    profile.starts = item.at("starts").get<std::vector<std::int32_t>>();
    for (const std::int32_t start : profile.starts) {
      if (start < 0 || profile.length < 1 || start > kMaxPartitionSlots - profile.length)
        throw std::runtime_error("a partition of " + profile.name + " lies outside the device");
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

// ["score", nodes, score], and where there was one the runner-up with its score.
void write_why(JsonWriter& json, const WhyHere& why, std::span<const NodeRecord> nodes) {
  if (why.by == DecidedBy::kUnknown) return;
  json.key("why").begin_array().string(to_string(why.by));
  json.number(why.feasible_nodes).number(why.score);
  if (!why.runner_up.is_none())
    json.string(nodes[why.runner_up.value].spec.name).number(why.runner_up_score);
  json.end_array();
}
WhyHere why_from(const Json& json, const FindNode& find_node) {
  const auto it = json.find("why");
  if (it == json.end()) return {};
  WhyHere why;
  why.by = must(parse_decided_by(it->at(0).get<std::string>()), "way to decide");
  why.feasible_nodes = it->at(1).get<std::int32_t>();
  why.score = it->at(2).get<std::int64_t>();
  if (it->size() < 4) return why;
  const auto node = it->at(3).get<std::string>();
  why.runner_up = find_node(node);
  if (why.runner_up.is_none()) throw std::runtime_error("unknown node " + node);
  why.runner_up_score = it->at(4).get<std::int64_t>();
  return why;
}

void write_why_domain(JsonWriter& json, const WhyDomain& why) {
  json.key("why_domain").begin_object().key("domain").string(why.domain);
  json.key("by").string(to_string(why.by)).key("of").number(why.feasible_domains);
  json.key("value").number(why.value);
  if (!why.runner_up.empty())
    json.key("next").string(why.runner_up).key("next_value").number(why.runner_up_value);
  json.end_object();
}
std::shared_ptr<const WhyDomain> why_domain_from(const Json& json) {
  auto why = std::make_shared<WhyDomain>();
  why->domain = json.at("domain").get<std::string>();
  why->by = must(parse_decided_by(json.at("by").get<std::string>()), "way to decide");
  why->feasible_domains = json.at("of").get<std::int32_t>();
  why->value = json.at("value").get<std::int64_t>();
  why->runner_up = json.value("next", std::string());
  why->runner_up_value = json.value("next_value", std::int64_t{0});
  return why;
}

void write_task(JsonWriter& json, const TaskRecord& task, std::span<const NodeRecord> nodes) {
  json.begin_object().key("phase").string(to_string(task.phase));
  if (task.attempt != 0) json.key("attempt").number(task.attempt);
  if (task.retries != 0) json.key("retries").number(task.retries);
  write_allocation(json, "at", task.allocation, nodes);
  write_allocation(json, "claim", task.claim, nodes);
  write_why(json, task.why, nodes);
  if (task.shed) json.key("shed").boolean(true);
  write_time(json, "not_before", task.not_before);
  write_time(json, "started_at", task.started_at);
  write_time(json, "down_since", task.down_since);
  if (task.exit) {
    json.key("exit").begin_array().number(task.exit->code).number(task.exit->signal);
    json.boolean(task.exit->out_of_memory).boolean(task.exit->lost).end_array();
  }
  json.end_object();
}
TaskRecord task_from(const Json& json, const FindNode& find_node) {
  TaskRecord task;
  task.phase = must(parse_task_phase(json.at("phase").get<std::string>()), "task phase");
  task.attempt = json.value("attempt", 0u);
  task.retries = json.value("retries", 0);
  task.allocation = allocation_from(json, "at", find_node);
  task.claim = allocation_from(json, "claim", find_node);
  task.why = why_from(json, find_node);
  task.shed = json.value("shed", false);
  task.not_before = time_from(json, "not_before");
  task.started_at = time_from(json, "started_at");
  task.down_since = time_from(json, "down_since");
  if (const auto it = json.find("exit"); it != json.end()) {
    task.exit = ExitStatus{it->at(0).get<std::int32_t>(), it->at(1).get<std::int32_t>(),
                           it->at(2).get<bool>(), it->at(3).get<bool>()};
  }
  return task;
}

// [communication, step] in nanoseconds.
void write_estimate(JsonWriter& json, const StepEstimate& estimate) {
  json.begin_array().number(estimate.communication.ns).number(estimate.step.ns).end_array();
}
StepEstimate estimate_from(const Json& json) {
  return {Duration{json.at(0).get<std::int64_t>()}, Duration{json.at(1).get<std::int64_t>()}};
}

void write_expected(JsonWriter& json, const ExpectedCommunication& expected) {
  json.begin_object().key("slowest").string(to_string(expected.slowest));
  write_estimate(json.key("here"), expected.here);
  if (expected.otherwise) write_estimate(json.key("otherwise"), *expected.otherwise);
  json.end_object();
}
ExpectedCommunication expected_from(const Json& json) {
  ExpectedCommunication expected;
  expected.slowest = must(parse_link_kind(json.at("slowest").get<std::string>()), "kind of link");
  expected.here = estimate_from(json.at("here"));
  if (const auto it = json.find("otherwise"); it != json.end())
    expected.otherwise = estimate_from(*it);
  return expected;
}

template <class T>
void write_known(JsonWriter& json, const char* name, const Known<T>& value) {
  if (value.is_known()) json.key(name).number(value.value().value);
}

template <class Quantity>
Known<Quantity> known_from(const Json& json, const char* name) {
  const auto it = json.find(name);
  if (it == json.end()) return Unknown{};
  return Quantity(it->get<std::int64_t>());
}

void write_links(JsonWriter& json, const NodeLinks& links) {
  json.begin_object().key("cards").begin_array();
  for (const NetworkCard& card : links.cards) {
    json.begin_array().string(to_string(card.kind)).number(card.rail);
    json.number(card.bandwidth.value).end_array();
  }
  json.end_array();
  write_known(json, "nvlink", links.nvlink);
  write_known(json, "pcie", links.pcie);
  write_known(json, "numa", links.numa);
  write_known(json, "socket", links.socket);
  write_known(json, "host_network", links.host_network);
  json.end_object();
}
NodeLinks links_from(const Json& json) {
  NodeLinks links;
  for (const Json& card : json.at("cards")) {
    links.cards.push_back({card.at(1).get<std::int32_t>(),
                           must(parse_link_kind(card.at(0).get<std::string>()), "kind of link"),
                           BitsPerSecond(card.at(2).get<std::int64_t>())});
  }
  links.nvlink = known_from<BitsPerSecond>(json, "nvlink");
  links.pcie = known_from<BitsPerSecond>(json, "pcie");
  links.numa = known_from<BitsPerSecond>(json, "numa");
  links.socket = known_from<BitsPerSecond>(json, "socket");
  links.host_network = known_from<BitsPerSecond>(json, "host_network");
  return links;
}

}  // namespace

std::string encode(const Meta& meta) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("schema").number(kSchema).key("epoch").number(meta.epoch);
  json.key("next_job").number(meta.next_job).end_object();
  return out;
}

Result<Meta> decode_meta(std::string_view value) {
  return read<Meta>("live/meta", value, [](const Json& json) -> Meta {
    if (json.at("schema").get<int>() != kSchema)
      throw std::runtime_error("records of schema " + json.at("schema").dump() +
                               ", and this program reads schema 1");
    return {json.at("epoch").get<std::uint64_t>(), json.at("next_job").get<std::uint64_t>()};
  });
}

std::string job_key(JobId id) { return "live/job/" + padded(id.value); }
std::string spec_key(JobId id) { return "live/spec/" + padded(id.value); }
std::string node_key(std::string_view name) { return "live/node/" + std::string(name); }
std::string idempotency_key(std::string_view tenant, std::string_view key) {
  return "live/key/" + std::string(tenant) + "/" + std::string(key);
}
std::string history_key(JobId id) { return "history/job/" + complemented(id.value); }
std::string history_uid_key(std::string_view uid) { return "history/uid/" + std::string(uid); }
std::string history_name_prefix(std::string_view tenant, std::string_view name) {
  return "history/name/" + std::string(tenant) + "/" + std::string(name) + "/";
}
std::string history_name_key(std::string_view tenant, std::string_view name, JobId id) {
  return history_name_prefix(tenant, name) + complemented(id.value);
}

Result<JobId> job_of_key(std::string_view key) {
  const auto number = read_number(key.substr(key.rfind('/') + 1), key);
  if (!number) return number.error();
  return JobId(*number);
}
Result<JobId> job_of_history_key(std::string_view key) {
  const auto number = read_number(key.substr(key.rfind('/') + 1), key);
  if (!number) return number.error();
  return JobId(UINT64_MAX - *number);
}

// No name of a queue has a colon.
std::string usage_key(const UsageRecord& record) {
  return "live/usage/" + record.queue + (record.tenant.empty() ? "" : ":" + record.tenant);
}

std::string encode_usage(const UsageRecord& record) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("since").number(record.since.ns).key("until").number(record.until.ns);
  json.key("held").begin_object();
  for (const UsageRecord::Amount& amount : record.amounts)
    json.key(amount.resource).begin_array().number(amount.mean).number(amount.area).end_array();
  json.end_object().end_object();
  return out;
}

Result<UsageRecord> decode_usage(std::string_view key, std::string_view value) {
  return read<UsageRecord>(key, value, [&](const Json& json) -> UsageRecord {
    UsageRecord record;
    const std::string_view place = key.substr(std::string_view("live/usage/").size());
    const auto colon = place.find(':');
    record.queue = place.substr(0, colon);
    if (colon != std::string_view::npos) record.tenant = place.substr(colon + 1);
    record.since.ns = json.at("since").get<std::int64_t>();
    record.until.ns = json.at("until").get<std::int64_t>();
    for (const auto& [resource, amounts] : json.at("held").items()) {
      record.amounts.push_back(
          {resource, amounts.at(0).get<std::int64_t>(), amounts.at(1).get<std::int64_t>()});
    }
    if (record.until < record.since) throw std::runtime_error("it ends before it begins");
    return record;
  });
}

std::string encode_job(const JobRecord& record, std::span<const NodeRecord> nodes) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("uid").string(record.uid).key("state").string(to_string(record.state));
  if (record.stopping != StopCause::kNone) json.key("stopping").string(to_string(record.stopping));
  if (record.held) json.key("held").boolean(true);
  if (record.repairing) json.key("repairing").boolean(true);
  json.key("submitted_at").number(record.submitted_at.ns);
  json.key("pending_since").number(record.pending_since.ns);
  write_time(json, "started_at", record.started_at);
  write_time(json, "ended_at", record.ended_at);
  json.key("waited").number(record.waited.ns);
  if (record.evictions != 0) json.key("evictions").number(record.evictions);
  write_time(json, "evicted_at", record.evicted_at);
  if (record.evicted_work.ns != 0) json.key("evicted_work").number(record.evicted_work.ns);
  write_time(json, "saved_at", record.saved_at);
  if (record.save_time) json.key("save_time").number(record.save_time->ns);
  if (record.losses != 0 && !GRIDFOLD_PLANTED_BUG(snapshot_misses_field))
    json.key("losses").number(record.losses);
  if (record.runs != 0) json.key("runs").number(record.runs);
  if (record.executed_ns != 0) json.key("executed_ns").number(record.executed_ns);
  if (record.expected_run.ns != 0) json.key("expected_run").number(record.expected_run.ns);
  if (record.array_limit != 0) json.key("array_limit").number(record.array_limit);
  if (record.reservation) write_reservation(json, *record.reservation, nodes);
  if (record.reason) json.key("reason").raw(to_json(*record.reason));
  if (!record.waits_for.empty()) {
    json.key("waits_for").begin_array();
    for (const DependencyRecord& edge : record.waits_for) {
      json.begin_array().number(edge.parent.value).string(to_string(edge.condition)).end_array();
    }
    json.end_array();
  }
  if (record.communication) write_expected(json.key("communication"), *record.communication);
  if (record.why_domain) write_why_domain(json, *record.why_domain);
  json.key("tasks").begin_array();
  for (const TaskRecord& task : record.tasks) write_task(json, task, nodes);
  json.end_array().end_object();
  return out;
}

Result<JobRecord> decode_job(JobId id, std::string_view value, const FindNode& find_node) {
  return read<JobRecord>(job_key(id), value, [&](const Json& json) -> JobRecord {
    JobRecord record;
    record.id = id;
    record.uid = json.at("uid").get<std::string>();
    record.state = must(parse_job_state(json.at("state").get<std::string>()), "job state");
    if (const auto it = json.find("stopping"); it != json.end())
      record.stopping = must(parse_stop_cause(it->get<std::string>()), "stop cause");
    record.held = json.value("held", false);
    record.repairing = json.value("repairing", false);
    record.submitted_at.ns = json.at("submitted_at").get<std::int64_t>();
    record.pending_since.ns = json.at("pending_since").get<std::int64_t>();
    record.started_at = time_from(json, "started_at");
    record.ended_at = time_from(json, "ended_at");
    record.waited.ns = json.at("waited").get<std::int64_t>();
    record.evictions = json.value("evictions", 0);
    record.evicted_at = time_from(json, "evicted_at");
    record.evicted_work.ns = json.value("evicted_work", std::int64_t{0});
    record.saved_at = time_from(json, "saved_at");
    if (const auto it = json.find("save_time"); it != json.end())
      record.save_time = Duration{it->get<std::int64_t>()};
    record.losses = json.value("losses", 0);
    record.runs = json.value("runs", 0);
    record.executed_ns = json.value("executed_ns", std::int64_t{0});
    record.array_limit = json.value("array_limit", 0);
    record.expected_run.ns = json.value("expected_run", std::int64_t{0});
    if (const auto it = json.find("reservation"); it != json.end())
      record.reservation = reservation_from(*it, find_node);
    if (const auto it = json.find("reason"); it != json.end()) record.reason = reason_from(*it);
    if (const auto it = json.find("waits_for"); it != json.end()) {
      for (const Json& edge : *it) {
        record.waits_for.push_back(
            {JobId(edge.at(0).get<std::uint64_t>()),
             must(parse_dependency_condition(edge.at(1).get<std::string>()), "condition")});
      }
    }
    if (const auto it = json.find("communication"); it != json.end())
      record.communication = expected_from(*it);
    if (const auto it = json.find("why_domain"); it != json.end())
      record.why_domain = why_domain_from(*it);
    for (const Json& task : json.at("tasks")) record.tasks.push_back(task_from(task, find_node));
    return record;
  });
}

std::string encode_node(const NodeRecord& record) {
  std::string out;
  JsonWriter json(out);
  const NodeSpec& spec = record.spec;
  json.begin_object().key("number").number(record.id.value);
  json.key("cpu").number(spec.cpu.value).key("memory").number(spec.memory.value);
  json.key("devices").begin_array();
  for (const DeviceSpec& device : spec.devices) {
    json.begin_object().key("class").string(device.device_class).key("model").string(device.model);
    write_known(json, "memory", device.memory);
    if (!device.uid.empty()) json.key("uid").string(device.uid);
    if (device.origin == DeviceOrigin::kEmulated) json.key("emulated").boolean(true);
    if (device.numa >= 0) json.key("numa").number(device.numa);
    if (device.pcie_switch >= 0) json.key("switch").number(device.pcie_switch);
    if (device.island >= 0) json.key("island").number(device.island);
    if (device.card >= 0) json.key("card").number(device.card);
    if (!device.partitions.empty()) write_partitions(json.key("partitions"), device.partitions);
    if (!device.fault.empty()) json.key("fault").string(device.fault);
    json.end_object();
  }
  json.end_array().key("domains").begin_array();
  for (const DomainStep& domain : spec.domains) {
    if (domain.level.empty()) {
      json.string(domain.name);
    } else {
      json.begin_object().key(domain.level).string(domain.name).end_object();
    }
  }
  json.end_array().key("labels").begin_object();
  for (const auto& [name, value] : spec.labels) json.key(name).string(value);
  json.end_object();
  if (spec.links.is_known()) write_links(json.key("links"), *spec.links);
  if (record.drained) json.key("drained").boolean(true);
  if (record.dirty_devices != 0) json.key("dirty_devices").number(record.dirty_devices);
  if (record.reason) json.key("reason").raw(to_json(*record.reason));
  if (!record.pool.empty()) {
    json.key("pool").string(record.pool).key("power").string(to_string(record.power));
    json.key("power_since_ns").number(record.power_since.ns);
    if (record.boot_failures > 0) json.key("boot_failures").number(record.boot_failures);
  }
  json.end_object();
  return out;
}

Result<NodeRecord> decode_node(std::string_view name, std::string_view value) {
  return read<NodeRecord>(node_key(name), value, [&](const Json& json) -> NodeRecord {
    NodeRecord record;
    record.id = NodeId(json.at("number").get<std::uint32_t>());
    record.spec.name = std::string(name);
    record.spec.cpu = MilliCores(json.at("cpu").get<std::int64_t>());
    record.spec.memory = Bytes(json.at("memory").get<std::int64_t>());
    for (const Json& item : json.at("devices")) {
      DeviceSpec device;
      device.device_class = item.at("class").get<std::string>();
      device.model = item.at("model").get<std::string>();
      if (const auto it = item.find("memory"); it != item.end())
        device.memory = Bytes(it->get<std::int64_t>());
      device.uid = item.value("uid", std::string());
      if (item.value("emulated", false)) device.origin = DeviceOrigin::kEmulated;
      device.numa = item.value("numa", -1);
      device.pcie_switch = item.value("switch", -1);
      device.island = item.value("island", -1);
      device.card = item.value("card", -1);
      if (const auto it = item.find("partitions"); it != item.end())
        device.partitions = partitions_from(*it);
      device.fault = item.value("fault", std::string());
      record.spec.devices.push_back(std::move(device));
    }
    for (const Json& domain : json.at("domains")) {
      record.spec.domains.push_back(domain_from(domain));
    }
    record.spec.labels = json.at("labels").get<std::map<std::string, std::string>>();
    if (const auto it = json.find("links"); it != json.end()) record.spec.links = links_from(*it);
    record.drained = json.value("drained", false);
    record.dirty_devices = json.value("dirty_devices", std::uint64_t{0});
    if (const auto it = json.find("reason"); it != json.end()) record.reason = reason_from(*it);
    record.pool = json.value("pool", std::string());
    if (!record.pool.empty()) {
      const auto power = parse_node_power(json.at("power").get<std::string>());
      if (!power) throw std::runtime_error("unknown power state");
      record.power = *power;
      record.power_since = Instant{json.at("power_since_ns").get<std::int64_t>()};
      record.boot_failures = json.value("boot_failures", std::int32_t{0});
    }
    return record;
  });
}

}  // namespace gridfold::records
