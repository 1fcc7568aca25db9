// Deadlines: who is admitted, with how much, and where the rest goes.
#include "policies/deadline_shares.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "policies/registry.h"

namespace gridfold {
namespace {

// Twice the tasks, 1.8 times the speed.
DeadlineJob job(std::uint64_t id, double seconds_on_one, double until, std::int32_t held = 0) {
  DeadlineJob made;
  made.id = JobId(id);
  made.rates = {1, 1.8, 3.24, 5.832};
  made.left = seconds_on_one;
  made.until = until;
  made.held = held;
  return made;
}
using Tasks = std::vector<std::int32_t>;

TEST(DeadlineShares, TheLeastShareThatSuffices) {
  DeadlineShares shares({});
  // 30 s of restart, then 600, 333.3 or 185.2 s of work.
  EXPECT_EQ(shares.least(std::vector{job(1, 600, 640)}, 8), Tasks{1});
  EXPECT_EQ(DeadlineShares({}).least(std::vector{job(1, 600, 620)}, 8), Tasks{2});
  EXPECT_EQ(DeadlineShares({}).least(std::vector{job(1, 600, 340)}, 8), Tasks{4});
  // What it holds already costs no restart.
  EXPECT_EQ(DeadlineShares({}).least(std::vector{job(1, 600, 610, 1)}, 8), Tasks{1});
}

TEST(DeadlineShares, WhoCannotMeetItsDeadlineIsRefusedAndVetoesNobody) {
  DeadlineShares shares({});
  const std::vector jobs{job(1, 6000, 100), job(2, 600, 640)};
  EXPECT_EQ(shares.least(jobs, 2), (Tasks{0, 1}));
  EXPECT_FALSE(shares.is_admitted(JobId(1)));
  EXPECT_TRUE(shares.is_admitted(JobId(2)));
}

TEST(DeadlineShares, AnAdmittedJobIsNotGivenUpForALaterOne) {
  DeadlineShares shares({});
  std::vector jobs{job(1, 600, 640)};
  EXPECT_EQ(shares.least(jobs, 1), Tasks{1});
  // It could be done before, but not with the first as well.
  jobs[0].held = 1;
  jobs.push_back(job(2, 300, 400));
  EXPECT_EQ(shares.least(jobs, 1), (Tasks{1, 0}));
  EXPECT_FALSE(shares.is_admitted(JobId(2)));
  // With time enough it is, and begins when the first is over.
  jobs[1] = job(3, 300, 1000);
  EXPECT_EQ(shares.least(jobs, 1), (Tasks{1, 0}));
  EXPECT_TRUE(shares.is_admitted(JobId(3)));
}

TEST(DeadlineShares, WhatIsLeftIsLentWhereItBringsMost) {
  DeadlineShares shares({});
  std::vector jobs{job(1, 6000, 9000), job(2, 6000, 9000)};
  jobs[1].rates = {1, 1.2, 1.3, 1.35};
  Tasks tasks = shares.least(jobs, 8);
  EXPECT_EQ(tasks, (Tasks{1, 1}));
  EXPECT_EQ(shares.lend(jobs, 3, tasks), 0);
  EXPECT_EQ(tasks, (Tasks{4, 1}));
}

TEST(DeadlineShares, WhoHoldsMoreKeepsItWhileNobodyNeedsIt) {
  DeadlineShares shares({});
  std::vector jobs{job(1, 6000, 9000, 4)};
  Tasks tasks = shares.least(jobs, 4);
  EXPECT_EQ(tasks, Tasks{1});
  EXPECT_EQ(shares.lend(jobs, 3, tasks), 0);
  EXPECT_EQ(tasks, Tasks{4});
  jobs.push_back(job(2, 6000, 6100));
  tasks = shares.least(jobs, 4);
  EXPECT_EQ(tasks, (Tasks{1, 1}));
}

TEST(DeadlineShares, WhoWasRefusedIsAskedAgainWhenThereIsRoom) {
  for (const bool retries : {true, false}) {
    DeadlineOptions options;
    options.retries = retries;
    DeadlineShares shares(options);
    shares.least(std::vector{job(1, 600, 640), job(2, 600, 900)}, 1);
    EXPECT_FALSE(shares.is_admitted(JobId(2)));
    shares.least(std::vector{job(2, 600, 880)}, 1);  // the first was cancelled
    EXPECT_EQ(shares.is_admitted(JobId(2)), retries);
  }
}

// Never more than there is, powers of two, and the same for the same.
RC_GTEST_PROP(DeadlineShares, KeepsToTheDevices, ()) {
  const auto devices = *rc::gen::inRange<std::int32_t>(1, 20);
  std::vector<DeadlineJob> jobs(*rc::gen::inRange<std::size_t>(0, 8));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i] = job(i + 1, *rc::gen::inRange(1, 5000), *rc::gen::inRange(-10, 4000));
    jobs[i].devices_each = *rc::gen::inRange(1, 3);
    jobs[i].held = *rc::gen::element(0, 1, 2, 4);
    if (*rc::gen::inRange(0, 4) == 0) jobs[i].rates[0] = 0;
    if (*rc::gen::inRange(0, 4) == 0) jobs[i].rates.back() = 1;
  }
  DeadlineShares shares({});
  Tasks tasks = shares.least(jobs, devices);
  const auto used = [&] {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) sum += tasks[i] * jobs[i].devices_each;
    return sum;
  };
  RC_ASSERT(used() <= devices);
  const std::int32_t left = shares.lend(jobs, devices - used(), tasks);
  RC_ASSERT(left >= 0);
  RC_ASSERT(used() + left == devices);
  for (const std::int32_t n : tasks) RC_ASSERT(n >= 0 && (n & (n - 1)) == 0);
  DeadlineShares again({});
  Tasks same = again.least(jobs, devices);
  std::int32_t rest = devices;
  for (std::size_t i = 0; i < jobs.size(); ++i) rest -= same[i] * jobs[i].devices_each;
  again.lend(jobs, rest, same);
  RC_ASSERT(same == tasks);
}

}  // namespace
}  // namespace gridfold
