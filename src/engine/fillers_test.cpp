// Which fillers are let in when it goes by a forecast.
#include <gtest/gtest.h>

#include <map>

#include "engine/engine.h"

namespace gridfold {
namespace {

class FirstFit : public PlacementPolicy {
 public:
  std::string_view name() const override { return "first_fit"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// Says what the test wants, and remembers what it was told.
class Said : public IdleForecast {
 public:
  struct Book {
    std::map<std::size_t, std::int64_t> idle, drop;
  };
  explicit Said(Book& book) : book_(book) {}
  void observe(Instant, std::size_t at, std::int64_t idle) override { book_.idle[at] = idle; }
  std::int64_t drop(Instant, std::size_t at, Duration) override { return book_.drop[at]; }

 private:
  Book& book_;
};

class FillersTest : public testing::Test {
 protected:
  static Policies policies(Said::Book& book) {
    Policies made(std::make_unique<FirstFit>());
    made.idle = std::make_unique<Said>(book);
    return made;
  }
  static EngineOptions options(FillerAdmission admission) {
    EngineOptions options;
    options.verify = Verify::kEveryStep;
    options.fillers.admission = admission;
    options.fillers.guaranteed = Duration::hours(1);
    return options;
  }
  Said::Book book;
  Engine engine{options(FillerAdmission::kForecast), policies(book)};
  Instant now{};
  std::uint64_t next_id = 1;

  void node(const std::string& name, const std::string& model, int gpus) {
    NodeSpec spec;
    spec.name = name;
    spec.cpu = MilliCores(64'000);
    spec.memory = Bytes(std::int64_t{256} << 30);
    for (int g = 0; g < gpus; ++g)
      spec.devices.push_back({"gpu", model, Bytes(std::int64_t{80} << 30)});
    engine.step(now, std::vector<Event>{QueueConfigured{QueueSpec{}}, NodeJoined{spec}});
  }
  JobId submit(WorkloadClass workload_class, int gpus, int tasks = 1,
               std::vector<std::string> models = {}) {
    JobSpec spec;
    spec.workload_class = workload_class;
    Role role;
    role.count = role.min = tasks;
    role.each.cpu = MilliCores(1000);
    role.each.devices.push_back({"gpu", gpus});
    role.each.devices.back().models = std::move(models);
    spec.roles.push_back(role);
    const JobId id(next_id++);
    engine.step(now, std::vector<Event>{JobSubmitted{
                         id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), {}}});
    return id;
  }
  JobState state(JobId id) { return engine.job(id)->state; }
  std::string node_of(JobId id) {
    return engine.nodes()[engine.job(id)->tasks[0].allocation.node.value].spec.name;
  }
};

TEST_F(FillersTest, TheForecastIsToldWhatWorkWithRightsLeaves) {
  node("a1", "A", 4);
  node("b1", "B", 2);
  EXPECT_EQ(book.idle, (std::map<std::size_t, std::int64_t>{{0, 4}, {1, 2}}));
  submit(WorkloadClass::kTrain, 3, 1, {"A"});
  EXPECT_EQ(book.idle[0], 1);
  submit(WorkloadClass::kFiller, 1, 1, {"A"});
  EXPECT_EQ(book.idle[0], 1);  // fillers leave as much as they found
}

TEST_F(FillersTest, AsMuchIsHeldBackAsMayBeNeeded) {
  node("a1", "A", 4);
  book.drop[0] = 2;
  const JobId first = submit(WorkloadClass::kFiller, 1);
  const JobId second = submit(WorkloadClass::kFiller, 1);
  const JobId third = submit(WorkloadClass::kFiller, 1);
  EXPECT_EQ(state(first), JobState::kStarting);
  EXPECT_EQ(state(second), JobState::kStarting);
  EXPECT_EQ(state(third), JobState::kPending);
  const auto reasons = engine.explain(third);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons.front(),
            Reason(ReasonCode::kHeldBack, {{"device_class", "gpu"},
                                           {"need", 1},
                                           {"free", 2},
                                           {"held_back", 2},
                                           {"guaranteed_ns", Duration::hours(1).ns}}));
  EXPECT_EQ(*engine.main_reason(third), reasons.front());

  // Other work takes what was held back, and stops nobody for it.
  const JobId train = submit(WorkloadClass::kTrain, 2);
  EXPECT_EQ(state(train), JobState::kStarting);
  EXPECT_EQ(engine.job(first)->evictions + engine.job(second)->evictions, 0);
}

TEST_F(FillersTest, AFillerGoesWhereMostIsSpare) {
  node("a1", "A", 4);
  node("b1", "B", 4);
  book.drop[0] = 3;
  book.drop[1] = 1;
  EXPECT_EQ(node_of(submit(WorkloadClass::kFiller, 1)), "b1");
  EXPECT_EQ(node_of(submit(WorkloadClass::kFiller, 2)), "b1");
  EXPECT_EQ(node_of(submit(WorkloadClass::kFiller, 1)), "a1");
  EXPECT_EQ(state(submit(WorkloadClass::kFiller, 1)), JobState::kPending);
}

TEST_F(FillersTest, AGangCountsWhole) {
  node("a1", "A", 2);
  node("a2", "A", 2);
  book.drop[0] = 2;
  EXPECT_EQ(state(submit(WorkloadClass::kFiller, 1, 3)), JobState::kPending);
  EXPECT_EQ(state(submit(WorkloadClass::kFiller, 1, 2)), JobState::kStarting);
}

TEST_F(FillersTest, WhatWasHeldBackIsLookedAtAgainInTime) {
  node("a1", "A", 2);
  book.drop[0] = 2;
  const JobId filler = submit(WorkloadClass::kFiller, 1);
  EXPECT_EQ(state(filler), JobState::kPending);
  ASSERT_FALSE(engine.next_wake().is_never());
  book.drop[0] = 1;
  now = engine.next_wake();
  engine.step(now, {});
  EXPECT_EQ(state(filler), JobState::kStarting);
}

TEST(FillerAdmission, NoneKeepsThemWaiting) {
  EngineOptions options;
  options.fillers.admission = FillerAdmission::kNone;
  Engine engine(options, std::make_unique<FirstFit>());
  NodeSpec node;
  node.name = "n";
  node.cpu = MilliCores(8000);
  node.memory = Bytes(std::int64_t{8} << 30);
  JobSpec spec;
  spec.workload_class = WorkloadClass::kFiller;
  spec.roles.emplace_back();
  spec.roles.front().each.cpu = MilliCores(1000);
  engine.step(
      {}, std::vector<Event>{QueueConfigured{QueueSpec{}}, NodeJoined{node},
                             JobSubmitted{JobId(1), "u1", std::make_shared<JobSpec>(spec), {}}});
  EXPECT_EQ(engine.job(JobId(1))->state, JobState::kPending);
}

TEST(FillerAdmission, IsReadAsItIsWritten) {
  for (const auto admission :
       {FillerAdmission::kNone, FillerAdmission::kAny, FillerAdmission::kForecast})
    EXPECT_EQ(parse_filler_admission(to_string(admission)), admission);
  EXPECT_FALSE(parse_filler_admission("all"));
  for (const auto order : {VictimOrder::kLeastLost, VictimOrder::kYoungest})
    EXPECT_EQ(parse_victim_order(to_string(order)), order);
  EXPECT_FALSE(parse_victim_order("oldest"));
}

}  // namespace
}  // namespace gridfold
