// What is learned from jobs that come and end: by the policy of the mix of what
// is asked for, and by whoever says how long jobs will run. It is no part of the
// records; after a restart it is learned anew from the jobs that the store keeps.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {

bool Engine::State::tell_policy(const JobSpec& spec, std::span<const Request* const> requests) {
  bool learned = false;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    for (std::int32_t i = 0; i < spec.roles[r].count; ++i) learned |= policy->observe(*requests[r]);
  }
  return learned;
}

// As it was learned: run times in the order of their ends, arrivals in that of
// submission, those that live among those that have ended.
void Engine::State::learn_from(const std::vector<JobRecord>& ended_jobs) {
  for (const JobRecord& record : ended_jobs) note_run_time(record);
  if (!policy->learns()) return;
  std::vector<std::pair<JobId, const JobSpec*>> arrived;
  for (const JobRecord& record : ended_jobs) arrived.emplace_back(record.id, record.spec.get());
  for (const EngineJob* job : jobs.in_order())
    arrived.emplace_back(job->record.id, job->record.spec.get());
  std::sort(arrived.begin(), arrived.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  bool learned = false;
  std::vector<const Request*> requests;
  for (const auto& [id, spec] : arrived) {
    requests.clear();
    for (const Role& role : spec->roles) requests.push_back(&cluster.compile(role.each));
    learned |= tell_policy(*spec, requests);
  }
  if (learned) forget_scores();
}

}  // namespace gridfold
