#include "wire/job_file.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

std::vector<JobSpec> jobs(std::string_view text, JobFileFormat format = JobFileFormat::kYaml) {
  const auto parsed = parse_job_file(text, format);
  if (parsed) return *parsed;
  ADD_FAILURE() << parsed.error().describe();
  return {JobSpec{.roles = {Role{}}}};
}

std::string refusal(std::string_view text, JobFileFormat format = JobFileFormat::kYaml) {
  const auto parsed = parse_job_file(text, format);
  return parsed ? "accepted" : parsed.error().describe();
}

TEST(JobFile, ReadsWhatUsersWriteMost) {
  const JobSpec job = jobs(R"(
name: llama-70b-pretrain
class: train
queue: research/llm
roles:
  - name: worker
    count: {min: 8, max: 16}
    each: {gpu: 8, gpu_model: [H100, H200], gpu_memory: 80GiB, cpu: 96, memory: 1TiB}
    run: torchrun train.py
    env: {NCCL_DEBUG: INFO, DEPTH: 3}
checkpoint: {signal: USR1, grace: 120s, interval: 30m, cost: 90s}
retry: {max: 3, backoff: 10s, on: node_lost}
after: [prep, {job: eval, on: any}]
files: {conf/a.txt: hello}
time_limit: 36h
)")[0];
  EXPECT_EQ(job.name, "llama-70b-pretrain");
  EXPECT_EQ(job.queue, "research/llm");
  EXPECT_EQ(job.tenant, "default");
  const Role& role = job.roles.at(0);
  EXPECT_EQ(role.min, 8);
  EXPECT_EQ(role.count, 16);
  EXPECT_EQ(role.each.cpu, MilliCores(96'000));
  EXPECT_EQ(role.each.memory, Bytes(1ll << 40));
  const DeviceRequest gpu = {"gpu", 8, kWholeDevice, Bytes(80ll << 30), {"H100", "H200"}};
  EXPECT_EQ(role.each.devices, std::vector{gpu});
  EXPECT_EQ(role.command, (std::vector<std::string>{"/bin/sh", "-c", "torchrun train.py"}));
  EXPECT_EQ(role.env.at("DEPTH"), "3");
  EXPECT_EQ(job.checkpoint->signal, "USR1");
  EXPECT_EQ(job.checkpoint->interval.value(), Duration::minutes(30));
  EXPECT_EQ(job.retry.on, std::vector{RetryCause::kNodeLost});
  EXPECT_EQ(job.after.at(1), (Dependency{"eval", DependencyCondition::kAny}));
  EXPECT_EQ(job.files.at(0), (StagedFile{"conf/a.txt", "hello", false}));
  EXPECT_EQ(job.time_limit.bound(), Duration::hours(36));
}

TEST(JobFile, ShortFormMakesOneRole) {
  const JobSpec job = jobs("name: hello\nrun: [echo, hi, 5]\ncount: 3\neach: {npu: 2}\n")[0];
  ASSERT_EQ(job.roles.size(), 1u);
  EXPECT_EQ(job.roles[0].name, "main");
  EXPECT_EQ(job.roles[0].count, 3);
  EXPECT_EQ(job.roles[0].min, 3);
  EXPECT_EQ(job.roles[0].command, (std::vector<std::string>{"echo", "hi", "5"}));
  EXPECT_EQ(job.roles[0].each.devices[0].device_class, "npu");
}

TEST(JobFile, UnstatedNeedsAreNotZero) {
  const Role role = jobs("name: a\nrun: x\n")[0].roles[0];
  EXPECT_EQ(role.each.cpu, kDefaultCpu);
  EXPECT_EQ(role.each.memory, kDefaultMemory);
  EXPECT_TRUE(role.each.devices.empty());
}

TEST(JobFile, SharesOfADevice) {
  const auto request = [](const std::string& each) {
    return jobs("name: a\nrun: x\neach: {" + each + "}\n")[0].roles[0].each.devices.at(0);
  };
  EXPECT_EQ(request("gpu: 0.25"), (DeviceRequest{"gpu", 1, DeviceShare(250)}));
  EXPECT_EQ(request("gpu: \"0.5\""), (DeviceRequest{"gpu", 1, DeviceShare(500)}));
  EXPECT_EQ(request("gpu: 1.0"), (DeviceRequest{"gpu", 1, kWholeDevice}));
  EXPECT_EQ(request("gpu: 0.1, gpu_memory: 2000MiB"),
            (DeviceRequest{"gpu", 1, DeviceShare(100), Bytes(2000ll << 20)}));
  EXPECT_EQ(request("gpu_memory: 2000MiB"),
            (DeviceRequest{"gpu", 1, DeviceShare(0), Bytes(2000ll << 20)}));
  EXPECT_EQ(request("gpu: 4, gpu_place: single_numa").place, DevicePlace::kSingleNuma);
  EXPECT_EQ(request("gpu: 4, gpu_place: spread").place, DevicePlace::kSpread);
  const DeviceRequest part = {"gpu", 1, DeviceShare(0), {}, {}, DevicePlace::kAny, "3g.40gb"};
  EXPECT_EQ(request("gpu_partition: 3g.40gb"), part);
  EXPECT_EQ(request("gpu: 1, gpu_partition: 3g.40gb"), part);
  EXPECT_EQ(request("devices: [{class: dpu, amount: 2, model: bf3}]"),
            (DeviceRequest{"dpu", 2, kWholeDevice, Bytes(0), {"bf3"}}));
  for (const auto* each : {"gpu: 1.5",
                           "gpu: 0",
                           "gpu: 65",
                           "gpu: 0.0001",
                           "gpu: -1",
                           "gpu: 250m",
                           "gpu: many",
                           "gpu: [1]",
                           "gpu: 1, devices: [{class: gpu, amount: 1}]",
                           "gpu: 40, npu: 40",
                           "gpu_memory: 0",
                           "gpu_model: H100",
                           "gpu: 4, gpu_place: any",
                           "gpu: 0.5, gpu_place: linked",
                           "gpu_place: linked",
                           "gpu_partition: \"\"",
                           "gpu: 2, gpu_partition: a",
                           "gpu: 0.5, gpu_partition: a",
                           "gpu_memory: 1Gi, gpu_partition: a",
                           "gpu_partition: a, gpu_place: linked",
                           "gpu_partition: 3",
                           "gpu_partition: a, npu_partition: b"})
    EXPECT_FALSE(parse_job_file("name: a\nrun: x\neach: {" + std::string(each) + "}\n",
                                JobFileFormat::kYaml))
        << each;
}

// Case F16.
TEST(JobFile, HugeCountsAndSumsAreRefused) {
  EXPECT_EQ(refusal(R"([{"name": "J1", "roles": [
      {"name": "a", "count": 9223372036854775807, "each": {"gpu": 1}, "run": "x"}]}])",
                    JobFileFormat::kJson),
            "line 2, column 30: roles[0].count: 9223372036854775807 is out of range "
            "(give a whole number from 1 to 100000)");
  EXPECT_EQ(refusal("name: a\nroles:\n"
                    "  - {name: v, count: 60000, run: x}\n  - {name: w, count: 60000, run: x}\n"),
            "line 3, column 3: roles: the job has 120000 tasks (a job may have 100000)");
  EXPECT_EQ(refusal("name: a\nrun: x\ncount: 100\neach: {memory: 1E}\n"),
            "line 1, column 1: the memory of all tasks together is more than can be counted "
            "(ask for less, or for fewer tasks)");
}

