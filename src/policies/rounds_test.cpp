// The parts that the policies of rounds share.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "policies/round_room.h"
#include "policies/round_seating.h"
#include "policies/share_out.h"

namespace gridfold {
namespace {

double least_cost(std::span<const ShareCurve> jobs, std::int32_t devices) {
  if (jobs.empty()) return 0;
  const ShareCurve& first = jobs.front();
  double least = 1e300;
  for (std::size_t n = 0; n < first.costs.size(); ++n) {
    const auto used = static_cast<std::int32_t>(n) * first.devices_each;
    if (used > devices) break;
    least = std::min(least, first.costs[n] + least_cost(jobs.subspan(1), devices - used));
  }
  return least;
}

RC_GTEST_PROP(ShareOut, IsTheCheapestOfAllWays, ()) {
  const auto devices = *rc::gen::inRange<std::int32_t>(0, 9);
  std::vector<ShareCurve> jobs(*rc::gen::inRange<std::size_t>(0, 5));
  for (auto& job : jobs) {
    job.devices_each = *rc::gen::inRange<std::int32_t>(1, 4);
    job.costs.resize(*rc::gen::inRange<std::size_t>(1, 5));
    for (double& cost : job.costs) cost = *rc::gen::inRange(0, 100);
  }
  std::int64_t steps = 0;
  const auto tasks = share_out(jobs, devices, steps);
  double cost = 0;
  std::int32_t used = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    cost += jobs[i].costs[static_cast<std::size_t>(tasks[i])];
    used += tasks[i] * jobs[i].devices_each;
  }
  RC_ASSERT(used <= devices);
  RC_ASSERT(cost == least_cost(jobs, devices));
}

std::shared_ptr<const JobSpec> spec(std::int32_t devices_each) {
  JobSpec job;
  Role role;
  role.each.devices.push_back({});
  role.each.devices.front().count = devices_each;
  job.roles.push_back(role);
  return std::make_shared<const JobSpec>(std::move(job));
}

RC_GTEST_PROP(Seating, NoNodeIsFullerThanItIsOrCrossedTwice, ()) {
  std::vector<RoundNode> nodes(*rc::gen::inRange<std::size_t>(1, 5));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = NodeId(static_cast<std::uint32_t>(i));
    nodes[i].devices = *rc::gen::inRange(0, 5);
  }
  std::vector<RoundJob> jobs(*rc::gen::inRange<std::size_t>(1, 8));
  std::vector<SeatWish> wishes;
  for (auto& job : jobs) {
    job.spec = spec(*rc::gen::inRange(1, 3));
    wishes.push_back({&job, *rc::gen::inRange(0, 9), false});
  }
  // What one seating gave, half of the jobs keep in the next.
  const auto first = seat(nodes, wishes);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].places = first[i];
    wishes[i].keeps = !first[i].empty() && *rc::gen::arbitrary<bool>();
    if (!wishes[i].keeps) wishes[i].tasks = *rc::gen::inRange(0, 9);
  }
  const auto places = seat(nodes, wishes);
  std::vector<std::int32_t> used(nodes.size(), 0);
  std::vector<std::int32_t> crossing(nodes.size(), 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (wishes[i].keeps) {
      RC_ASSERT(places[i] == jobs[i].places);
    } else {
      RC_ASSERT(task_count(places[i]) <= wishes[i].tasks);
    }
    std::set<NodeId> own;
    for (const auto& place : places[i]) {
      RC_ASSERT(place.tasks > 0);
      RC_ASSERT(own.insert(place.node).second);
      used[place.node.value] += place.tasks * jobs[i].devices_each();
      crossing[place.node.value] += places[i].size() > 1;
    }
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    RC_ASSERT(used[n] <= nodes[n].devices);
    RC_ASSERT(crossing[n] <= 1);
  }
}

TEST(Seating, TakesTheTightestNodeThenTheFewest) {
  std::vector<RoundNode> nodes(3);
  for (std::uint32_t i = 0; i < 3; ++i) nodes[i].id = NodeId(i);
  nodes[0].devices = 4;
  nodes[1].devices = 2;
  nodes[2].devices = 4;
  RoundJob small, large;
  small.spec = large.spec = spec(1);
  const SeatWish wishes[] = {{&small, 2, false}, {&large, 8, false}};
  const auto places = seat(nodes, wishes);
  EXPECT_EQ(places[0], (std::vector<RoundPlace>{{NodeId(1), 2}}));
  EXPECT_EQ(places[1], (std::vector<RoundPlace>{{NodeId(0), 4}, {NodeId(2), 4}}));
}

}  // namespace
}  // namespace gridfold
