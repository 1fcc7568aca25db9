// Nothing to gain, nothing lost: equal jobs of fixed size end as soon as they
// would one after the other, whatever they say of their length.
#include "policies/gridfold_lengths.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "policies/registry.h"
#include "policies/round_pool.h"

namespace gridfold {
namespace {

constexpr std::int64_t kRoundSeconds = 60;
constexpr std::int64_t kRestartSeconds = 30;

struct Job {
  RoundJob view;
  std::int64_t arrives = 0;  // seconds, like all below
  std::int64_t left = 0;
  std::int64_t ended = -1;
};

enum class Says { kLength, kNothing };

Job job_of(std::uint64_t id, std::int64_t arrives, std::int64_t seconds, Says says) {
  JobSpec spec;
  Role role;
  role.min = role.count = 4;
  role.each.devices.push_back({"gpu", 1});
  spec.roles.push_back(role);
  TrainingDeclaration& said = spec.training.emplace();
  if (says == Says::kLength) {
    said.steps = seconds;
    said.rates = {{"a", 1, 4, 1.0}};
  }
  Job job;
  job.view.id = JobId(id);
  job.view.spec = std::make_shared<const JobSpec>(std::move(spec));
  job.view.submitted_at = Instant{} + Duration::seconds(arrives);
  job.arrives = arrives;
  job.left = seconds;
  return job;
}

using Plan = std::function<RoundPlan(const RoundView&)>;

// Whoever runs goes on; the others start in their order where there is room.
RoundPlan in_order(const RoundView& view) {
  RoundPool pool(view);
  RoundPlan plan;
  for (const RoundJob& job : view.jobs) {
    if (job.places.empty()) continue;
    pool.take(job, job.places);
    plan.assignments.push_back({job.id, job.places});
  }
  for (const RoundJob& job : view.jobs) {
    if (!job.places.empty()) continue;
    std::vector<RoundPlace> places = pool.consolidated(job, 4);
    if (places.empty()) break;
    pool.take(job, places);
    plan.assignments.push_back({job.id, std::move(places)});
  }
  return plan;
}

// On four nodes of eight, round by round: 8 jobs at a time. Mean seconds from
// arrival to end.
double mean_seconds(std::vector<Job> jobs, const Plan& plan) {
  RoundView view;
  for (std::uint32_t n = 0; n < 4; ++n) view.nodes.push_back({NodeId(n), "gpu", "a", 8});
  std::size_t ended = 0;
  for (std::int64_t now = 0; ended < jobs.size(); now += kRoundSeconds) {
    view.now = Instant{} + Duration::seconds(now);
    ++view.round;
    view.jobs.clear();
    for (const Job& job : jobs) {
      if (job.arrives <= now && job.ended < 0) view.jobs.push_back(job.view);
    }
    const RoundPlan answer = plan(view);
    for (Job& job : jobs) {
      const std::vector<RoundPlace> held = std::exchange(job.view.places, {});
      for (const RoundAssignment& assignment : answer.assignments) {
        if (assignment.job == job.view.id) job.view.places = assignment.places;
      }
      if (job.view.places.empty() || job.ended >= 0) continue;
      const std::int64_t lost = job.view.places == held ? 0 : kRestartSeconds;
      const std::int64_t works = std::min(kRoundSeconds - lost, job.left);
      job.left -= works;
      job.view.executed_ns += Duration::seconds(4 * (lost + works)).ns;
      if (job.view.spec->training->steps.is_known()) {
        auto history = std::make_shared<TrainingHistory>();
        history->progress_steps =
            static_cast<double>(job.view.spec->training->steps.value() - job.left);
        job.view.history = history;
      }
      if (job.left > 0) continue;
      job.ended = now + lost + works;
      ++ended;
    }
    if (now > 10'000'000) return 1e18;
  }
  double sum = 0;
  for (const Job& job : jobs) sum += static_cast<double>(job.ended - job.arrives);
  return sum / static_cast<double>(jobs.size());
}

std::unique_ptr<RoundPolicy> gridfold(const std::string& knows) {
  PolicyOptions options;
  options.settings = {{"knows", knows}};
  options.round = Duration::seconds(kRoundSeconds);
  auto policies = make_policy("gridfold", options);
  EXPECT_TRUE(policies) << policies.error().describe();
  return std::move(policies->rounds);
}

struct World {
  const char* name;
  std::function<Says(std::uint64_t)> says;
  std::int64_t between;  // seconds between arrivals; 0: all at once
};

TEST(EqualJobs, EndAsSoonAsOneAfterTheOther) {
  const auto all = [](std::uint64_t) { return Says::kLength; };
  const auto none = [](std::uint64_t) { return Says::kNothing; };
  const auto some = [](std::uint64_t id) { return id % 2 ? Says::kLength : Says::kNothing; };
  const World worlds[] = {{"declared, at once", all, 0},      {"declared, arriving", all, 90},
                          {"nothing, at once", none, 0},      {"nothing, arriving", none, 90},
                          {"some declare, at once", some, 0}, {"some declare, arriving", some, 90}};
  for (const World& world : worlds) {
    for (const std::int64_t seconds : {500, 3'000}) {
      for (const std::string knows : {"declared", "nothing", "shared"}) {
        std::vector<Job> jobs;
        for (std::uint64_t i = 1; i <= 60; ++i) {
          const auto arrives = static_cast<std::int64_t>(i) * world.between;
          jobs.push_back(job_of(i, arrives, seconds, world.says(i)));
        }
        const double fifo = mean_seconds(jobs, in_order);
        const auto policy = gridfold(knows);
        const double ours =
            mean_seconds(jobs, [&](const RoundView& view) { return policy->plan(view); });
        EXPECT_LE(ours, 1.02 * fifo) << world.name << ", " << seconds << " s, knows " << knows;
      }
    }
  }
}

// Of many short jobs and a few long ones the long are not in the way for ever.
TEST(EqualJobs, WhereLengthsDifferTheShortDoNotWaitForTheLong) {
  std::vector<Job> jobs;
  for (std::uint64_t i = 1; i <= 120; ++i)
    jobs.push_back(
        job_of(i, static_cast<std::int64_t>(i) * 60, i % 10 == 0 ? 20'000 : 300, Says::kNothing));
  const auto policy = gridfold("nothing");
  const double ours = mean_seconds(jobs, [&](const RoundView& view) { return policy->plan(view); });
  EXPECT_LT(ours, 0.8 * mean_seconds(jobs, in_order));
}

RoundView view_of(std::vector<RoundJob> jobs, std::int64_t now) {
  RoundView view;
  view.now = Instant{} + Duration::seconds(now);
  view.jobs = std::move(jobs);
  return view;
}

TEST(RunLengths, LearnsFromThoseThatEnded) {
  RunLengths lengths;
  RoundJob first = job_of(1, 0, 0, Says::kNothing).view;
  RoundJob second = job_of(2, 0, 0, Says::kNothing).view;
  EXPECT_FALSE(lengths.seconds_left(first).is_known());
  first.places = {{NodeId(0), 4}};
  first.executed_ns = Duration::seconds(4 * 600).ns;
  lengths.update(view_of({first, second}, 600));
  EXPECT_FALSE(lengths.seconds_left(second).is_known());
  lengths.update(view_of({second}, 660));  // the first ran for at most 660 s
  EXPECT_DOUBLE_EQ(lengths.seconds_left(second).value(), (660 + 660) / 2.0);
  second.executed_ns = Duration::seconds(4 * 300).ns;
  lengths.update(view_of({second}, 1000));
  EXPECT_DOUBLE_EQ(lengths.seconds_left(second).value(), (360 + 960) / 2.0);
  lengths.update(view_of({first, second}, 1060));  // it had but been stopped
  EXPECT_FALSE(lengths.seconds_left(second).is_known());
}

}  // namespace
}  // namespace gridfold