// Case F18.
TEST(JobFile, OddAmountsOfMemoryAreRefused) {
  for (const auto* memory : {"256m", "\"\"", "\" 4 \"", "null", "NaN", "inf", "0x10", "１２８Mi",
                             "1_000", "-1", "1e3", "true", "[1]", "0"})
    EXPECT_FALSE(parse_job_file("name: a\nrun: x\neach: {memory: " + std::string(memory) + "}\n",
                                JobFileFormat::kYaml))
        << memory;
  EXPECT_EQ(refusal("name: a\nrun: x\neach: {memory: 256m}\n"),
            "line 3, column 16: each.memory: \"256m\" is not an amount of memory: unknown suffix "
            "\"m\" (did you mean M or Mi?)");
}

TEST(JobFile, SeveralJobsAreOneBatch) {
  EXPECT_EQ(jobs("name: a\nrun: x\n---\nname: b\nrun: y\n").size(), 2u);
  EXPECT_EQ(
      jobs(R"([{"name": "a", "run": "x"}, {"name": "b", "run": "y"}])", JobFileFormat::kJson)[1]
          .name,
      "b");
  EXPECT_EQ(jobs("jobs:\n  - {name: a, run: x}\n  - {name: b, run: y}\n")[1].name, "b");
  EXPECT_EQ(refusal("name: a\nrun: x\n---\nname: b\nrum: y\n"),
            "line 5, column 1: jobs[1].rum: unknown key (did you mean \"run\"?)");
  EXPECT_EQ(refusal("[]", JobFileFormat::kJson), "the file holds no job");
}

