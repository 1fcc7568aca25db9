#include "devices/call_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

namespace gridfold {
namespace {

constexpr Duration kLong = Duration::seconds(30);
constexpr Duration kShort = Duration::milliseconds(30);

TEST(CallThread, ReturnsValuesAndErrors) {
  CallThread thread;
  const auto value = thread.call<int>("a", kLong, [] { return Result<int>(7); });
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
  const auto error = thread.call<int>("b", kLong, []() -> Result<int> { return invalid("no"); });
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "no");
  EXPECT_TRUE(thread.answering());
}

TEST(CallThread, GivesUpAtTheDeadlineAndRecovers) {
  CallThread thread;
  auto gate = std::make_shared<std::promise<void>>();
  const auto late = thread.call<int>("slow", kShort, [gate]() -> Result<int> {
    gate->get_future().wait();
    return 1;
  });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(late.error().message.find("\"slow\""), std::string::npos);
  EXPECT_FALSE(thread.answering());
  // No second wait: the answer comes at once, whatever the deadline.
  const auto refused = thread.call<int>("next", kLong, [] { return Result<int>(2); });
  EXPECT_FALSE(refused);
  gate->set_value();
  while (!thread.answering()) std::this_thread::yield();
  EXPECT_TRUE(thread.call<int>("next", kLong, [] { return Result<int>(2); }));
}

TEST(CallThread, IsLeftBehindWhileACallHangs) {
  auto gate = std::make_shared<std::promise<void>>();
  {
    CallThread thread;
    EXPECT_FALSE(thread.call<int>("hang", kShort, [gate]() -> Result<int> {
      gate->get_future().wait();
      return 1;
    }));
  }
  gate->set_value();
}

TEST(CallThread, SerialisesCallers) {
  CallThread thread;
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        const auto answer = thread.call<int>("count", kLong, [&, i]() -> Result<int> {
          if (inside++ != 0) ++overlaps;
          --inside;
          return i;
        });
        EXPECT_TRUE(answer && *answer == i);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace gridfold
