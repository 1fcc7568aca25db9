#include "wire/job_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>

#include "base/random.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

// Draws specs such as the parsers make.
class SpecMaker {
 public:
  explicit SpecMaker(std::uint64_t seed) : random_(seed, "spec") {}

  JobSpec job() {
    JobSpec spec;
    spec.name = word();
    spec.tenant = word();
    spec.queue = word() + (some() ? "/" + word() : "");
    spec.workload_class = static_cast<WorkloadClass>(random_.below(3));
    if (some()) spec.class_source = ClassSource::kFeatures;
    if (some()) spec.ports = {static_cast<std::int32_t>(random_.between(1, 30'000)), 65'535};
    spec.priority = static_cast<std::int32_t>(random_.between(-1'000'000'000, 1'000'000'000));
    for (std::uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i)
      spec.roles.push_back(role("r" + std::to_string(i)));
    if (random_.chance(1, 4)) communicate(spec);
    if (some()) spec.topology = topology(spec);
    spec.env = env();
    if (some()) spec.workdir = "/" + text();
    for (std::uint64_t i = 0, n = random_.below(3); i < n; ++i)
      spec.files.push_back({"d/" + std::to_string(i), bytes(), some()});
    spec.retry = retry();
    for (std::uint64_t i = 0, n = random_.below(3); i < n; ++i)
      spec.after.push_back({word(), static_cast<DependencyCondition>(random_.below(3))});
    if (some()) {
      spec.array_index = random_.between(0, 1'000'000'000);
      spec.array_position = static_cast<std::int32_t>(random_.between(0, 9'999));
      if (some()) spec.array_limit = static_cast<std::int32_t>(random_.between(1, 10'000));
      spec.name += "[" + std::to_string(*spec.array_index) + "]";
    }
    spec.stop = {signal(), duration(0)};
    if (some()) spec.checkpoint = checkpoint();
    if (spec.workload_class == WorkloadClass::kTrain && spec.roles.size() == 1 && some())
      spec.training = training();
    if (some()) spec.time_limit = duration(1);
    return spec;
  }

 private:
  bool some() { return random_.chance(1, 2); }

  std::string word() { return "w" + std::to_string(random_.below(100'000)); }

  std::string text() {
    static const std::string kPieces[] = {"a",    "\"", "\\",   "\n",   "\t",
                                          "\x01", " ",  "作业", "🙂", "/"};
    std::string out;
    for (std::uint64_t i = 0, n = random_.below(9); i < n; ++i) out += kPieces[random_.below(10)];
    return out;
  }
  std::string bytes() {
    if (some()) return text();
    std::string out;
    for (std::uint64_t i = 0, n = random_.below(9); i < n; ++i)
      out += static_cast<char>(random_.below(256));
    return out;
  }
  std::map<std::string, std::string> env() {
    std::map<std::string, std::string> out;
    for (std::uint64_t i = 0, n = random_.below(3); i < n; ++i) out["V_" + word()] = text();
    return out;
  }

  // Up to ten years, often round.
  Duration duration(std::int64_t least) {
    static constexpr std::int64_t kUnits[] = {1, 1000, 1'000'000, 1'000'000'000, 60'000'000'000};
    const std::int64_t unit = kUnits[random_.below(5)];
    const std::int64_t longest = Duration::hours(24 * 3650).ns / unit;
    return {random_.between(least, random_.between(least, longest)) * unit};
  }
  std::string signal() { return std::string(kSignals[random_.below(kSignals.size())]); }

  // Of 2^k devices, in all its roles alike.
  void communicate(JobSpec& spec) {
    JobTraffic traffic;
    traffic.tensor = 1 << random_.below(3);
    traffic.pipeline = 1 << random_.below(3);
    traffic.expert = 1 << random_.below(2);
    traffic.compute = duration(0);
    if (traffic.compute > Duration::hours(24)) traffic.compute = Duration::hours(24);
    spec.roles.resize(1);
    Role& role = spec.roles.front();
    role.count = 32;
    role.multiple_of = 1;
    role.preferred = 0;
    role.min = some() ? 32 : 16;
    role.multiple_of = some() ? 4 : 1;
    role.preferred = some() ? role.min : 0;
    role.each.devices = {{"gpu", 2}};
    traffic.data = 64 / traffic.tensor / traffic.pipeline;
    for (std::uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i) {
      traffic.exchanges.push_back({static_cast<Collective>(random_.below(6)),
                                   static_cast<RankAxis>(random_.below(kAxes)),
                                   Bytes(random_.between(1, std::int64_t{1} << 50)),
                                   static_cast<std::int32_t>(random_.between(1, 1 << 20)),
                                   Duration::milliseconds(random_.between(0, 1'000))});
    }
    spec.communication = std::move(traffic);
  }

  TaskRequest request() {
    TaskRequest out;
    out.cpu = MilliCores(random_.between(0, 1'000'000));
    out.memory = Bytes(random_.between(0, 1ll << 40));
    for (const auto* device_class : {"gpu", "npu", "dpu"})
      if (some()) out.devices.push_back(device(device_class));
    if (some()) out.devices.push_back(partition());
    return out;
  }
  DeviceRequest partition() {
    DeviceRequest out;
    out.device_class = "tpu";
    out.count = 1;
    out.share = DeviceShare(0);
    out.partition = std::to_string(random_.between(1, 7)) + "g.10gb+me";
    return out;
  }
  DeviceRequest device(const char* device_class) {
    DeviceRequest out;
    out.device_class = device_class;
    out.count = 1;
    switch (random_.below(3)) {
      case 0:
        out.count = static_cast<std::int32_t>(random_.between(1, 20));
        out.place = static_cast<DevicePlace>(random_.below(5));
        break;
      case 1: out.share = DeviceShare(random_.between(1, 999)); break;
      default: out.share = DeviceShare(0); break;
    }
    if (some() || out.share == DeviceShare(0)) out.memory = Bytes(random_.between(1, 1ll << 40));
    if (some()) out.models = {"m" + text(), word()};
    return out;
  }
  Role role(std::string name) {
    Role out;
    out.name = std::move(name);
    out.count = static_cast<std::int32_t>(random_.between(1, 1000));
    out.min = some() ? out.count : static_cast<std::int32_t>(random_.between(1, out.count));
    if (some()) {
      out.multiple_of = static_cast<std::int32_t>(random_.between(1, 8));
      out.min *= out.multiple_of;
      out.count *= out.multiple_of;
      if (some()) out.preferred = some() ? out.min : out.count;
    }
    out.each = request();
    out.command = {"p" + text()};
    while (some()) out.command.push_back(text());
    out.env = env();
    return out;
  }
  // Such as do not exclude each other.
  TopologyWish topology(const JobSpec& spec) {
    TopologyWish wish;
    if (some()) wish.require = "zone";
    if (some()) wish.prefer = "spine";
    if (some()) wish.spread = "rack";
    const auto fits = [&](std::int32_t size) {
      std::int32_t least = 0;
      for (const Role& each : spec.roles) least += each.min;
      return spec.task_count() % size == 0 && least % size == 0;
    };
    if (wish.spread.empty() && fits(2)) wish.segments = Segments{2, "rack"};
    return wish;
  }
  Retry retry() {
    Retry out;
    out.max = static_cast<std::int32_t>(random_.between(0, 100));
    out.backoff = Duration::milliseconds(random_.between(0, 300'000));
    out.on = {static_cast<RetryCause>(random_.below(3))};
    if (some()) out.on.push_back(static_cast<RetryCause>(random_.below(3)));
    return out;
  }
  TrainingDeclaration training() {
    TrainingDeclaration out;
    if (some()) out.program = "p" + text();
    if (some()) out.initial_batch = random_.between(1, 100);
    if (some()) out.batch = random_.between(1, 1000);
    if (some()) out.max_batch = random_.between(1000, 100'000);
    if (some()) out.min_local_batch = random_.between(1, 10);
    if (some()) out.max_local_batch = random_.between(10, 1000);
    if (some()) out.epochs = random_.between(1, 100);
    if (some()) out.deadline = Duration{random_.between(1, 1ll << 50)};
    if (some()) out.steps = random_.between(1, 1'000'000'000);
    while (some()) {
      out.rates.push_back({"m" + text(), static_cast<std::int32_t>(random_.between(1, 2)),
                           static_cast<std::int32_t>(random_.between(1, 64)),
                           static_cast<double>(random_.between(0, 1'000'000)) / 7});
    }
    return out;
  }
  Checkpoint checkpoint() {
    Checkpoint out;
    out.signal = signal();
    out.grace = duration(0);
    if (some()) out.interval = duration(1);
    if (some()) out.cost = duration(0);
    return out;
  }

  RandomStream random_;
};

TEST(JobJson, WhatIsWrittenReadsBack) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const JobSpec spec = SpecMaker(seed).job();
    const std::string json = to_json(spec);
    const auto again = parse_stored_job(json);
    if (!again) RC_LOG() << json << "\n" << again.error().describe();
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == spec);
    RC_ASSERT(to_json(*again) == json);
  }));
}

TEST(JobJson, IsCanonical) {
  const auto jobs = parse_job_file("name: a\nrun: x\neach: {gpu: 0.5}\n", JobFileFormat::kYaml);
  ASSERT_TRUE(jobs);
  EXPECT_EQ(to_json(jobs->front()),
            R"({"name":"a","tenant":"default","queue":"default","class":"train",)"
            R"("class_source":"features","priority":0,)"
            R"("roles":[{"name":"main","count":1,"each":{"cpu":"1","memory":"1Gi",)"
            R"("devices":[{"class":"gpu","amount":0.5}]},"run":["/bin/sh","-c","x"]}],)"
            R"("retry":{"max":0,"backoff":"1s","on":["failure","node_lost"]},)"
            R"("stop":{"signal":"TERM","grace":"30s"}})");
}

// The goal is 20,000 jobs a second from JSON; far below it something is wrong.
TEST(JobJson, ABatchIsReadQuickly) {
  std::string batch = "[";
  constexpr int kJobs = 5'000;
  for (int i = 0; i < kJobs; ++i) {
    if (i > 0) batch += ",";
    batch += R"({"name":"job-)" + std::to_string(i) +
             R"(","queue":"research/llm","class":"filler","priority":3,"run":["python3",)"
             R"("train.py","--epochs","5"],"count":4,"each":{"gpu":1,"gpu_model":["H100","H200"],)"
             R"("cpu":8,"memory":"32Gi"},"env":{"A":"1","B":"2"},"time_limit":"2h"})";
  }
  batch += "]";
  const auto begin = std::chrono::steady_clock::now();
  const auto jobs = parse_job_file(batch, JobFileFormat::kJson);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(jobs) << jobs.error().describe();
  const double rate = kJobs / seconds.count();
  RecordProperty("jobs_per_second", static_cast<int>(rate));
  std::printf("%.0f jobs a second\n", rate);
  EXPECT_GT(rate, 500);
}

}  // namespace
}  // namespace gridfold
