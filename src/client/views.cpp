#include "client/views.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace gridfold {
namespace {

// Keeps the order of the API's keys, so that printed documents look alike.
using Json = nlohmann::ordered_json;

template <class T>
T get(const Json& object, const char* key, T fallback = {}) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? fallback : it->template get<T>();
}

Instant get_time(const Json& object, const char* key) {
  const auto text = get<std::string>(object, key);
  const auto time = parse_rfc3339(text);
  return time ? *time : Instant::never();
}

const Json& list(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto it = object.find(key);
  return it == object.end() ? kNone : *it;
}

// Numbers and texts of "params".
std::vector<Reason::Param> get_params(const Json& json) {
  std::vector<Reason::Param> read;
  const auto params = json.find("params");
  if (params == json.end()) return read;
  for (const auto& [name, value] : params->items()) {
    if (value.is_number_integer())
      read.emplace_back(name, value.get<std::int64_t>());
    else
      read.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return read;
}

ReasonView to_reason(const Json& json) {
  ReasonView reason;
  reason.code = get<std::string>(json, "code");
  reason.params = get_params(json);
  return reason;
}

std::optional<ReasonView> get_reason(const Json& object) {
  const auto it = object.find("reason");
  if (it == object.end()) return std::nullopt;
  return to_reason(*it);
}

TaskView to_task(const Json& json) {
  TaskView task;
  task.index = get<std::uint32_t>(json, "index");
  task.role = get<std::string>(json, "role");
  task.phase = get<std::string>(json, "phase");
  task.node = get<std::string>(json, "node");
  task.attempt = get<std::uint32_t>(json, "attempt");
  for (const auto& device : list(json, "devices")) {
    task.devices.push_back(get<std::int64_t>(device, "index"));
    task.emulated |= get<bool>(device, "emulated");
  }
  if (const auto exit = json.find("exit"); exit != json.end()) {
    task.has_exit = true;
    task.exit_code = get<std::int32_t>(*exit, "code");
    task.exit_signal = get<std::int32_t>(*exit, "signal");
    task.out_of_memory = get<bool>(*exit, "out_of_memory");
    task.lost = get<bool>(*exit, "lost");
  }
  return task;
}

DeviceCountView to_device_count(const Json& json) {
  return {get<std::string>(json, "class"), get<std::string>(json, "model"),
          get<bool>(json, "emulated"), get<std::int64_t>(json, "count")};
}

JobView to_job(const Json& json) {
  JobView job;
  job.id = json.at("id").get<std::string>();
  job.state = json.at("state").get<std::string>();
  job.name = get<std::string>(json, "name");
  job.tenant = get<std::string>(json, "tenant");
  job.queue = get<std::string>(json, "queue");
  job.workload_class = get<std::string>(json, "class");
  job.number = get<std::uint64_t>(json, "number");
  job.priority = get<std::int32_t>(json, "priority");
  if (const auto it = json.find("class_from"); it != json.end()) {
    job.class_from = {get<std::string>(*it, "rule"), get<std::int64_t>(*it, "tasks"),
                      get<std::int64_t>(*it, "devices"), get<std::int64_t>(*it, "ports"),
                      get<bool>(*it, "elastic")};
  }
  if (const auto it = json.find("array"); it != json.end()) {
    job.array_index = get<std::int64_t>(*it, "index");
    job.array_limit = get<std::int64_t>(*it, "limit");
  }
  job.reason = get_reason(json);
  job.submitted_at = get_time(json, "submitted_at");
  job.started_at = get_time(json, "started_at");
  job.ended_at = get_time(json, "ended_at");
  job.waited_seconds = get<double>(json, "waited_seconds");
  job.evictions = get<std::int32_t>(json, "evictions");
  job.runs = get<std::int32_t>(json, "runs");
  job.tasks_total = get<std::int64_t>(json, "tasks_total");
  job.tasks_running = get<std::int64_t>(json, "tasks_running");
  job.nodes = get<std::vector<std::string>>(json, "nodes");
  for (const auto& device : list(json, "devices")) job.devices.push_back(to_device_count(device));
  for (const auto& task : list(json, "tasks")) job.tasks.push_back(to_task(task));
  job.json = json.dump();
  return job;
}

NodeDeviceView to_node_device(const Json& json) {
  NodeDeviceView device;
  device.index = get<std::int64_t>(json, "index");
  device.device_class = get<std::string>(json, "class");
  device.model = get<std::string>(json, "model");
  device.emulated = get<bool>(json, "emulated");
  device.quarantined = get<bool>(json, "quarantined");
  device.free_share_thousandths = get<std::int64_t>(json, "free_share_thousandths");
  return device;
}

NodeTaskView to_node_task(const Json& json) {
  return {get<std::string>(json, "job"),   get<std::string>(json, "name"),
          get<std::string>(json, "class"), get<std::string>(json, "phase"),
          get<std::int64_t>(json, "task"), get<std::vector<std::int64_t>>(json, "devices")};
}

NodeView to_node(const Json& json) {
  NodeView node;
  node.name = json.at("name").get<std::string>();
  node.up = get<bool>(json, "up");
  node.drained = get<bool>(json, "drained");
  node.reason = get_reason(json);
  node.cpu_millicores = get<std::int64_t>(json, "cpu_millicores");
  node.free_cpu_millicores = get<std::int64_t>(json, "free_cpu_millicores");
  node.memory_bytes = get<std::int64_t>(json, "memory_bytes");
  node.free_memory_bytes = get<std::int64_t>(json, "free_memory_bytes");
  for (const auto& device : list(json, "devices")) node.devices.push_back(to_node_device(device));
  for (const auto& task : list(json, "tasks")) node.tasks.push_back(to_node_task(task));
  node.json = json.dump();
  return node;
}

// A limit: its number as text, or "unlimited".
std::string get_limit(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) return "unlimited";
  return it->is_string() ? it->get<std::string>() : it->dump();
}

