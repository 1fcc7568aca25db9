#include "doctor/diagnosis_json.h"

#include <cmath>

namespace gridfold {
namespace {

// To the millionth of an hour.
double hours(DeviceTime time) { return std::round(device_hours(time) * 1e6) / 1e6; }

void write_balance(JsonWriter& json, const DayBalance& balance) {
  json.begin_object();
  json.key("supplied").real(hours(balance.supplied));
  json.key("busy").real(hours(balance.busy));
  json.key("unused").real(hours(balance.unused));
  json.key("input_wait").real(hours(balance.input));
  json.key("network_wait").real(hours(balance.network));
  json.key("thrown_away").real(hours(balance.thrown_away));
  json.key("idle_wanted").real(hours(balance.idle_wanted));
  json.key("idle_free").real(hours(balance.idle_free));
  json.key("silent").real(hours(balance.silent));
  json.key("unmet_demand").real(hours(balance.unmet));
  json.end_object();
}

// What a text of the fix in another language needs.
struct Params {
  JsonWriter& json;

  void operator()(const ChangeJobs& change) const {
    if (change.amount > 0) json.key("step_share_millionths").number(change.amount);
  }
  void operator()(const RaiseQueueLimit& raised) const {
    json.key("queue").string(raised.queue).key("resource").string(raised.resource);
    json.key("limit_thousandths").number(raised.amount.bound());
  }
  void operator()(const UndrainNode& fix) const { json.key("node").string(fix.node); }
  void operator()(const RepairNode& fix) const { json.key("node").string(fix.node); }
  void operator()(const PlanBy& plan) const {
    json.key("backfill").string(to_string(plan.mode));
    json.key("run_times").string(plan.learned_run_times ? "learned" : "limits");
  }
  void operator()(const MoveJobs&) const {}
  void operator()(const BuyNodes& bought) const {
    json.key("like").string(bought.like).key("count").number(bought.count);
  }
};

void write_fix(JsonWriter& json, const Fix& fix) {
  json.begin_object().key("kind").string(kind_of(fix));
  json.key("command").string(command_of(fix));
  json.key("params").begin_object();
  std::visit(Params{json}, fix);
  json.end_object();
  if (const auto* change = std::get_if<ChangeJobs>(&fix)) {
    json.key("jobs").number(change->jobs).key("names").begin_array();
    for (const std::string& name : change->names) json.string(name);
    json.end_array();
  }
  json.end_object();
}

void write_finding(JsonWriter& json, const Finding& finding, DeviceTime supplied) {
  json.begin_object().key("cause").string(to_string(finding.cause));
  json.key("given_back_device_hours").real(hours(finding.given_back));
  const double ratio = static_cast<double>(finding.given_back) / static_cast<double>(supplied);
  json.key("given_back_ratio").real(std::round(ratio * 1e6) / 1e6);
  json.key("seen_device_hours").real(hours(finding.seen));
  json.key("fixes").begin_array();
  for (const Fix& fix : finding.fixes) write_fix(json, fix);
  json.end_array().end_object();
}

}  // namespace

void write_diagnosis(JsonWriter& json, const DoctorReport& diagnosis) {
  json.begin_object();
  json.key("since").string(to_rfc3339(diagnosis.from));
  json.key("until").string(to_rfc3339(diagnosis.to));
  json.key("jobs").number(diagnosis.jobs);
  json.key("guessed_jobs").number(diagnosis.guessed);
  json.key("complete").boolean(diagnosis.complete);
  json.key("device_hours");
  write_balance(json, diagnosis.balance);
  json.key("recoverable_device_hours").real(hours(diagnosis.together));
  json.key("healthy").boolean(diagnosis.healthy());
  json.key("findings").begin_array();
  for (const Finding& finding : diagnosis.findings)
    write_finding(json, finding, diagnosis.balance.supplied);
  json.end_array().end_object();
}

}  // namespace gridfold