TEST(JobFile, ArraysExpand) {
  const auto sweep = jobs("name: sweep\nrun: x\narray: 1,3,7-8\n");
  ASSERT_EQ(sweep.size(), 4u);
  EXPECT_EQ(sweep[1].name, "sweep[3]");
  EXPECT_EQ(sweep[1].array_index, 3);
  EXPECT_EQ(jobs("name: s\nrun: x\narray: {from: 0, to: 98, step: 2}\n").size(), 50u);
  for (const auto* few : {"7-9%2", "{from: 7, to: 9, limit: 2}"}) {
    const auto limited = jobs("name: s\nrun: x\narray: " + std::string(few) + "\n");
    ASSERT_EQ(limited.size(), 3u);
    for (std::int32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(limited[static_cast<std::size_t>(i)].array_position, i);
      EXPECT_EQ(limited[static_cast<std::size_t>(i)].array_limit, 2);
    }
  }

  const auto batch = jobs("name: s\nrun: x\narray: 0-2\n---\nname: end\nrun: x\nafter: {s: any}\n");
  ASSERT_EQ(batch.size(), 4u);
  EXPECT_EQ(batch[3].after, (std::vector<Dependency>{{"s[0]", DependencyCondition::kAny},
                                                     {"s[1]", DependencyCondition::kAny},
                                                     {"s[2]", DependencyCondition::kAny}}));
  for (const auto* array : {"0-10000", "0-1000000000000", "1,1", "3-1", "a", "\"\"", "1,", "-1",
                            "0-9%", "0-9%0", "0-9%4%4", "%4", "0-9%10001"})
    EXPECT_FALSE(parse_job_file("name: s\nrun: x\narray: " + std::string(array) + "\n",
                                JobFileFormat::kYaml))
        << array;
  EXPECT_EQ(
      parse_job_file("name: s\nrun: x\narray: 0-9999\n---\nname: t\nrun: x\n", JobFileFormat::kYaml)
          .error()
          .kind,
      ErrorKind::kLimit);
  EXPECT_EQ(parse_job_file("name: s\nrun: x\narray: 0-999\n---\n"
                           "name: t\nrun: x\narray: 0-999\nafter: s\n",
                           JobFileFormat::kYaml)
                .error()
                .kind,
            ErrorKind::kLimit);
}

// A megabyte of text must not become gigabytes of jobs.
TEST(JobFile, TheBytesOfAnArrayAreLimited) {
  const std::string big(500'000, 'x');
  const auto parsed = parse_job_file("name: s\nrun: x\narray: 0-9999\nenv: {A: " + big + "}\n",
                                     JobFileFormat::kYaml);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(parsed.error().message, "the batch has more than 67108864 bytes, arrays expanded");
}

std::string batch_of(std::initializer_list<std::pair<const char*, const char*>> edges) {
  std::string text;
  for (const auto& [name, after] : edges) {
    text += "---\nname: " + std::string(name) + "\nrun: x\n";
    if (*after != '\0') text += "after: " + std::string(after) + "\n";
  }
  return text;
}

// Case F24.
TEST(JobFile, CyclesAreRefusedWithTheirPath) {
  EXPECT_EQ(refusal(batch_of({{"a", "b"}, {"b", "a"}, {"c", "b"}, {"d", "b"}, {"e", "[c, d]"}})),
            "line 8, column 8: jobs[1].after: jobs wait for each other: a→b→a "
            "(remove one of these dependencies)");
  EXPECT_EQ(refusal("name: f\nrun: x\nafter: f\n"),
            "line 3, column 8: after: jobs wait for each other: f→f "
            "(a job cannot wait for itself)");
  EXPECT_EQ(refusal("name: s\nrun: x\narray: 0-1\nafter: s\n"),
            "line 4, column 8: after: jobs wait for each other: s[0]→s[0] "
            "(a job cannot wait for itself)");
}

TEST(JobFile, NamesBeyondTheBatchAreTheServersToResolve) {
  const auto batch = jobs(batch_of({{"g", "z"}}));
  const auto missing = check_dependencies(batch, [](std::string_view) { return false; });
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().describe(),
            "jobs[0].after[0]: there is no job \"z\" "
            "(submit it first or in the same batch, or correct the name)");
  EXPECT_TRUE(check_dependencies(batch, [](std::string_view name) { return name == "z"; }));
}

