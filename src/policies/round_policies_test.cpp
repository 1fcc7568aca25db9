// The simple policies of rounds, on views made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "policies/equal_shares.h"
#include "policies/fifo.h"
#include "policies/round_pool.h"

namespace gridfold {
namespace {

RoundView view_of(std::vector<std::int32_t> devices) {
  RoundView view;
  for (std::uint32_t i = 0; i < devices.size(); ++i)
    view.nodes.push_back({NodeId(i), "gpu", "G", devices[i]});
  return view;
}

RoundJob& add_job(RoundView& view, int least, int most, int each = 1) {
  JobSpec spec;
  Role role;
  role.min = least;
  role.count = most;
  role.each.devices.push_back({"gpu", each});
  spec.roles.push_back(role);
  spec.training.emplace();
  RoundJob job;
  job.id = JobId(view.jobs.size() + 1);
  job.spec = std::make_shared<const JobSpec>(spec);
  return view.jobs.emplace_back(std::move(job));
}

const std::vector<RoundPlace>* places(const RoundPlan& plan, const RoundJob& job) {
  for (const RoundAssignment& assignment : plan.assignments) {
    if (assignment.job == job.id) return &assignment.places;
  }
  return nullptr;
}
int tasks(const RoundPlan& plan, const RoundJob& job) {
  const auto* at = places(plan, job);
  int sum = 0;
  if (at != nullptr) {
    for (const RoundPlace& place : *at) sum += place.tasks;
  }
  return sum;
}
// The jobs get what the plan says.
void carry_out(const RoundPlan& plan, RoundView& view) {
  for (RoundJob& job : view.jobs) {
    const auto* at = places(plan, job);
    job.places = at == nullptr ? std::vector<RoundPlace>{} : *at;
  }
}

TEST(RoundPool, TakesTheTightestNodeThatHoldsAllElseTheFewest) {
  RoundView view = view_of({4, 2, 3, 8});
  RoundPool pool(view);
  const RoundJob job = add_job(view, 1, 32);
  EXPECT_EQ(pool.consolidated(job, 3), (std::vector<RoundPlace>{{NodeId(2), 3}}));
  EXPECT_EQ(pool.consolidated(job, 10), (std::vector<RoundPlace>{{NodeId(1), 2}, {NodeId(3), 8}}));
  EXPECT_TRUE(pool.consolidated(job, 18).empty());
  EXPECT_EQ(pool.room_for(job), 17);
}

TEST(RoundPool, KeepsToTheClassAndModelsAskedFor) {
  RoundView view = view_of({4, 4});
  view.nodes[0].model = "H";
  JobSpec spec = *add_job(view, 1, 8).spec;
  spec.roles[0].each.devices[0].models = {"G"};
  RoundJob& job = view.jobs[0];
  job.spec = std::make_shared<const JobSpec>(spec);
  RoundPool pool(view);
  EXPECT_EQ(pool.room_for(job), 4);
  EXPECT_EQ(pool.consolidated(job, 4), (std::vector<RoundPlace>{{NodeId(1), 4}}));
}

TEST(Fifo, TheFirstThatDoesNotFitStopsThoseBehindIt) {
  Fifo fifo({});
  RoundView view = view_of({4, 4});
  add_job(view, 6, 6);
  add_job(view, 3, 3);
  add_job(view, 1, 1);
  const RoundPlan plan = fifo.plan(view);
  EXPECT_EQ(tasks(plan, view.jobs[0]), 6);
  EXPECT_EQ(tasks(plan, view.jobs[1]), 0);
  EXPECT_EQ(tasks(plan, view.jobs[2]), 0);
}

TEST(Fifo, AJobTooLargeForAllNodesStopsNobody) {
  Fifo fifo({});
  RoundView view = view_of({4});
  add_job(view, 5, 5);
  add_job(view, 4, 4);
  const RoundPlan plan = fifo.plan(view);
  EXPECT_EQ(tasks(plan, view.jobs[0]), 0);
  EXPECT_EQ(tasks(plan, view.jobs[1]), 4);
}

TEST(EqualShares, DevicesAreSharedEvenlyWithinTheBounds) {
  EqualShares policy({});
  RoundView view = view_of({4, 4});
  add_job(view, 1, 8);
  add_job(view, 1, 2);
  add_job(view, 1, 8);
  const RoundPlan plan = policy.plan(view);
  EXPECT_EQ(tasks(plan, view.jobs[0]), 3);
  EXPECT_EQ(tasks(plan, view.jobs[1]), 2);
  EXPECT_EQ(tasks(plan, view.jobs[2]), 3);
}

TEST(EqualShares, WhatHasNotChangedStaysWhereItIs) {
  EqualShares policy({});
  RoundView view = view_of({4, 4});
  add_job(view, 1, 4);
  add_job(view, 1, 4);
  const RoundPlan first = policy.plan(view);
  carry_out(first, view);
  EXPECT_EQ(tasks(first, view.jobs[0]) + tasks(first, view.jobs[1]), 8);
  add_job(view, 1, 1);
  const RoundPlan second = policy.plan(view);
  EXPECT_EQ(tasks(second, view.jobs[2]), 1);
  // One of the two gives a device; the other is not touched.
  const auto kept =
      std::count_if(view.jobs.begin(), view.jobs.begin() + 2, [&](const RoundJob& job) {
        return places(second, job) != nullptr && *places(second, job) == job.places;
      });
  EXPECT_EQ(kept, 1);
}

TEST(EqualShares, WhoComesTooLateForItsLeastWaits) {
  EqualShares policy({});
  RoundView view = view_of({4});
  add_job(view, 2, 8, 1);
  add_job(view, 2, 8, 1);
  add_job(view, 1, 8, 1);
  const RoundPlan plan = policy.plan(view);
  EXPECT_EQ(tasks(plan, view.jobs[2]), 0);
  EXPECT_EQ(tasks(plan, view.jobs[0]), 2);
}

}  // namespace
}  // namespace gridfold
