#include "backends/local/records.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "backends/local/files.h"
#include "base/base64.h"

namespace gridfold::local {
namespace {

TEST(Records, AnOrderReadsBackAsItWas) {
  ShimOrder order;
  order.task = {JobId(~0ull >> 1), 3};
  order.name = {"0190-abc", 3, 2};
  order.command = {"/bin/echo", "a \"b\"\n\t\x01 ü"};
  order.environment = {{"A", ""}, {"B", "x=y"}};
  order.workdir = "/some where";
  order.files = {{"a/b", std::string("\0\xff\n", 3), true}, {"empty", "", false}};
  order.run_as = RunAs{1000, 1001};
  order.limits = {1500, std::int64_t{1} << 40, 64};
  order.log_limit_bytes = 77;
  order.stop_signal = "USR1";
  order.stop_grace_ns = 5;
  order.devices = ~0ull;
  const auto back = parse_order(to_json(order));
  ASSERT_TRUE(back) << back.error().describe();
  EXPECT_EQ(to_json(*back), to_json(order));
  EXPECT_EQ(back->task, order.task);
  EXPECT_EQ(back->files[0].content, order.files[0].content);
  EXPECT_EQ(back->devices, order.devices);
}

TEST(Records, StatusAndStopReadBack) {
  AttemptStatus status;
  status.phase = AttemptStatus::Phase::kCleaned;
  status.exit = {.code = 0, .signal = 9, .out_of_memory = true, .lost = false};
  status.dirty_devices = 5;
  auto back = parse_status(to_json(status));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->exit, status.exit);
  EXPECT_EQ(back->dirty_devices, 5u);
  status = {
      .phase = AttemptStatus::Phase::kLaunchFailed, .message = "no", .fault = LaunchFault::kJob};
  back = parse_status(to_json(status));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->message, "no");
  EXPECT_EQ(back->fault, LaunchFault::kJob);
  const auto stop = parse_stop(to_json(StopRequest{"INT", 12}));
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->signal, "INT");
  EXPECT_EQ(stop->deadline_ns, 12);
}

TEST(Records, DamageIsCorruptAndNeverACrash) {
  const std::string good = to_json(ShimOrder{.name = {"job", 0, 1}, .command = {"x"}});
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto read = parse_order(good.substr(0, length));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
  }
  EXPECT_FALSE(parse_status(R"({"phase":"flying"})"));
  EXPECT_FALSE(parse_status(R"([1])"));
  EXPECT_FALSE(parse_identity(R"({"pid":"x","start_time":1})"));
  EXPECT_TRUE(parse_status(R"({"phase":"started","of a later version":1})"));
}

TEST(Records, OnlySafeNamesBecomeFolders) {
  EXPECT_TRUE(is_safe_name("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "a\n", "é"}) {
    EXPECT_FALSE(is_safe_name(name)) << name;
  }
  EXPECT_FALSE(is_safe_name(std::string(65, 'a')));
  const auto attempt = parse_attempt("job", "12.3");
  ASSERT_TRUE(attempt);
  EXPECT_EQ(*attempt, (AttemptName{"job", 12, 3}));
  for (const char* folder :
       {"", "1", "1.", ".1", "1.2.3", "01.2", "1.-2", "a.b", "1.99999999999"}) {
    EXPECT_FALSE(parse_attempt("job", folder)) << folder;
  }
}

TEST(Records, SignalsHaveNames) {
  EXPECT_EQ(signal_number("TERM"), SIGTERM);
  EXPECT_EQ(signal_number("SIGUSR1"), SIGUSR1);
  EXPECT_FALSE(signal_number("NOPE"));
  EXPECT_FALSE(signal_number(""));
}

TEST(Base64, RoundTripsEveryLengthAndRefusesTheRest) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const auto back = from_base64(to_base64(bytes));
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  for (const char* text : {"a", "ab", "abc", "====", "a===", "Zg==Zg==", "Z!==", "Zm9\n"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

class Beneath : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/tmp/gridfold-files-test-XXXXXX";
    root_ = ::mkdtemp(path.data());
    std::filesystem::create_directories(root_ + "/in/sub");
    std::filesystem::create_symlink(root_, root_ + "/in/link");
    ASSERT_TRUE(replace_file(open_folder(root_)->get(), "secret", "s", Durability::kDurable));
    folder_ = std::move(*open_folder(root_ + "/in"));
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root_;
  FileDescriptor folder_;
};

TEST_F(Beneath, NothingLeadsOut) {
  for (const char* path :
       {"../secret", "link/secret", "/etc/passwd", "sub/../../secret", "", "link"}) {
    EXPECT_FALSE(open_beneath(folder_.get(), path, O_RDONLY)) << path;
  }
  EXPECT_FALSE(make_folders_beneath(folder_.get(), "link/made", 0700));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/made"));
  EXPECT_TRUE(make_folders_beneath(folder_.get(), "sub/a//b/./c", 0700));
  EXPECT_TRUE(std::filesystem::is_directory(root_ + "/in/sub/a/b/c"));
}

TEST_F(Beneath, ATreeIsRemovedWithoutFollowingLinks) {
  ASSERT_TRUE(remove_tree(open_folder(root_)->get(), "in"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/in"));
  EXPECT_TRUE(std::filesystem::exists(root_ + "/secret"));
  EXPECT_TRUE(remove_tree(open_folder(root_)->get(), "in"));  // gone already
}

TEST_F(Beneath, ALongRecordIsRefused) {
  ASSERT_TRUE(replace_file(folder_.get(), "big", std::string(10000, 'x'), Durability::kOrdered));
  EXPECT_EQ(read_file(folder_.get(), "big", 100).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(read_file(folder_.get(), "big", 10000)->size(), 10000u);
  EXPECT_EQ(read_file(folder_.get(), "none", 100).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace gridfold::local
