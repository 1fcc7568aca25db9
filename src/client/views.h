// The API's answers as a client sees them. `json` is the document they were
// read from, whole; unknown fields in it are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/reason.h"
#include "model/unknown_devices.h"

namespace gridfold {

// Devices of one kind that a job holds.
struct DeviceCountView {
  std::string device_class, model;
  bool emulated = false;
  std::int64_t count = 0;
};

struct TaskView {
  std::uint32_t index = 0;
  std::string role, phase, node;
  std::uint32_t attempt = 0;
  std::vector<std::int64_t> devices;  // indices on the node
  bool emulated = false;              // any of them
  bool has_exit = false;
  std::int32_t exit_code = 0;
  std::int32_t exit_signal = 0;
  bool out_of_memory = false;
  bool lost = false;
};

// A reason whose code this program may not know.
struct ReasonView {
  std::string code;
  std::vector<Reason::Param> params;
  bool never = false;
};

// By which features a job's class was chosen. `rule` may be a word that this
// program does not know.
struct ClassFromView {
  std::string rule;
  std::int64_t tasks = 0, devices = 0, ports = 0;
  bool elastic = false;
};

struct JobView {
  std::string id, name, tenant, queue, workload_class, state;
  std::uint64_t number = 0;
  std::int32_t priority = 0;
  std::optional<ClassFromView> class_from;  // none: its user chose it
  std::optional<std::int64_t> array_index;
  std::int64_t array_limit = 0;  // 0: none
  std::optional<ReasonView> reason;
  Instant submitted_at = Instant::never();
  Instant started_at = Instant::never();
  Instant ended_at = Instant::never();
  double waited_seconds = 0;
  std::int32_t evictions = 0;
  std::int32_t runs = 0;
  std::int64_t tasks_total = 0;
  std::int64_t tasks_running = 0;
  std::vector<std::string> nodes;
  std::vector<DeviceCountView> devices;
  std::vector<TaskView> tasks;  // of one job, not of lists
  std::string json;

