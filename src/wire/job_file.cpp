#include "wire/job_file.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "wire/dependencies.h"
#include "wire/job_json.h"
#include "wire/job_reader.h"

namespace gridfold {
namespace {

Error too_many(std::string message) {
  return {ErrorKind::kLimit, std::move(message), {}, "split the batch"};
}

// The nodes of the jobs in a file, in order.
Result<std::vector<const DocumentNode*>> jobs_in(const std::vector<DocumentNode>& documents) {
  std::vector<const DocumentNode*> jobs;
  for (const auto& document : documents) {
    const DocumentNode* list = document.find("jobs");
    const bool wrapped = list != nullptr && document.entries.size() == 1;
    if (!wrapped) list = &document;
    if (list->kind != DocumentNode::Kind::kList) {
      jobs.push_back(list);
      continue;
    }
    for (const auto& entry : list->entries) jobs.push_back(&entry.value);
  }
  if (jobs.empty()) return invalid("the file holds no job");
  if (jobs.size() > kMaxJobsPerBatch)
    return too_many("the batch has " + std::to_string(jobs.size()) + " jobs, more than " +
                    std::to_string(kMaxJobsPerBatch));
  return jobs;
}

Result<std::vector<JobTemplate>> read_templates(const std::vector<const DocumentNode*>& nodes) {
  std::vector<JobTemplate> templates;
  templates.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Diagnosis diagnosis;
    const std::string name = nodes.size() == 1 ? "" : "jobs[" + std::to_string(i) + "]";
    templates.push_back(read_job(Field(*nodes[i], diagnosis, name), JobForm::kFile));
    if (diagnosis.error()) return *diagnosis.error();
  }
  return templates;
}

std::string with_index(const std::string& name, std::int64_t index) {
  return name + "[" + std::to_string(index) + "]";
}

struct Batch {
  std::vector<JobSpec> jobs;
  std::vector<std::size_t> template_of;  // beside jobs
};

// Arrays of the batch by name.
using Arrays = std::unordered_map<std::string_view, const JobTemplate*>;

Arrays arrays_of(const std::vector<JobTemplate>& templates) {
  Arrays arrays;
  for (const auto& job : templates)
    if (!job.indices.empty()) arrays.emplace(job.spec.name, &job);
  return arrays;
}

// Edges to an array become edges to each of its jobs.
std::vector<Dependency> expand_edges(const std::vector<Dependency>& edges, const Arrays& arrays) {
  std::vector<Dependency> expanded;
  for (const auto& edge : edges) {
    const auto array = arrays.find(edge.job);
    if (array == arrays.end()) {
      expanded.push_back(edge);
      continue;
    }
    for (const auto index : array->second->indices)
      expanded.push_back({with_index(edge.job, index), edge.condition});
  }
  return expanded;
}

Result<Batch> expand(std::vector<JobTemplate>& templates) {
  const Arrays arrays = arrays_of(templates);
  Batch batch;
  std::size_t edges = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    JobTemplate& job = templates[i];
    const std::vector<Dependency> after = expand_edges(job.spec.after, arrays);
    const std::size_t copies = std::max<std::size_t>(1, job.indices.size());
    edges += after.size() * copies;
    if (batch.jobs.size() + copies > kMaxJobsPerBatch)
      return too_many("the batch has more than " + std::to_string(kMaxJobsPerBatch) +
                      " jobs, arrays expanded");
    if (edges > kMaxEdgesPerBatch)
      return too_many("the batch has more than " + std::to_string(kMaxEdgesPerBatch) +
                      " dependencies, arrays expanded");
    // Single jobs are as long as their text, and that is limited.
    if (copies > 1) bytes += to_json(job.spec).size() * copies;
    if (bytes > kMaxBatchBytes)
      return too_many("the batch has more than " + std::to_string(kMaxBatchBytes) +
                      " bytes, arrays expanded");
    for (std::size_t k = 0; k < copies; ++k) {
      JobSpec spec = job.spec;
      spec.after = after;
      if (!job.indices.empty()) {
        spec.array_index = job.indices[k];
        spec.array_position = static_cast<std::int32_t>(k);
        spec.name = with_index(job.spec.name, job.indices[k]);
      }
      batch.jobs.push_back(std::move(spec));
      batch.template_of.push_back(i);
    }
  }
  return batch;
}

// The trouble, at the place where its edge is written.
Error located(const DependencyTrouble& trouble, const Batch& batch,
              const std::vector<JobTemplate>& templates) {
  Error error = invalid(trouble.message);
  error.hint = trouble.hint;
  const JobTemplate& job = templates[batch.template_of[trouble.job]];
  const std::string& parent = batch.jobs[trouble.job].after[trouble.edge].job;
  for (std::size_t i = 0; i < job.spec.after.size(); ++i) {
    const std::string& written = job.spec.after[i].job;
    if (parent != written && !parent.starts_with(written + "[")) continue;
    error.position = job.edge_places[i].position;
    error.field = job.edge_places[i].path;
    break;
  }
  return error;
}

}  // namespace

Result<std::vector<JobSpec>> parse_job_file(std::string_view text, JobFileFormat format) {
  const auto documents = read_documents(text, format);
  if (!documents) return documents.error();
  const auto nodes = jobs_in(*documents);
  if (!nodes) return nodes.error();
  auto templates = read_templates(*nodes);
  if (!templates) return templates.error();
  auto batch = expand(*templates);
  if (!batch) return batch.error();
  const auto trouble = find_dependency_trouble(batch->jobs, [](std::string_view) { return true; });
  if (trouble) return located(*trouble, *batch, *templates);
  return std::move(batch->jobs);
}

Result<JobSpec> parse_stored_job(std::string_view json) {
  const auto damaged = [](Error error) {
    error.kind = ErrorKind::kCorrupt;
    return error.with_context("stored job");
  };
  const auto documents = read_documents(json, DocumentFormat::kJson);
  if (!documents) return damaged(documents.error());
  Diagnosis diagnosis;
  JobTemplate job = read_job(Field(documents->front(), diagnosis), JobForm::kStored);
  if (diagnosis.error()) return damaged(*diagnosis.error());
  if (!job.indices.empty()) return damaged(invalid("array: this key is not stored"));
  return std::move(job.spec);
}

}  // namespace gridfold