std::vector<UnknownDevice> get_unknown_devices(const Json& json) {
  std::vector<UnknownDevice> unknown;
  for (const auto& device : list(json, "unknown_devices"))
    unknown.push_back({get<std::string>(device, "queue"), get<std::string>(device, "device"),
                       get<std::string>(device, "nearest")});
  return unknown;
}

QueueView to_queue(const Json& json) {
  QueueView queue;
  queue.name = json.at("name").get<std::string>();
  queue.priority = get<std::int32_t>(json, "priority");
  queue.open = get<bool>(json, "open", true);
  if (const auto share = json.find("share_millionths"); share != json.end())
    queue.share_millionths = share->get<std::int64_t>();
  queue.running_jobs = get<std::int64_t>(json, "running_jobs");
  queue.pending_jobs = get<std::int64_t>(json, "pending_jobs");
  queue.limit_cpu_millicores = get_limit(json, "limit_cpu_millicores");
  queue.limit_memory_bytes = get_limit(json, "limit_memory_bytes");
  queue.used_cpu_millicores = get<std::int64_t>(json, "used_cpu_millicores");
  queue.used_memory_bytes = get<std::int64_t>(json, "used_memory_bytes");
  for (const auto& device : list(json, "devices"))
    queue.devices.push_back({get<std::string>(device, "class"),
                             get_limit(device, "limit_thousandths"),
                             get<std::int64_t>(device, "used_thousandths")});
  queue.unknown_devices = get_unknown_devices(json);
  queue.json = json.dump();
  return queue;
}

std::vector<std::pair<std::string, std::int64_t>> get_counts(const Json& json, const char* key) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const auto& [name, value] : list(json, key).items())
    counts.emplace_back(name, value.get<std::int64_t>());
  return counts;
}

EffectiveView to_effective(const Json& json) {
  EffectiveView view;
  view.supplied = json.at("supplied_device_hours").get<double>();
  view.pooled = json.at("pooled_device_hours").get<double>();
  view.allocated = json.at("allocated_device_hours").get<double>();
  view.useful = json.at("useful_device_hours").get<double>();
  view.in_progress = json.at("in_progress_device_hours").get<double>();
  if (const auto busy = json.find("busy_device_hours"); busy != json.end() && !busy->is_null())
    view.busy = busy->get<double>();
  for (const auto& [group, causes] : json.at("losses_device_hours").items()) {
    EffectiveView::Losses losses{group, {}};
    for (const auto& [cause, hours] : causes.items())
      losses.causes.emplace_back(cause, hours.get<double>());
    view.losses.push_back(std::move(losses));
  }
  return view;
}

EffectiveReportView to_effective_report(const Json& json) {
  EffectiveReportView report;
  report.since = get_time(json, "since");
  report.until = get_time(json, "until");
  for (const auto& one : json.at("classes"))
    report.classes.push_back({one.at("class").get<std::string>(), get<bool>(one, "emulated"),
                              to_effective(one.at("effective"))});
  report.json = json.dump();
  return report;
}

