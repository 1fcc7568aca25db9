#include "wire/dependencies.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/quote.h"
#include "wire/job_file.h"

namespace gridfold {
namespace {

// Longer cycles are told by their length; nobody reads a thousand arrows.
constexpr std::size_t kLongestPath = 20;

struct Edge {
  std::size_t to = 0;     // index of the parent in the batch
  std::size_t index = 0;  // in the child's `after`
};
using Graph = std::vector<std::vector<Edge>>;

struct Batch {
  std::span<const JobSpec> jobs;
  Graph edges;
};

constexpr std::size_t kTwice = static_cast<std::size_t>(-1);

// Jobs by name; kTwice for a name that several bear.
std::unordered_map<std::string_view, std::size_t> by_name(std::span<const JobSpec> jobs) {
  std::unordered_map<std::string_view, std::size_t> names;
  names.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (const auto [at, fresh] = names.emplace(jobs[i].name, i); !fresh) at->second = kTwice;
  return names;
}

// Resolves the names; the graph holds the edges within the batch.
std::optional<DependencyTrouble> resolve(Batch& batch,
                                         const std::function<bool(std::string_view)>& exists) {
  const auto names = by_name(batch.jobs);
  batch.edges.resize(batch.jobs.size());
  for (std::size_t job = 0; job < batch.jobs.size(); ++job) {
    const auto& after = batch.jobs[job].after;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto found = names.find(after[i].job);
      if (found == names.end()) {
        if (exists(after[i].job)) continue;
        return DependencyTrouble{job, i, "there is no job " + quote(after[i].job),
                                 "submit it first or in the same batch, or correct the name"};
      }
      if (found->second == kTwice)
        return DependencyTrouble{job, i, "two jobs of this batch are named " + quote(after[i].job),
                                 "give them different names"};
      batch.edges[job].push_back({found->second, i});
    }
  }
  return std::nullopt;
}

// `stack` ends in the job whose edge leads back to `start`.
DependencyTrouble cycle_trouble(const Batch& batch, const std::vector<std::size_t>& stack,
                                std::size_t start, const Edge& edge) {
  const auto first = std::find(stack.begin(), stack.end(), start);
  const auto length = static_cast<std::size_t>(stack.end() - first);
  std::string path;
  if (length <= kLongestPath) {
    for (auto at = first; at != stack.end(); ++at) path += batch.jobs[*at].name + "→";
    path += batch.jobs[start].name;
  } else {
    path = batch.jobs[start].name + "→…→" + batch.jobs[start].name + ", " + std::to_string(length) +
           " jobs";
  }
  return {stack.back(), edge.index, "jobs wait for each other: " + path,
          length == 1 ? "a job cannot wait for itself" : "remove one of these dependencies"};
}

// Depth-first search without recursion: a batch may be a chain of thousands.
std::optional<DependencyTrouble> find_cycle(const Batch& batch) {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(batch.jobs.size(), Mark::kNew);
  std::vector<std::size_t> next(batch.jobs.size(), 0);
  std::vector<std::size_t> stack;
  for (std::size_t root = 0; root < batch.jobs.size(); ++root) {
    if (marks[root] != Mark::kNew) continue;
    marks[root] = Mark::kOpen;
    stack.push_back(root);
    while (!stack.empty()) {
      const std::size_t job = stack.back();
      if (next[job] == batch.edges[job].size()) {
        marks[job] = Mark::kDone;
        stack.pop_back();
        continue;
      }
      const Edge& edge = batch.edges[job][next[job]++];
      if (marks[edge.to] == Mark::kOpen) return cycle_trouble(batch, stack, edge.to, edge);
      if (marks[edge.to] == Mark::kDone) continue;
      marks[edge.to] = Mark::kOpen;
      stack.push_back(edge.to);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<DependencyTrouble> find_dependency_trouble(
    std::span<const JobSpec> jobs, const std::function<bool(std::string_view)>& exists) {
  const bool any =
      std::any_of(jobs.begin(), jobs.end(), [](const JobSpec& job) { return !job.after.empty(); });
  if (!any) return std::nullopt;
  Batch batch{jobs, {}};
  if (auto trouble = resolve(batch, exists)) return trouble;
  return find_cycle(batch);
}

Result<void> check_dependencies(std::span<const JobSpec> jobs,
                                const std::function<bool(std::string_view)>& exists) {
  const auto trouble = find_dependency_trouble(jobs, exists);
  if (!trouble) return {};
  Error error = invalid(trouble->message);
  error.hint = trouble->hint;
  error.field =
      "jobs[" + std::to_string(trouble->job) + "].after[" + std::to_string(trouble->edge) + "]";
  return error;
}

}  // namespace gridfold
