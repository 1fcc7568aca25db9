// The words of the model: names read back, reasons print, decisions have one
// canonical form.
#include <gtest/gtest.h>

#include "model/decision.h"

namespace gridfold {
namespace {

template <class Enum>
void expect_names_read_back(Enum last, std::optional<Enum> (*parse)(std::string_view)) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(parse(to_string(value)), value);
    EXPECT_FALSE(to_string(value).empty());
  }
  EXPECT_EQ(parse(""), std::nullopt);
  EXPECT_EQ(parse("no such word"), std::nullopt);
}

TEST(Model, NamesReadBack) {
  expect_names_read_back(JobState::kCancelled, parse_job_state);
  expect_names_read_back(TaskPhase::kDone, parse_task_phase);
  expect_names_read_back(StopCause::kNodeLost, parse_stop_cause);
  expect_names_read_back(WorkloadClass::kFiller, parse_workload_class);
  expect_names_read_back(RetryCause::kOutOfMemory, parse_retry_cause);
  expect_names_read_back(DependencyCondition::kFailed, parse_dependency_condition);
  expect_names_read_back(ReasonCode::kDeviceDirty, parse_reason_code);
  EXPECT_EQ(to_string(JobState::kStopping), "stopping");
  EXPECT_EQ(to_string(ReasonCode::kInsufficientFree), "InsufficientFree");
  EXPECT_EQ(to_string(ReasonCode::kDependencyNeverMet), "DependencyNeverMet");
}

TEST(Model, OnlyTheFirstReasonsMeanNever) {
  EXPECT_TRUE(is_never(ReasonCode::kExceedsCluster));
  EXPECT_TRUE(is_never(ReasonCode::kQueueClosed));
  EXPECT_FALSE(is_never(ReasonCode::kInsufficientFree));
  EXPECT_FALSE(is_never(ReasonCode::kCompleted));
}

TEST(Model, ReasonsCarryNumbersAndTexts) {
  const Reason reason(ReasonCode::kInsufficientFree, {{"resource", "gpu"}, {"need", 8}});
  EXPECT_EQ(reason.number("need"), 8);
  EXPECT_EQ(reason.number("resource"), -1);
  EXPECT_EQ(reason.number("free", 0), 0);
  EXPECT_EQ(reason.text("resource"), "gpu");
  EXPECT_EQ(reason.text("need"), "");
  EXPECT_EQ(to_json(reason), R"({"code":"InsufficientFree","params":{"resource":"gpu","need":8}})");
  EXPECT_EQ(to_json(Reason()), R"({"code":"NotYetConsidered","params":{}})");
}

std::string canonical(const Decision& decision) {
  std::string bytes;
  append_canonical(decision, bytes);
  return bytes;
}

TEST(Model, DecisionsHaveOneCanonicalForm) {
  using namespace std::string_literals;
  EXPECT_EQ(canonical(StopTask{{JobId(0x0102), 3}, 4, StopCause::kPreempt}),
            "\x01\x02\x01\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\x02"s);
  EXPECT_EQ(canonical(Preempted{JobId(1), {JobId(2)}}),
            "\x03\x01\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0"s);
  const NodeDrained drained{NodeId(7), Reason(ReasonCode::kDrainedBy, {{"by", "ann"}})};
  EXPECT_EQ(canonical(drained), "\x04\x07\0\0\0"s + static_cast<char>(ReasonCode::kDrainedBy) +
                                    "\x01\0\0\0\x02\0\0\0by\x01\x03\0\0\0"s + "ann");
  EXPECT_EQ(canonical(LaunchTask{{JobId(1), 0}, 1, {NodeId(2), 3}, 4, -1}),
            "\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\x04\0\0\0"s +
                std::string(8, '\xFF'));
  EXPECT_NE(canonical(JobChanged{JobId(1), JobState::kPending, JobState::kStarting, {}}),
            canonical(JobChanged{JobId(1), JobState::kPending, JobState::kRunning, {}}));
}

}  // namespace
}  // namespace gridfold