TEST(JobFile, ANameThatTwoJobsBearCannotBeWaitedFor) {
  EXPECT_TRUE(parse_job_file(batch_of({{"a", ""}, {"a", ""}}), JobFileFormat::kYaml));
  EXPECT_EQ(refusal(batch_of({{"a", ""}, {"a", ""}, {"b", "a"}})),
            "line 10, column 8: jobs[2].after: two jobs of this batch are named \"a\" "
            "(give them different names)");
}

TEST(JobFile, LongChainsAreNoTrouble) {
  std::vector<JobSpec> chain(kMaxJobsPerBatch);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    chain[i].name = "j" + std::to_string(i);
    if (i + 1 < chain.size()) chain[i].after = {{"j" + std::to_string(i + 1), {}}};
  }
  const auto none = [](std::string_view) { return false; };
  EXPECT_TRUE(check_dependencies(chain, none));
  chain.back().after = {{"j0", {}}};
  EXPECT_EQ(check_dependencies(chain, none).error().message,
            "jobs wait for each other: j0→…→j0, 10000 jobs");
}

TEST(JobFile, StoredJobsHaveTwoKeysMore) {
  const auto stored = parse_stored_job(
      R"({"name": "s[3]", "tenant": "ann", "array_index": 3, "run": "x", "each": {"cpu": 0}})");
  ASSERT_TRUE(stored) << stored.error().describe();
  EXPECT_EQ(stored->tenant, "ann");
  EXPECT_EQ(stored->array_index, 3);
  EXPECT_EQ(stored->roles[0].each.cpu, MilliCores(0));
  // Case F17: an old record with a negative amount does not read back.
  const auto negative = parse_stored_job(R"({"name": "s", "run": "x", "each": {"cpu": "-100m"}})");
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().kind, ErrorKind::kCorrupt);
  EXPECT_EQ(negative.error().field, "each.cpu");
  EXPECT_EQ(parse_stored_job("{").error().kind, ErrorKind::kCorrupt);
}

TEST(JobFile, AJobWithoutAClassGetsOneByItsFeatures) {
  const auto spec = [](const std::string& more) {
    const auto jobs = parse_job_file("name: a\nrun: x\n" + more, JobFileFormat::kYaml);
    EXPECT_TRUE(jobs) << more;
    return jobs->front();
  };
  const auto by = [&](const std::string& more) {
    EXPECT_EQ(spec(more).class_source, ClassSource::kFeatures) << more;
    return spec(more).workload_class;
  };
  EXPECT_EQ(by(""), WorkloadClass::kTrain);
  EXPECT_EQ(by("count: 4\neach: {gpu: 8}\n"), WorkloadClass::kTrain);
  EXPECT_EQ(by("ports: 8000\n"), WorkloadClass::kInfer);
  EXPECT_EQ(by("ports: [1, 2]\ncount: {min: 1, max: 4}\neach: {gpu: 1}\n"), WorkloadClass::kInfer);
  EXPECT_EQ(by("ports: 29500\ncount: 2\ntopology: {require: rack}\n"), WorkloadClass::kTrain);
  EXPECT_EQ(by("ports: 6006\ncheckpoint: {}\ntraining: {}\n"), WorkloadClass::kTrain);
  EXPECT_EQ(spec("class: filler\nports: 8000\n").workload_class, WorkloadClass::kFiller);
  EXPECT_EQ(spec("class: filler\nports: 8000\n").class_source, ClassSource::kGiven);
}

}  // namespace
}  // namespace gridfold
