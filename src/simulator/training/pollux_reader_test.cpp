#include "simulator/training/pollux_world.h"

#include <gtest/gtest.h>

#include "simulator/test_files.h"

namespace gridfold {
namespace {

std::string complaint(const auto& result) { return result ? "none" : result.error().describe(); }

TEST(PolluxReader, ErrorsNameFileLineAndField) {
  EXPECT_EQ(complaint(read_pollux_placements("placement,local_bsz,step_time,sync_time\n"
                                             "1,4,0.5,0.1\n10,4,0.5,0.1\n",
                                             "p.csv")),
            "line 3, column 1: placement: p.csv: \"10\" is not a placement (give the tasks of each "
            "node as digits from 1 to 9, such as 211)");
  EXPECT_EQ(complaint(read_pollux_placements("placement,local_bsz,step_time,sync_time\n"
                                             "1,4,0.5,0.5\n",
                                             "p.csv")),
            "line 2, column 9: sync_time: p.csv: is not below the step's time (a step contains its "
            "synchronisation)");
  EXPECT_EQ(
      complaint(read_pollux_scalability("num_nodes,num_replicas,local_bsz,step_time,sync_time\n"
                                        "6,6,4,nan,0.1\n",
                                        "s.csv")),
      "line 2, column 7: step_time: s.csv: \"nan\" is not a number (give a number, such as "
      "0.25)");
  EXPECT_EQ(complaint(read_pollux_validation("progress,iteration,grad_sqr,grad_var\n"
                                             "5,5,1,1\n5,9,1,1\n",
                                             "v.csv")),
            "line 3, column 1: progress: v.csv: is not above that of the epoch before (list the "
            "epochs in their order)");
  EXPECT_EQ(complaint(read_pollux_program(test_data("pollux/traces"), "gpt")),
            "there is no program \"gpt\" in the Pollux world (its programs are bert, cifar10, "
            "deepspeech2, imagenet, ncf and yolov3)");
}

TEST(PolluxReader, WorkloadErrors) {
  const auto programs = read_pollux_programs(test_data("pollux/traces"));
  ASSERT_TRUE(programs) << programs.error().describe();
  const auto read = [&](const std::string& lines) {
    return complaint(read_pollux_workload("name,time,application,num_replicas,batch_size\n" + lines,
                                          "w.csv", *programs, {}));
  };
  EXPECT_EQ(
      read("a,5,cifar-10,1,128\n"),
      "line 2, column 5: application: w.csv: \"cifar-10\" is no program of this world (name one "
      "of data/pollux/traces, or did you mean 'cifar10')");
  EXPECT_EQ(
      read("a,5,cifar10,1,128\nb,4,cifar10,1,128\n"),
      "line 3, column 3: time: w.csv: lies before that of the job above (list the jobs in the "
      "order of their times)");
  EXPECT_EQ(read("a,5,cifar10,1,64\n"),
            "line 2, column 15: batch_size: w.csv: \"64\" is out of range (give a number from 128 "
            "to 4096)");
  EXPECT_EQ(read("a,5,cifar10,1,128\n"), "none");
}

TEST(PolluxReader, WhatAJobDeclares) {
  const auto programs = read_pollux_programs(test_data("pollux/traces"));
  ASSERT_TRUE(programs) << programs.error().describe();
  const TrainingDeclaration bert = programs->at("bert")->declaration(24);
  EXPECT_EQ(bert.initial_batch, 12);
  EXPECT_EQ(bert.max_batch, 384);
  EXPECT_EQ(bert.min_local_batch, 4);
  EXPECT_EQ(bert.max_local_batch, 12);
  EXPECT_EQ(bert.epochs.value(), 2);
  EXPECT_EQ(programs->at("yolov3")->max_local_batch, 8);
  EXPECT_EQ(programs->at("ncf")->most_tasks(), 1);
  // The least over the batches.
  EXPECT_DOUBLE_EQ(programs->at("bert")->curve.progress_after(1), 7387.0);
}

}  // namespace
}  // namespace gridfold
