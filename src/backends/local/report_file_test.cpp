// What a job writes into its report file, kindly or not.
#include "backends/local/report_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "backends/local/files.h"
#include "tests/support/temporary_directory.h"

namespace gridfold::local {
namespace {

class ReportFileTest : public testing::Test {
 protected:
  TemporaryDirectory directory;
  FileDescriptor folder{::open((directory / ".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ReportFile file;

  void append(std::string_view text) {
    std::ofstream(directory / "r.jsonl", std::ios::app) << text;
  }
  TaskReport read() { return file.read(folder.get(), "r.jsonl"); }
};

TEST_F(ReportFileTest, GivesTheLatestOfEachKindSinceTheLastTime) {
  EXPECT_TRUE(read().empty());
  append("{\"step\":3,\"step_seconds\":0.25,\"batch\":64,\"noise\":1.5}\n{\"saved\":3}\n");
  append("{\"step\":4,\"loss\":0.5}\n{\"step\":5");  // its end is yet to come
  TaskReport expected;
  expected.step = 4;
  expected.step_time = Duration::milliseconds(250);
  expected.batch = 64;
  expected.noise_thousandths = 1500;
  expected.saved = 3;
  EXPECT_EQ(read(), expected);
  EXPECT_TRUE(read().empty());
  append("}\n");
  EXPECT_EQ(read().step, 5);
}

TEST_F(ReportFileTest, WhatIsNoReportIsPassedOver) {
  append("\n[]\nnull\n{\"saved\":\"3\"}\n{\"saved\":-1}\n{\"saved\":1e300}\n{\"saved\":tru\n");
  append("{\"saved\":true}\n\xff\xfe\n{\"step_seconds\":1e99}\n");
  append(std::string(kMaxReportLine + 1, 'x') + "\n");
  EXPECT_TRUE(read().empty());
  append("{\"saved\":7}\n");
  EXPECT_EQ(read().saved, 7);
}

TEST_F(ReportFileTest, ReadsAtMostSoMuchAtOnce) {
  append(std::string(3 * kMaxReportBytes, 'x'));
  append("\n{\"saved\":1}\n");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(read().empty());
  EXPECT_EQ(read().saved, 1);
}

TEST_F(ReportFileTest, AFileWrittenAnewIsReadFromItsStart) {
  append("{\"saved\":1}\n{\"saved\":2}\n");
  EXPECT_EQ(read().saved, 2);
  std::ofstream(directory / "r.jsonl") << "{\"saved\":3}\n";
  EXPECT_EQ(read().saved, 3);
}

TEST_F(ReportFileTest, LinksAndPipesAreNoReports) {
  std::ofstream(directory / "secret") << "{\"saved\":1}\n";
  ASSERT_EQ(::symlink("secret", (directory / "r.jsonl").c_str()), 0);
  EXPECT_TRUE(read().empty());
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(file.read(folder.get(), "pipe").empty());
}

}  // namespace
}  // namespace gridfold::local
