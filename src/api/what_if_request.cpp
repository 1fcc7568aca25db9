#include "api/what_if_request.h"

#include <algorithm>
#include <array>

#include "wire/job_file.h"
#include "wire/job_reader.h"

namespace gridfold {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kQuestionKeys = {"changes"sv, "horizon"sv, "tenant"sv};
constexpr std::array kChangeKeys = {"add_nodes"sv, "drain_node"sv, "queue_limit"sv, "submit_job"sv,
                                    "policy"sv};
constexpr std::array kAddKeys = {"count"sv, "like"sv};
constexpr std::array kLimitKeys = {"queue"sv, "resource"sv, "limit"sv};

std::string read_required(const Field& map, std::string_view key) {
  const auto field = map.find(key);
  if (field) return read_text(*field);
  map.fail("the key " + std::string(key) + " is missing", "add it");
  return {};
}

AddNodes read_add_nodes(const Field& field) {
  AddNodes add;
  if (!check_map(field, kAddKeys)) return add;
  add.like = read_required(field, "like");
  const auto count = field.find("count");
  add.count = count ? read_integer(*count, 1, kMostAddedNodes) : 1;
  return add;
}

Limit<std::int64_t> read_amount(const Field& field, std::string_view resource) {
  if (field.node().is_scalar() && field.node().text == "unlimited") return {};
  if (resource == "memory") return read_quantity(field, parse_bytes).value;
  if (resource == "running_jobs") return read_integer(field, 0, INT64_MAX);
  return read_quantity(field, parse_cores).value;  // devices are counted like cores
}

SetQueueLimit read_queue_limit(const Field& field) {
  SetQueueLimit limit;
  if (!check_map(field, kLimitKeys)) return limit;
  limit.queue = read_required(field, "queue");
  limit.resource = read_required(field, "resource");
  if (const auto amount = field.find("limit"))
    limit.amount = read_amount(*amount, limit.resource);
  else
    field.fail("the key limit is missing", "give an amount, or \"unlimited\"");
  return limit;
}

void add_spec(JobSpec spec, const std::string& tenant, SubmitJobs& submit) {
  if (!tenant.empty()) spec.tenant = tenant;
  submit.specs.push_back(std::make_shared<const JobSpec>(std::move(spec)));
}

// One job, all of an array, or what a job file in YAML holds.
SubmitJobs read_submit(const Field& field, const std::string& tenant) {
  SubmitJobs submit;
  if (field.node().kind == DocumentNode::Kind::kString) {
    auto specs = parse_job_file(field.node().text, JobFileFormat::kYaml);
    if (!specs) {
      Error error = specs.error();
      // The place is that in the job file.
      if (!error.field.empty()) error.message = error.field + ": " + error.message;
      field.fail(std::move(error));
      return submit;
    }
    for (JobSpec& spec : *specs) add_spec(std::move(spec), tenant, submit);
    return submit;
  }
  const JobTemplate job = read_job(field, JobForm::kFile);
  const std::size_t copies = std::max<std::size_t>(1, job.indices.size());
  for (std::size_t i = 0; i < std::min(copies, kMostWhatIfJobs + 1); ++i) {
    JobSpec spec = job.spec;
    if (!job.indices.empty()) {
      spec.array_index = job.indices[i];
      spec.array_position = static_cast<std::int32_t>(i);
      spec.name += "[" + std::to_string(job.indices[i]) + "]";
    }
    add_spec(std::move(spec), tenant, submit);
  }
  return submit;
}

WhatIfChange read_change(const Field& field, const std::string& tenant) {
  if (!check_map(field, kChangeKeys)) return {};
  if (field.size() != 1) {
    field.fail("one change has one key", "write each change as an entry of its own");
    return {};
  }
  const Field change = field.item(0);
  switch (std::find(kChangeKeys.begin(), kChangeKeys.end(), field.node().entries[0].key) -
          kChangeKeys.begin()) {
    case 0: return read_add_nodes(change);
    case 1: return DrainNode{read_text(change)};
    case 2: return read_queue_limit(change);
    case 3: return read_submit(change, tenant);
    default: return UsePolicy{read_text(change)};
  }
}

void read_changes(const Field& field, const std::string& tenant, WhatIfQuestion& question) {
  if (!field.is_list()) return field.fail_kind("a list", "such as [{drain_node: n1}]");
  if (field.size() > kMostWhatIfChanges)
    return field.fail("the list has more than " + std::to_string(kMostWhatIfChanges) + " changes",
                      "ask about fewer at once");
  for (std::size_t i = 0; i < field.size(); ++i)
    question.changes.push_back(read_change(field.item(i), tenant));
}

}  // namespace

Result<WhatIfQuestion> parse_what_if(std::string_view body, DocumentFormat format) {
  const auto documents = read_documents(body, format);
  if (!documents) return documents.error();
  if (documents->size() != 1) return invalid("a question is one document");
  Diagnosis diagnosis;
  const Field root(documents->front(), diagnosis);
  WhatIfQuestion question;
  if (check_map(root, kQuestionKeys)) {
    const auto tenant = root.find("tenant");
    if (const auto horizon = root.find("horizon"))
      question.horizon = read_duration(*horizon, Duration::seconds(1), kLongestHorizon);
    if (const auto changes = root.find("changes"))
      read_changes(*changes, tenant ? read_text(*tenant) : "", question);
    else
      root.fail("the key changes is missing", "name at least one change");
  }
  if (diagnosis.error()) return *diagnosis.error();
  return question;
}

}  // namespace gridfold
