// Policies of rounds where devices are of several types: gavel, sia, gridfold.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "policies/declared_rates.h"
#include "policies/registry.h"
#include "policies/round_room.h"
#include "policies/round_types.h"

namespace gridfold {
namespace {

// Nodes of 8: one of v100, two of p100.
std::vector<RoundNode> two_types() {
  return {
      {NodeId(0), "gpu", "v100", 8}, {NodeId(1), "gpu", "p100", 8}, {NodeId(2), "gpu", "p100", 8}};
}

RoundJob gang(std::uint64_t id, std::int32_t tasks, double on_v100, double on_p100,
              std::int64_t steps) {
  JobSpec spec;
  Role role;
  role.min = role.count = tasks;
  role.each.devices.push_back({"gpu", 1});
  spec.roles.push_back(role);
  TrainingDeclaration& said = spec.training.emplace();
  said.steps = steps;
  for (const std::int32_t nodes : {1, 2}) {
    said.rates.push_back({"v100", nodes, tasks, on_v100 / nodes});
    said.rates.push_back({"p100", nodes, tasks, on_p100 / nodes});
  }
  RoundJob job;
  job.id = JobId(id);
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  return job;
}

using Settings = std::map<std::string, std::string>;
std::unique_ptr<RoundPolicy> make(const std::string& name, const Settings& settings = {}) {
  PolicyOptions options;
  options.settings = settings;
  options.round = Duration::seconds(360);
  auto policies = make_policy(name, options);
  EXPECT_TRUE(policies) << policies.error().describe();
  return std::move(policies->rounds);
}

const std::vector<std::pair<std::string, Settings>> kPolicies = {
    {"gavel", {}},
    {"gavel", {{"objective", "makespan"}}},
    {"sia", {}},
    {"gridfold", {}},
    {"gridfold", {{"objective", "makespan"}}},
    {"gridfold", {{"knows", "nothing"}}},
};

// Whole gangs on one type that they can run on, no node fuller than it is.
void check(const RoundView& view, const RoundPlan& plan) {
  const auto types = types_of(view.nodes);
  std::map<NodeId, std::int32_t> free;
  for (const RoundNode& node : view.nodes) free[node.id] = node.devices;
  for (const RoundAssignment& assignment : plan.assignments) {
    RoundJob job = *std::find_if(view.jobs.begin(), view.jobs.end(),
                                 [&](const RoundJob& j) { return j.id == assignment.job; });
    job.places = assignment.places;
    RC_ASSERT(task_count(job.places) == job.spec->roles.front().count);
    const std::size_t type = type_of(types, job);
    RC_ASSERT(type < types.size());
    RC_ASSERT(declared_rate(*job.spec->training, types[type].model,
                            static_cast<std::int32_t>(job.places.size()),
                            task_count(job.places)) > 0);
    for (const RoundPlace& place : job.places) {
      free[place.node] -= place.tasks;
      RC_ASSERT(free[place.node] >= 0);
    }
  }
}

RC_GTEST_PROP(TypedRounds, GangsAreWholeOnOneTypeAndNothingIsGivenTwice, ()) {
  RoundView first;
  first.nodes = two_types();
  const auto count = *rc::gen::inRange<std::uint64_t>(1, 12);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int32_t tasks = 1 << *rc::gen::inRange(0, 4);
    const double v100 = *rc::gen::inRange(0, 3);
    const double p100 = *rc::gen::inRange(0, 3);
    first.jobs.push_back(gang(i, tasks, v100, p100, *rc::gen::inRange(1, 100'000)));
  }
  for (const auto& [name, settings] : kPolicies) {
    const auto policy = make(name, settings);
    const auto again = make(name, settings);
    RoundView view = first;
    for (int round = 0; round < 4; ++round) {
      view.now = Instant{} + Duration::seconds(360 * round);
      ++view.round;
      const RoundPlan plan = policy->plan(view);
      check(view, plan);
      const RoundPlan same = again->plan(view);
      RC_ASSERT(plan.assignments.size() == same.assignments.size());
      for (auto& job : view.jobs) job.places.clear();
      for (std::size_t i = 0; i < plan.assignments.size(); ++i) {
        RC_ASSERT(plan.assignments[i].job == same.assignments[i].job);
        RC_ASSERT(plan.assignments[i].places == same.assignments[i].places);
        for (auto& job : view.jobs) {
          if (job.id == plan.assignments[i].job) job.places = plan.assignments[i].places;
        }
      }
      if (view.jobs.size() > 1) view.jobs.erase(view.jobs.begin());
    }
  }
}

// Two gangs of 8, one node of each type: who gains more from v100 has it.
TEST(TypedRounds, WhoGainsMoreFromATypeGetsIt) {
  for (const std::string name : {"sia", "gridfold"}) {
    RoundView view;
    view.nodes = two_types();
    view.nodes.pop_back();
    view.jobs.push_back(gang(1, 8, 1.1, 1, 10'000));
    view.jobs.push_back(gang(2, 8, 4, 1, 20'000));
    const RoundPlan plan = make(name)->plan(view);
    ASSERT_EQ(plan.assignments.size(), 2u) << name;
    for (const RoundAssignment& assignment : plan.assignments) {
      EXPECT_EQ(assignment.places.front().node, NodeId(assignment.job == JobId(2) ? 0 : 1)) << name;
    }
  }
}

// Three equal jobs, room for one at a time: each has had a third after nine rounds.
TEST(TypedRounds, GavelGivesEachItsPart) {
  RoundView view;
  view.nodes = {{NodeId(0), "gpu", "v100", 8}};
  for (std::uint64_t i = 0; i < 3; ++i) view.jobs.push_back(gang(i, 8, 1, 0, 1'000'000));
  const auto policy = make("gavel");
  std::map<JobId, int> rounds;
  for (int round = 0; round < 9; ++round) {
    view.now = Instant{} + Duration::seconds(360 * round);
    const RoundPlan plan = policy->plan(view);
    ASSERT_EQ(plan.assignments.size(), 1u);
    for (RoundJob& job : view.jobs) {
      job.places.clear();
      if (job.id == plan.assignments.front().job) {
        job.places = plan.assignments.front().places;
        ++rounds[job.id];
      }
    }
  }
  for (const auto& [id, had] : rounds) EXPECT_EQ(had, 3);
  EXPECT_EQ(rounds.size(), 3u);
}

RoundJob of_any_model(std::uint64_t id, std::int32_t tasks, std::int32_t devices_each,
                      std::int32_t least = 0) {
  JobSpec spec;
  Role role;
  role.count = tasks;
  role.min = least == 0 ? tasks : least;
  role.each.devices.push_back({"gpu", devices_each});
  spec.roles.push_back(role);
  spec.training.emplace();
  RoundJob job;
  job.id = JobId(id);
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  return job;
}

// 24 tasks fit on no type, and on both together.
TEST(TypedRounds, AGangLargerThanEachTypeRunsAcrossThem) {
  RoundView view;
  view.nodes = two_types();
  view.jobs.push_back(of_any_model(1, 24, 1));
  const auto policy = make("gridfold");
  for (int round = 0; round < 3; ++round) {  // and stays
    const RoundPlan plan = policy->plan(view);
    ASSERT_EQ(plan.assignments.size(), 1u);
    const auto& held = view.jobs.front().places;
    EXPECT_TRUE(held.empty() || plan.assignments.front().places == held) << round;
    view.jobs.front().places = plan.assignments.front().places;
    EXPECT_EQ(task_count(view.jobs.front().places), 24);
  }
}

// Beside others it gets its turn, and nothing is given twice.
TEST(TypedRounds, AGangAcrossTypesTakesTurnsWithOthers) {
  RoundView view;
  view.nodes = two_types();
  view.jobs.push_back(of_any_model(1, 20, 1));
  for (std::uint64_t i = 2; i < 6; ++i) view.jobs.push_back(of_any_model(i, 8, 1, 1));
  const auto policy = make("gridfold");
  std::map<JobId, int> rounds;
  for (int round = 0; round < 60; ++round) {
    view.now = Instant{} + Duration::seconds(360 * round);
    const RoundPlan plan = policy->plan(view);
    std::map<NodeId, std::int32_t> taken;
    for (RoundJob& job : view.jobs) {
      job.places.clear();
      for (const RoundAssignment& assignment : plan.assignments) {
        if (assignment.job != job.id) continue;
        job.places = assignment.places;
        ++rounds[job.id];
        job.executed_ns += Duration::seconds(360).ns * task_count(job.places);
        for (const RoundPlace& place : job.places) taken[place.node] += place.tasks;
      }
    }
    for (const auto& [node, tasks] : taken) EXPECT_LE(tasks, 8);
  }
  for (const RoundJob& job : view.jobs) EXPECT_GT(rounds[job.id], 0) << job.id.value;
}

// Two devices a task, and nodes with one: no task is offered a half.
TEST(TypedRounds, ATaskIsNotCutInTwo) {
  RoundView view;
  view.nodes = {
      {NodeId(0), "gpu", "v100", 1}, {NodeId(1), "gpu", "v100", 1}, {NodeId(2), "gpu", "p100", 2}};
  view.jobs.push_back(of_any_model(1, 1, 2));
  const RoundPlan plan = make("gridfold")->plan(view);
  ASSERT_EQ(plan.assignments.size(), 1u);
  EXPECT_EQ(plan.assignments.front().places, (std::vector<RoundPlace>{{NodeId(2), 1}}));
}

TEST(TypedRounds, AWrongObjectiveIsRefused) {
  PolicyOptions options;
  options.settings = {{"objective", "fastest"}};
  const auto policy = make_policy("gavel", options);
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().hint, "give one of: max_min, makespan");
}

}  // namespace
}  // namespace gridfold