DiagnosisView::Finding to_finding(const Json& json) {
  DiagnosisView::Finding finding;
  finding.cause = json.at("cause").get<std::string>();
  finding.given_back = json.at("given_back_device_hours").get<double>();
  finding.ratio = json.at("given_back_ratio").get<double>();
  finding.seen = json.at("seen_device_hours").get<double>();
  for (const auto& one : json.at("fixes")) {
    DiagnosisView::Fix fix{one.at("kind").get<std::string>(),
                           one.at("command").get<std::string>(),
                           get_params(one),
                           one.value("jobs", 0),
                           {}};
    for (const auto& name : one.value("names", Json::array()))
      fix.names.push_back(name.get<std::string>());
    finding.fixes.push_back(std::move(fix));
  }
  return finding;
}

DiagnosisView to_diagnosis(const Json& json) {
  DiagnosisView view;
  view.since = get_time(json, "since");
  view.until = get_time(json, "until");
  view.jobs = json.at("jobs").get<std::int64_t>();
  view.guessed_jobs = json.at("guessed_jobs").get<std::int64_t>();
  view.complete = json.at("complete").get<bool>();
  for (const auto& [what, hours] : json.at("device_hours").items())
    view.device_hours.emplace_back(what, hours.get<double>());
  view.recoverable = json.at("recoverable_device_hours").get<double>();
  for (const auto& one : json.at("findings")) view.findings.push_back(to_finding(one));
  view.json = json.dump();
  return view;
}

SummaryView to_summary(const Json& json) {
  SummaryView summary;
  const auto& nodes = json.at("nodes");
  summary.nodes_total = get<std::int64_t>(nodes, "total");
  summary.nodes_up = get<std::int64_t>(nodes, "up");
  summary.nodes_drained = get<std::int64_t>(nodes, "drained");
  summary.read_only = get<bool>(json, "read_only");
  summary.cpu_millicores = get<std::int64_t>(json, "cpu_millicores");
  summary.free_cpu_millicores = get<std::int64_t>(json, "free_cpu_millicores");
  summary.memory_bytes = get<std::int64_t>(json, "memory_bytes");
  summary.free_memory_bytes = get<std::int64_t>(json, "free_memory_bytes");
  for (const auto& device : list(json, "devices"))
    summary.devices.push_back({get<std::string>(device, "class"), get<std::string>(device, "model"),
                               get<bool>(device, "emulated"), get<std::int64_t>(device, "total"),
                               get<std::int64_t>(device, "unusable"),
                               get<std::int64_t>(device, "allocated_thousandths")});
  summary.jobs_by_state = get_counts(json, "jobs_by_state");
  summary.jobs_by_class = get_counts(json, "jobs_by_class");
  summary.json = json.dump();
  return summary;
}

SubmittedView to_submitted(const Json& json) {
  SubmittedView submitted;
  for (const auto& job : json.at("jobs"))
    submitted.jobs.push_back({job.at("id").get<std::string>(), get<std::string>(job, "name"),
                              get<std::uint64_t>(job, "number"), job.dump()});
  submitted.repeated = get<bool>(json, "repeated");
  submitted.json = json.dump();
  return submitted;
}

PlacementView to_placement(const Json& json) {
  PlacementView placement;
  placement.decided_at = get_time(json, "decided_at");
  if (const auto it = json.find("domain"); it != json.end()) {
    DomainChoiceView domain;
    domain.domain = get<std::string>(*it, "domain");
    domain.decided_by = get<std::string>(*it, "decided_by");
    domain.feasible_domains = get<std::int64_t>(*it, "feasible_domains");
    domain.value = get<std::int64_t>(*it, "value");
    if (const auto next = it->find("runner_up"); next != it->end()) {
      domain.runner_up = get<std::string>(*next, "domain");
      domain.runner_up_value = get<std::int64_t>(*next, "value");
    }
    placement.domain = std::move(domain);
  }
  for (const auto& entry : list(json, "tasks")) {
    NodeChoiceView task;
    task.task = get<std::uint32_t>(entry, "index");
    task.node = get<std::string>(entry, "node");
    task.decided_by = get<std::string>(entry, "decided_by");
    task.feasible_nodes = get<std::int64_t>(entry, "feasible_nodes");
    task.score = get<std::int64_t>(entry, "score");
    if (const auto next = entry.find("runner_up"); next != entry.end()) {
      task.runner_up = get<std::string>(*next, "node");
      task.runner_up_score = get<std::int64_t>(*next, "score");
    }
    placement.tasks.push_back(std::move(task));
  }
  return placement;
}

CommunicationView to_communication(const Json& json) {
  const auto step = [](const Json& entry) {
    return StepView{get<double>(entry, "communication_seconds"),
                    get<double>(entry, "step_seconds")};
  };
  CommunicationView communication;
  if (!get<bool>(json, "known")) return communication;
  communication.here = step(json);
  communication.slowest_link = get<std::string>(json, "slowest_link");
  if (const auto it = json.find("best_other"); it != json.end())
    communication.best_other = step(*it);
  return communication;
}

