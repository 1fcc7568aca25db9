#include "api/explanation.h"

#include <algorithm>
#include <memory>

#include "api/documents.h"
#include "api/start_document.h"

namespace gridfold {
namespace {

using Nodes = std::span<const NodeRecord>;

std::vector<Reason> reasons_of(const Engine& engine, const JobRecord& job) {
  auto reasons = engine.explain(job.id);
  if (reasons.empty() && job.reason) reasons.push_back(*job.reason);
  return reasons;
}

void write_reasons(JsonWriter& json, const std::vector<Reason>& reasons) {
  json.key("reasons").begin_array();
  for (const auto& reason : reasons) {
    json.begin_object();
    json.key("reason");
    write_reason(json, reason);
    json.key("never").boolean(is_never(reason.code));
    json.end_object();
  }
  json.end_array();
}

void write_limits(JsonWriter& json, const std::vector<RoleLimits>& limits) {
  if (limits.empty()) return;
  json.key("limits").begin_array();
  for (const RoleLimits& role : limits) {
    json.begin_object();
    json.key("role").string(role.role).key("nodes").number(role.nodes);
    json.key("counts").begin_array();
    for (const LimitCount& count : role.counts) {
      json.begin_object().key("limit").string(to_string(count.limit));
      if (!count.resource.empty()) json.key("resource").string(count.resource);
      if (!count.wish.empty()) json.key("wish").string(count.wish);
      json.key("nodes").number(count.nodes).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_choice_of_domain(JsonWriter& json, const WhyDomain& why) {
  json.key("domain").begin_object();
  json.key("domain").string(why.domain);
  json.key("decided_by").string(to_string(why.by));
  json.key("feasible_domains").number(why.feasible_domains);
  if (!why.runner_up.empty()) {
    json.key("value").number(why.value);
    json.key("runner_up").begin_object();
    json.key("domain").string(why.runner_up).key("value").number(why.runner_up_value);
    json.end_object();
  }
  json.end_object();
}

void write_choice_of_node(JsonWriter& json, std::uint32_t index, const TaskRecord& task,
                          Nodes nodes) {
  json.begin_object();
  json.key("index").number(index);
  json.key("node").string(nodes[task.allocation.node.value].spec.name);
  json.key("decided_by").string(to_string(task.why.by));
  if (task.why.feasible_nodes > 0) {
    json.key("feasible_nodes").number(task.why.feasible_nodes);
    json.key("score").number(task.why.score);
  }
  if (!task.why.runner_up.is_none()) {
    json.key("runner_up").begin_object();
    json.key("node").string(nodes[task.why.runner_up.value].spec.name);
    json.key("score").number(task.why.runner_up_score).end_object();
  }
  json.end_object();
}

void write_placement(JsonWriter& json, const JobRecord& job, Nodes nodes) {
  const auto is_told = [](const TaskRecord& task) {
    return task.why.by != DecidedBy::kUnknown && !task.allocation.node.is_none();
  };
  if (std::none_of(job.tasks.begin(), job.tasks.end(), is_told)) return;
  json.key("placement").begin_object();
  write_optional_time(json, "decided_at", job.started_at);
  if (job.why_domain) write_choice_of_domain(json, *job.why_domain);
  json.key("tasks").begin_array();
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i)
    if (is_told(job.tasks[i])) write_choice_of_node(json, i, job.tasks[i], nodes);
  json.end_array().end_object();
}

void write_step(JsonWriter& json, const StepEstimate& step) {
  json.key("communication_seconds").real(step.communication.in_seconds());
  json.key("step_seconds").real(step.step.in_seconds());
}

// Of a job that was started and says what it exchanges.
void write_communication(JsonWriter& json, const JobRecord& job) {
  if (!job.spec->communication || job.runs == 0 || job.state == JobState::kPending) return;
  const auto& expected = job.communication;
  json.key("communication").begin_object().key("known").boolean(expected.has_value());
  if (expected) {
    write_step(json, expected->here);
    json.key("slowest_link").string(to_string(expected->slowest));
    if (expected->otherwise) {
      json.key("best_other").begin_object();
      write_step(json, *expected->otherwise);
      json.end_object();
    }
  }
  json.end_object();
}

// A document that is finished later.
struct Draft {
  std::string text;
  JsonWriter json{text};
};

}  // namespace

void explain_job(ControlLoop& loop, const JobRecord& job, Instant now,
                 std::function<void(std::string document)> done) {
  const auto draft = std::make_shared<Draft>();
  JsonWriter& json = draft->json;
  const Engine& engine = loop.engine();
  const std::vector<Reason> reasons = reasons_of(engine, job);
  json.begin_object().key("job");
  write_job(json, job, engine, now, JobDetail::kBasic);
  write_reasons(json, reasons);
  write_communication(json, job);
  write_limits(json, engine.limits(job.id));
  write_placement(json, job, engine.nodes());
  StartEstimates* estimates = loop.estimates();
  if (job.state != JobState::kPending || estimates == nullptr) {
    json.end_object();
    return done(std::move(draft->text));
  }
  write_evictions(json, engine, reasons);
  write_start_estimate(json, *estimates, job.id, now);
  estimates->find_changes(engine, now, loop.revision(), job.id,
                          [draft, done = std::move(done), spec = job.spec,
                           now](const std::shared_ptr<const ChangeAnswer>& answer) {
                            if (answer != nullptr) write_changes(draft->json, *answer, *spec, now);
                            draft->json.end_object();
                            done(std::move(draft->text));
                          });
}

}  // namespace gridfold
