#include "backends/local/partition_keeper.h"

#include <gtest/gtest.h>

#include <future>

namespace gridfold::local {
namespace {

// A device of eight slots whose driver is this.
class Driver {
 public:
  PartitionCalls calls() {
    return {.list = [this](const std::string&) { return Result<Known<Partitions>>(Known(all_)); },
            .make = [this](const std::string&, const std::string& profile,
                           std::int32_t start) -> Result<Partition> {
              log_ += " make " + profile + "@" + std::to_string(start);
              Partition made{"MIG-" + std::to_string(++last_), profile, start};
              all_.existing.push_back(made);
              return made;
            },
            .remove = [this](const std::string&, const std::string& uid) -> Result<void> {
              if (uid == in_use_) return internal("In use by another client");
              log_ += " remove " + uid;
              std::erase_if(all_.existing, [&](const auto& each) { return each.uid == uid; });
              return {};
            }};
  }
  void use(const std::string& uid) { in_use_ = uid; }
  void have(Partition partition) { all_.existing.push_back(std::move(partition)); }
  std::string log() const { return log_; }

 private:
  Partitions all_{{{"1g", 1, 1, {}, {0, 1, 2, 3, 4, 5, 6}}, {"3g", 3, 4, {}, {0, 4}}}, {}};
  int last_ = 0;
  std::string in_use_, log_;
};

PartitionKeeper::Key task(std::uint64_t job) { return {TaskId{JobId(job), 0}, 1}; }

class PartitionKeeperTest : public testing::Test {
 protected:
  // Its uid, or why not.
  std::string provide(std::uint64_t job, const std::string& profile, std::int32_t start) {
    std::promise<std::string> told;
    keeper_.provide(task(job), {"GPU-1", profile, start}, [&](Result<std::string> uid) {
      told.set_value(uid ? *uid : uid.error().describe());
    });
    return told.get_future().get();
  }

  Driver driver_;
  PartitionKeeper keeper_{driver_.calls()};
};

TEST_F(PartitionKeeperTest, MakesWhatIsAskedForAndKeepsItForTheNext) {
  EXPECT_EQ(provide(1, "3g", 0), "MIG-1");
  EXPECT_EQ(provide(2, "3g", 4), "MIG-2");
  keeper_.release(task(1));
  EXPECT_EQ(provide(3, "3g", 0), "MIG-1");
  EXPECT_EQ(driver_.log(), " make 3g@0 make 3g@4");
}

TEST_F(PartitionKeeperTest, RemovesWhatNobodyHoldsWhereItIsInTheWay) {
  EXPECT_EQ(provide(1, "1g", 1), "MIG-1");
  EXPECT_EQ(provide(2, "1g", 5), "MIG-2");
  keeper_.release(task(1));
  EXPECT_EQ(provide(3, "3g", 0), "MIG-3");
  EXPECT_EQ(driver_.log(), " make 1g@1 make 1g@5 remove MIG-1 make 3g@0");
}

// The engine gives out no place twice; should it happen, nobody loses his.
TEST_F(PartitionKeeperTest, NeverTakesOneThatATaskHolds) {
  EXPECT_EQ(provide(1, "1g", 1), "MIG-1");
  EXPECT_NE(provide(2, "3g", 0).find("still held by partition MIG-1"), std::string::npos);
  EXPECT_NE(provide(3, "1g", 1).find("still held"), std::string::npos);
  EXPECT_EQ(driver_.log(), " make 1g@1");
}

TEST_F(PartitionKeeperTest, WhatRunsSinceBeforeIsHeld) {
  driver_.have({"MIG-old", "1g", 0});
  keeper_.hold(task(1), "MIG-old");
  EXPECT_NE(provide(2, "3g", 0).find("still held by partition MIG-old"), std::string::npos);
  keeper_.release(task(1));
  EXPECT_EQ(provide(2, "3g", 0), "MIG-1");
}

TEST_F(PartitionKeeperTest, SaysWhyTheDriverRefuses) {
  driver_.have({"MIG-old", "1g", 0});
  driver_.use("MIG-old");
  const std::string told = provide(1, "3g", 0);
  EXPECT_NE(told.find("making room for a 3g"), std::string::npos) << told;
  EXPECT_NE(told.find("In use by another client"), std::string::npos) << told;
}

}  // namespace
}  // namespace gridfold::local