StartEstimateView to_start_estimate(const Json& json) {
  StartEstimateView start;
  start.as_of = get_time(json, "as_of");
  start.horizon = get_time(json, "horizon");
  start.start = get_time(json, "start");
  start.from = get_time(json, "from");
  start.until = get_time(json, "until");
  start.band_ratio = get<double>(json, "band_ratio");
  start.learned_starts = get<std::int64_t>(json, "learned_starts");
  return start;
}

StartChangeView to_start_change(const Json& json) {
  StartChangeView change;
  change.change = get<std::string>(json, "change");
  change.by = get<std::string>(json, "by");
  change.role = get<std::string>(json, "role");
  change.device_class = get<std::string>(json, "device_class");
  change.unit = get<std::string>(json, "unit");
  change.from_name = get<std::string>(json, "from_name");
  change.to_name = get<std::string>(json, "to_name");
  if (json.contains("from")) change.from = get<std::int64_t>(json, "from");
  change.to = get<std::int64_t>(json, "to");
  for (const auto& limit : list(json, "limits"))
    change.limits.push_back({get<std::string>(limit, "queue"), get<std::string>(limit, "resource"),
                             get<std::int64_t>(limit, "from"), get<std::int64_t>(limit, "to")});
  for (const auto& victim : list(json, "evicts"))
    change.evicts.push_back(victim.get<std::string>());
  return change;
}

EvictionsView to_evictions(const Json& json) {
  EvictionsView evictions{get<std::string>(json, "when"), get_time(json, "at"), {}};
  for (const auto& victim : list(json, "victims"))
    evictions.names.push_back(get<std::string>(victim, "name") + " (" +
                              std::to_string(get<std::int64_t>(victim, "number")) + ")");
  return evictions;
}

// What is said of the start of a job that waits.
void add_start(const Json& json, ExplainView& explain) {
  if (const auto it = json.find("evictions"); it != json.end())
    explain.evictions = to_evictions(*it);
  if (const auto it = json.find("start_estimate"); it != json.end()) {
    explain.estimates_starts = true;
    if (get<bool>(*it, "known")) explain.start = to_start_estimate(*it);
  }
  if (const auto it = json.find("changes"); it != json.end()) {
    auto& changes = explain.changes.emplace();
    for (const auto& change : list(*it, "list")) changes.push_back(to_start_change(change));
  }
}

Duration get_seconds(const Json& object, const char* key) {
  return {std::llround(get<double>(object, key) * 1e9)};
}

WhatIfSideView to_what_if_side(const Json& json) {
  WhatIfSideView side;
  side.complete = get<bool>(json, "complete");
  side.starting_jobs = get<std::int64_t>(json, "starting_jobs");
  side.mean_wait = get_seconds(json, "mean_wait_seconds");
  side.p95_wait = get_seconds(json, "p95_wait_seconds");
  side.devices_thousandths = get<std::int64_t>(json, "devices_thousandths");
  if (json.contains("utilisation_ratio")) side.utilisation = get<double>(json, "utilisation_ratio");
  for (const auto& job : list(json, "evictions"))
    side.evicted.push_back(get<std::string>(job, "name"));
  return side;
}

WhatIfView to_what_if(const Json& json) {
  WhatIfView answer;
  answer.age = get_seconds(json, "age_seconds");
  answer.horizon = get_seconds(json, "horizon_seconds");
  answer.waiting_jobs = get<std::int64_t>(json, "waiting_jobs");
  answer.now = to_what_if_side(json.at("now"));
  answer.changed = to_what_if_side(json.at("changed"));
  for (const auto& job : list(json, "submitted")) {
    auto& submitted = answer.submitted.emplace_back();
    submitted.name = get<std::string>(job, "name");
    if (get<bool>(job, "within_horizon")) submitted.wait = get_seconds(job, "wait_seconds");
  }
  return answer;
}

ExplainView to_explain(const Json& json) {
  ExplainView explain;
  explain.job = to_job(json.at("job"));
  for (const auto& entry : json.at("reasons")) {
    auto reason = to_reason(entry.at("reason"));
    reason.never = get<bool>(entry, "never");
    explain.reasons.push_back(std::move(reason));
  }
  if (const auto it = json.find("communication"); it != json.end())
    explain.communication = to_communication(*it);
  for (const auto& entry : list(json, "limits")) {
    RoleLimitsView& role = explain.limits.emplace_back();
    role.role = get<std::string>(entry, "role");
    role.nodes = get<std::int64_t>(entry, "nodes");
    for (const auto& count : list(entry, "counts"))
      role.counts.push_back({get<std::string>(count, "limit"), get<std::string>(count, "resource"),
                             get<std::string>(count, "wish"), get<std::int64_t>(count, "nodes")});
  }
  if (const auto it = json.find("placement"); it != json.end())
    explain.placement = to_placement(*it);
  add_start(json, explain);
  explain.json = json.dump();
  return explain;
}

