#include "api/start_document.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gridfold {
namespace {

// The unit of a change's amounts; empty: it has none.
std::string_view unit_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kTasks: return "tasks";
    case ChangeKind::kDevices: return "devices";
    case ChangeKind::kDeviceShare: return "thousandths";
    case ChangeKind::kDeviceMemory:
    case ChangeKind::kMemory: return "bytes";
    case ChangeKind::kCpu: return "millicores";
    case ChangeKind::kTimeLimit: return "nanoseconds";
    case ChangeKind::kArrayLimit: return "jobs";
    case ChangeKind::kPriority: return "priority";
    case ChangeKind::kRelease:
    case ChangeKind::kDomain:
    case ChangeKind::kPlace:
    case ChangeKind::kModel:
    case ChangeKind::kQueueLimit: break;
  }
  return "";
}

bool is_of_role(ChangeKind kind) {
  return kind != ChangeKind::kRelease && kind != ChangeKind::kDomain &&
         kind != ChangeKind::kTimeLimit && kind != ChangeKind::kArrayLimit && is_owners(kind);
}

bool is_of_devices(ChangeKind kind) {
  return kind == ChangeKind::kDevices || kind == ChangeKind::kDeviceShare ||
         kind == ChangeKind::kDeviceMemory || kind == ChangeKind::kPlace ||
         kind == ChangeKind::kModel;
}

void write_limits_raised(JsonWriter& json, const std::vector<RaisedLimit>& limits) {
  json.key("limits").begin_array();
  for (const RaisedLimit& raised : limits) {
    json.begin_object().key("queue").string(raised.queue.name);
    json.key("resource").string(raised.resource);
    json.key("each_tenant").boolean(raised.each_tenant);
    json.key("from").number(raised.from).key("to").number(raised.to).end_object();
  }
  json.end_array();
}

using Uids = std::unordered_map<JobId, std::string_view>;

void write_change(JsonWriter& json, const StartChange& change, const JobSpec& spec,
                  const Uids& uids) {
  json.begin_object().key("change").string(to_string(change.kind));
  json.key("by").string(is_owners(change.kind) ? "owner" : "operator");
  const Role& role = spec.roles[change.role];
  if (is_of_role(change.kind)) json.key("role").string(role.name);
  if (is_of_devices(change.kind))
    json.key("device_class").string(role.each.devices[change.group].device_class);
  if (const auto unit = unit_of(change.kind); !unit.empty()) {
    json.key("unit").string(unit);
    // A time limit where there was none.
    if (change.kind != ChangeKind::kTimeLimit || change.from > 0)
      json.key("from").number(change.from);
    json.key("to").number(change.to);
  }
  if (!change.from_name.empty()) json.key("from_name").string(change.from_name);
  if (!change.to_name.empty()) json.key("to_name").string(change.to_name);
  if (!change.limits.empty()) write_limits_raised(json, change.limits);
  json.key("size_thousandths").number(change.size);
  if (!change.victims.empty()) {
    json.key("evicts").begin_array();
    for (const JobId victim : change.victims) {
      const auto uid = uids.find(victim);
      if (uid != uids.end()) json.string(uid->second);
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace

void write_start_estimate(JsonWriter& json, const StartEstimates& estimates, JobId job,
                          Instant now) {
  const StartTable* table = estimates.table().get();
  const StartEstimate* estimate = table != nullptr ? table->find(job) : nullptr;
  json.key("start_estimate").begin_object().key("known").boolean(estimate != nullptr);
  if (estimate != nullptr) {
    json.key("as_of").string(to_rfc3339(table->at));
    json.key("age_seconds").real(std::max(now - table->at, Duration{}).in_seconds());
    json.key("revision").number(static_cast<std::int64_t>(table->revision));
    json.key("horizon").string(to_rfc3339(table->horizon));
    json.key("within_horizon").boolean(!estimate->start.is_never());
    if (!estimate->start.is_never()) {
      json.key("start").string(to_rfc3339(estimate->start));
      json.key("from").string(to_rfc3339(estimate->from));
      json.key("until").string(to_rfc3339(estimate->until));
      json.key("band_ratio").real(1 - 2 * StartCalibration::kOutside);
      json.key("learned_starts").number(static_cast<std::int64_t>(table->learned));
    }
  }
  json.end_object();
}

void write_evictions(JsonWriter& json, const Engine& engine, const std::vector<Reason>& reasons) {
  for (const Reason& reason : reasons) {
    const bool leaving = reason.code == ReasonCode::kPreemptionPending;
    if (!leaving && reason.code != ReasonCode::kVictimsSafe) continue;
    std::set<std::string, std::less<>> victims;
    std::string_view rest = reason.text("victims");
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      victims.emplace(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    json.key("evictions").begin_object();
    json.key("when").string(leaving ? "leaving" : "later");
    if (!leaving) json.key("at").string(to_rfc3339(Instant{reason.number("until_ns")}));
    json.key("victims").begin_array();
    for (const JobRecord* job : engine.jobs()) {
      if (!victims.contains(job->uid)) continue;
      json.begin_object().key("id").string(job->uid);
      json.key("number").number(static_cast<std::int64_t>(job->id.value));
      json.key("name").string(job->spec->name);
      json.key("class").string(to_string(job->spec->workload_class));
      json.key("priority").number(job->spec->priority).end_object();
    }
    json.end_array().end_object();
    return;
  }
}

void write_changes(JsonWriter& json, const ChangeAnswer& answer, const JobSpec& spec, Instant now) {
  Uids uids;
  for (const StartChange& change : answer.changes) {
    for (const JobId victim : change.victims) uids[victim] = {};
  }
  for (const JobRecord& job : answer.snapshot->jobs) {
    if (const auto it = uids.find(job.id); it != uids.end()) it->second = job.uid;
  }
  json.key("changes").begin_object();
  json.key("as_of").string(to_rfc3339(answer.snapshot->at));
  json.key("age_seconds").real(std::max(now - answer.snapshot->at, Duration{}).in_seconds());
  json.key("list").begin_array();
  for (const StartChange& change : answer.changes) write_change(json, change, spec, uids);
  json.end_array().end_object();
}

}  // namespace gridfold