  bool has_ended() const {
    return state == "succeeded" || state == "failed" || state == "cancelled";
  }
};

struct JobPage {
  std::vector<JobView> jobs;
  std::string next_page_token;  // empty: the last page
};

struct SubmittedJobView {
  std::string id, name;
  std::uint64_t number = 0;
  std::string json;
};
struct SubmittedView {
  std::vector<SubmittedJobView> jobs;
  bool repeated = false;  // the key was known: these were submitted before
  std::string json;
};

// Why a gang lies in its domain, as of its launch. `decided_by` may be a word
// that this program does not know.
struct DomainChoiceView {
  std::string domain, decided_by, runner_up;
  std::int64_t feasible_domains = 0;
  std::int64_t value = 0, runner_up_value = 0;
};
struct NodeChoiceView {
  std::uint32_t task = 0;
  std::string node, decided_by, runner_up;
  std::int64_t feasible_nodes = 0;
  std::int64_t score = 0, runner_up_score = 0;
};
struct PlacementView {
  Instant decided_at = Instant::never();
  std::optional<DomainChoiceView> domain;
  std::vector<NodeChoiceView> tasks;
};

// Of one step.
struct StepView {
  double communication_seconds = 0;
  double step_seconds = 0;
};
// What a placed job's exchanges are expected to take; `here` is empty where the
// links of its nodes are not known.
struct CommunicationView {
  std::optional<StepView> here, best_other;
  std::string slowest_link;
};

// On so many nodes this limit keeps a role's tasks off; of all nodes, each once.
struct LimitCountView {
  std::string limit, resource, wish;
  std::int64_t nodes = 0;
};
struct RoleLimitsView {
  std::string role;
  std::int64_t nodes = 0;
  std::vector<LimitCountView> counts;
};

// When a waiting job is expected to start, as of a table of estimates.
struct StartEstimateView {
  Instant as_of = Instant::never();
  Instant horizon = Instant::never();
  // never(): not within the horizon.
  Instant start = Instant::never();
  Instant from = Instant::never();
  Instant until = Instant::never();
  double band_ratio = 0;
  std::int64_t learned_starts = 0;
};
// One change that would let it start now; `change` and `unit` may be words that
// this program does not know.
struct StartChangeView {
  std::string change, by, role, device_class, unit, from_name, to_name;
  std::optional<std::int64_t> from;
  std::int64_t to = 0;
  struct Limit {
    std::string queue, resource;
    std::int64_t from = 0, to = 0;
  };
  std::vector<Limit> limits;
  std::vector<std::string> evicts;  // ids of jobs
};
struct EvictionsView {
  std::string when;  // "leaving", "later"
  Instant at = Instant::never();
  std::vector<std::string> names;
};

struct ExplainView {
  JobView job;
  std::vector<ReasonView> reasons;
  std::optional<CommunicationView> communication;
  std::vector<RoleLimitsView> limits;
  std::optional<PlacementView> placement;
  std::optional<EvictionsView> evictions;
  bool estimates_starts = false;  // the daemon does; `start` is empty until it has this job's
  std::optional<StartEstimateView> start;
  std::optional<std::vector<StartChangeView>> changes;  // empty: none was looked for
  std::string json;
};

struct NodeDeviceView {
  std::int64_t index = 0;
  std::string device_class, model;
  bool emulated = false;
  bool quarantined = false;
  std::int64_t free_share_thousandths = 0;
};
struct NodeTaskView {
  std::string job, name, workload_class, phase;
  std::int64_t task = 0;
  std::vector<std::int64_t> devices;
};
struct NodeView {
  std::string name;
  bool up = false;
  bool drained = false;
  std::optional<ReasonView> reason;
  std::int64_t cpu_millicores = 0, free_cpu_millicores = 0;
  std::int64_t memory_bytes = 0, free_memory_bytes = 0;
  std::vector<NodeDeviceView> devices;
  std::vector<NodeTaskView> tasks;
  std::string json;
};
struct NodeList {
  std::vector<NodeView> nodes;
};

struct QueueDeviceView {
  std::string device_class;
  std::string limit;  // thousandths, or "unlimited"
  std::int64_t used_thousandths = 0;
};
struct QueueView {
  std::string name;
  std::int32_t priority = 0;
  bool open = true;
  std::optional<std::int64_t> share_millionths;  // where queues take turns
  std::int64_t running_jobs = 0, pending_jobs = 0;
  std::string limit_cpu_millicores, limit_memory_bytes;  // or "unlimited"
  std::int64_t used_cpu_millicores = 0, used_memory_bytes = 0;
  std::vector<QueueDeviceView> devices;
  std::vector<UnknownDevice> unknown_devices;
  std::string json;
};
// What a daemon has taken over of its file.
struct ReloadView {
  std::vector<std::string> changed;
  std::vector<UnknownDevice> unknown_devices;
};

struct QueueList {
  std::vector<QueueView> queues;
};

struct WhatIfSideView {
  bool complete = false;  // it reached the horizon that was asked for
  std::int64_t starting_jobs = 0;
  Duration mean_wait{}, p95_wait{};
  std::int64_t devices_thousandths = 0;
  std::optional<double> utilisation;  // 0 to 1; empty without devices
  std::vector<std::string> evicted;   // names; one may be there again
};
struct WhatIfView {
  Duration age{}, horizon{};
  std::int64_t waiting_jobs = 0;
  WhatIfSideView now, changed;
  struct Submitted {
    std::string name;
    std::optional<Duration> wait;  // empty: it does not start within the horizon
  };
  std::vector<Submitted> submitted;
  std::string json;
};

struct DeviceSumView {
  std::string device_class, model;
  bool emulated = false;
  std::int64_t total = 0, unusable = 0, allocated_thousandths = 0;
};
struct SummaryView {
  bool read_only = false;
  std::int64_t nodes_total = 0, nodes_up = 0, nodes_drained = 0;
  std::int64_t cpu_millicores = 0, free_cpu_millicores = 0;
  std::int64_t memory_bytes = 0, free_memory_bytes = 0;
  std::vector<DeviceSumView> devices;
  std::vector<std::pair<std::string, std::int64_t>> jobs_by_state, jobs_by_class;
  std::string json;
};

// Device-hours; see docs/simulation.md for what each is.
struct EffectiveView {
  double supplied = 0, pooled = 0, allocated = 0, useful = 0, in_progress = 0;
  std::optional<double> busy;  // empty: nothing tells
  // By group ("idle"), of each its causes ("no_demand").
  struct Losses {
    std::string group;
    std::vector<std::pair<std::string, double>> causes;
  };
  std::vector<Losses> losses;
};
struct EffectiveReportView {
  Instant since = Instant::never();
  Instant until = Instant::never();
  struct OfClass {
    std::string device_class;
    bool emulated = false;  // any of its devices
    EffectiveView effective;
  };
  std::vector<OfClass> classes;
  std::string json;
};

struct DiagnosisView {
  Instant since = Instant::never();
  Instant until = Instant::never();
  std::int64_t jobs = 0;
  std::int64_t guessed_jobs = 0;
  bool complete = true;
  // Of all devices, by what they did: "supplied", "busy", …
  std::vector<std::pair<std::string, double>> device_hours;
  double recoverable = 0;  // device-hours, by all fixes but new devices
  struct Fix {
    std::string kind, command;
    std::vector<Reason::Param> params;
    std::int64_t jobs = 0;  // 0: it changes no jobs
    std::vector<std::string> names;
  };
  struct Finding {
    std::string cause;
    double given_back = 0;  // device-hours
    double ratio = 0;       // of what was supplied
    double seen = 0;        // device-hours
    std::vector<Fix> fixes;
  };
  std::vector<Finding> findings;
  std::string json;
  double hours(std::string_view what) const;  // 0 when it is not told
};

// Readers of the documents; kCorrupt when one is not what the API describes.
Result<JobView> read_job(const std::string& json);
Result<JobPage> read_job_page(const std::string& json);
Result<SubmittedView> read_submitted(const std::string& json);
Result<ExplainView> read_explain(const std::string& json);
Result<NodeView> read_node(const std::string& json);
Result<NodeList> read_nodes(const std::string& json);
Result<QueueList> read_queues(const std::string& json);
Result<ReloadView> read_reload(const std::string& json);
Result<WhatIfView> read_what_if(const std::string& json);
Result<SummaryView> read_summary(const std::string& json);
Result<EffectiveReportView> read_effective_report(const std::string& json);
Result<DiagnosisView> read_diagnosis(const std::string& json);
Result<std::string> read_version(const std::string& json);
// The Error that a problem document stands for; `status` decides when the
// body is none.
Error read_problem(int status, const std::string& body);

}  // namespace gridfold