// nlohmann's exceptions end here.
template <class View, class Convert>
Result<View> read(const std::string& text, Convert convert) {
  try {
    return convert(Json::parse(text));
  } catch (const Json::exception& trouble) {
    Error error = corrupt(std::string("the daemon's answer is not understood: ") + trouble.what());
    error.hint = "compare the versions: gridfold version";
    return error;
  }
}

ErrorKind kind_of(int status) {
  switch (status) {
    case 401:
    case 403: return ErrorKind::kUnauthorised;
    case 404: return ErrorKind::kNotFound;
    case 409: return ErrorKind::kConflict;
    case 413:
    case 431: return ErrorKind::kLimit;
    case 408:
    case 429:
    case 503: return ErrorKind::kUnavailable;
    case 422: return ErrorKind::kInfeasible;
    default: return status >= 400 && status < 500 ? ErrorKind::kInvalid : ErrorKind::kInternal;
  }
}

}  // namespace

Result<JobView> read_job(const std::string& json) { return read<JobView>(json, to_job); }

Result<JobPage> read_job_page(const std::string& json) {
  return read<JobPage>(json, [](const Json& document) {
    JobPage page;
    for (const auto& job : document.at("jobs")) page.jobs.push_back(to_job(job));
    page.next_page_token = get<std::string>(document, "next_page_token");
    return page;
  });
}

Result<SubmittedView> read_submitted(const std::string& json) {
  return read<SubmittedView>(json, to_submitted);
}

Result<ExplainView> read_explain(const std::string& json) {
  return read<ExplainView>(json, to_explain);
}

Result<NodeView> read_node(const std::string& json) { return read<NodeView>(json, to_node); }

Result<NodeList> read_nodes(const std::string& json) {
  return read<NodeList>(json, [](const Json& document) {
    NodeList nodes;
    for (const auto& node : document.at("nodes")) nodes.nodes.push_back(to_node(node));
    return nodes;
  });
}

Result<QueueList> read_queues(const std::string& json) {
  return read<QueueList>(json, [](const Json& document) {
    QueueList queues;
    for (const auto& queue : document.at("queues")) queues.queues.push_back(to_queue(queue));
    return queues;
  });
}

Result<ReloadView> read_reload(const std::string& json) {
  return read<ReloadView>(json, [](const Json& document) -> ReloadView {
    return {document.at("changed").get<std::vector<std::string>>(), get_unknown_devices(document)};
  });
}

Result<WhatIfView> read_what_if(const std::string& json) {
  return read<WhatIfView>(json, to_what_if);
}

Result<SummaryView> read_summary(const std::string& json) {
  return read<SummaryView>(json, to_summary);
}

Result<DiagnosisView> read_diagnosis(const std::string& json) {
  return read<DiagnosisView>(json, to_diagnosis);
}

double DiagnosisView::hours(std::string_view what) const {
  for (const auto& [name, amount] : device_hours) {
    if (name == what) return amount;
  }
  return 0;
}

Result<EffectiveReportView> read_effective_report(const std::string& json) {
  return read<EffectiveReportView>(json, to_effective_report);
}

Result<std::string> read_version(const std::string& json) {
  return read<std::string>(
      json, [](const Json& document) { return document.at("version").get<std::string>(); });
}

Error read_problem(int status, const std::string& body) {
  Error error{kind_of(status), "the daemon answered with status " + std::to_string(status)};
  const auto document = Json::parse(body, nullptr, false);
  if (!document.is_object()) return error;
  try {
    error.message = get<std::string>(document, "detail", error.message);
    error.field = get<std::string>(document, "field");
    error.hint = get<std::string>(document, "hint");
    error.position = {get<int>(document, "line"), get<int>(document, "column")};
    const auto code = get<std::string>(document, "code");
    const auto request_id = get<std::string>(document, "request_id");
    if (!code.empty()) error.message += " [" + code;
    if (!code.empty() && !request_id.empty()) error.message += ", request " + request_id;
    if (!code.empty()) error.message += "]";
  } catch (const Json::exception&) {
    return error;  // as far as it was understood
  }
  return error;
}

}  // namespace gridfold
