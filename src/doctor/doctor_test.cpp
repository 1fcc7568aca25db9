// The parts of the doctor by themselves; whole days are tried in tests/doctor.
#include "doctor/doctor.h"

#include <gtest/gtest.h>

#include "doctor/run_lengths.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

constexpr Duration kHour = Duration::hours(1);

TEST(RunLengths, RunsThatGoOnMakeTheMeanLonger) {
  RunLengths ended;
  RunLengths with_others;
  for (RunLengths* lengths : {&ended, &with_others}) {
    lengths->add(Duration::hours(1), RunLengths::Seen::kEnded);
    lengths->add(Duration::hours(3), RunLengths::Seen::kEnded);
  }
  with_others.add(Duration::hours(2), RunLengths::Seen::kGoesOn);
  ended.settle();
  with_others.settle();
  EXPECT_EQ(ended.mean_beyond({}), Duration::hours(2));
  // Two thirds of all last three hours then.
  EXPECT_NEAR(with_others.mean_beyond({}).in_seconds(), 7.0 / 3 * 3600, 1);
  EXPECT_EQ(ended.mean_beyond(Duration::hours(1)), Duration::hours(3));
  EXPECT_EQ(ended.mean_beyond(Duration::hours(5)), Duration::hours(5));
}

// A node of four devices, and jobs of one hour that ask for so many of them.
Day day_of(const std::vector<std::int32_t>& asked) {
  Day day;
  day.to = day.from + Duration::hours(4);
  day.make_policies = [] { return std::move(*make_policy("best_fit", {})); };
  NodeRecord node;
  node.spec.name = "n1";
  node.spec.cpu = MilliCores(64'000);
  node.spec.memory = Bytes(std::int64_t{1} << 40);
  node.spec.devices.assign(4, {"gpu", "H100"});
  node.up = true;
  day.nodes.push_back({day.from, node});
  for (const std::int32_t devices : asked) {
    JobSpec spec;
    spec.name = "train";
    Role role;
    role.each.devices.push_back({"gpu", devices});
    spec.roles.push_back(role);
    day.jobs.push_back({std::make_shared<const JobSpec>(spec), day.from, kHour});
  }
  return day;
}

double hours(DeviceTime time) { return device_hours(time); }

TEST(Replay, EveryMomentIsOfOneKind) {
  Day day = day_of({4, 4, 2});
  day.jobs[0].habits.devices_used = 1;
  day.jobs[1].habits.input = 250'000;
  const DayBalance balance = replay(day, {}).balance;
  EXPECT_DOUBLE_EQ(hours(balance.supplied), 16);
  EXPECT_DOUBLE_EQ(hours(balance.unused), 3);
  EXPECT_DOUBLE_EQ(hours(balance.input), 1);
  EXPECT_DOUBLE_EQ(hours(balance.busy), 1 + 3 + 2);
  EXPECT_DOUBLE_EQ(hours(balance.silent), 2);
  EXPECT_EQ(balance.busy + balance.lost() + balance.idle_free, balance.supplied);
}

TEST(Doctor, SaysThatNothingIsWrong) {
  const DoctorReport report = diagnose(day_of({1, 1}));
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.together, 0);
}

TEST(Doctor, NamesTheQueueWhoseLimitIsInTheWay) {
  Day day = day_of({1, 1, 1, 1});
  day.queues.queues[0].limit.devices["gpu"] = 1000;
  const DoctorReport report = diagnose(day);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].cause, Cause::kNotPooled);
  const auto* raised = std::get_if<RaiseQueueLimit>(&report.findings[0].fixes.at(0));
  ASSERT_NE(raised, nullptr);
  EXPECT_EQ(raised->queue, "default");
  EXPECT_EQ(raised->amount.bound(), 4000);
  // Three idle devices were asked for by 3, 2 and 1 jobs, an hour each.
  EXPECT_DOUBLE_EQ(hours(report.findings[0].given_back), 6);
}

TEST(Doctor, BuysOnlyWhereNothingElseHelps) {
  Day day = day_of({4, 4, 4, 4, 4, 4, 4, 4});
  EXPECT_EQ(diagnose(day).findings.at(0).cause, Cause::kTooFew);
  for (DayJob& job : day.jobs) job.habits.devices_used = 1;
  for (const Finding& finding : diagnose(day).findings) EXPECT_NE(finding.cause, Cause::kTooFew);
}

TEST(Doctor, SilenceIsNotBusinessAsUsual) {
  const DoctorReport report = diagnose(day_of({4, 4, 4, 4}));
  EXPECT_EQ(report.balance.silent, report.balance.busy);
}

}  // namespace
}  // namespace gridfold
