// The command line without a daemon: texts, formats, configuration and exit
// codes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "apps/gridfold/class_text.h"
#include "apps/gridfold/cli.h"
#include "apps/gridfold/communication_text.h"
#include "apps/gridfold/config.h"
#include "apps/gridfold/config_origin.h"
#include "apps/gridfold/daemon.h"
#include "apps/gridfold/doctor_text.h"
#include "apps/gridfold/follow.h"
#include "apps/gridfold/job_source.h"
#include "apps/gridfold/output.h"
#include "apps/gridfold/placement_text.h"
#include "apps/gridfold/start_text.h"
#include "apps/gridfold/unknown_device_text.h"
#include "apps/gridfold/what_if.h"
#include "apps/gridfold/what_if_text.h"
#include "model/why_here.h"
#include "wire/job_file.h"

namespace gridfold {
namespace {

// --- Reasons ---

// All codes there are: they count up from 0.
std::vector<ReasonCode> all_codes() {
  std::vector<ReasonCode> codes;
  for (int i = 0; i <= static_cast<int>(ReasonCode::kArrayLimit); ++i)
    codes.push_back(static_cast<ReasonCode>(i));
  return codes;
}

std::multiset<std::string> placeholders(std::string_view text) {
  std::multiset<std::string> names;
  while (true) {
    const auto open = text.find('{');
    if (open == std::string_view::npos) return names;
    const auto close = text.find('}', open);
    names.insert(std::string(text.substr(open, close - open + 1)));
    text.remove_prefix(close + 1);
  }
}

TEST(ReasonText, EveryCodeHasBothLanguagesWithTheSamePlaceholders) {
  for (const auto code : all_codes()) {
    const auto english = reason_template(code, Language::kEnglish);
    const auto chinese = reason_template(code, Language::kChinese);
    EXPECT_FALSE(english.empty()) << to_string(code);
    EXPECT_FALSE(chinese.empty()) << to_string(code);
    EXPECT_EQ(placeholders(english), placeholders(chinese)) << to_string(code);
  }
}

TEST(CommunicationText, SaysTheTimeItsShareAndTheNextBestInBothLanguages) {
  CommunicationView communication;
  EXPECT_EQ(communication_text(communication, Language::kEnglish),
            "  Expected communication: not known, since the links of its nodes are not "
            "described.\n");
  communication.here = {0.2, 0.5};
  communication.slowest_link = "leaf";
  EXPECT_EQ(communication_text(communication, Language::kEnglish),
            "  Expected communication: 200 ms of a step of 500 ms (40 %), bound by leaf links; no "
            "other place was considered.\n");
  communication.best_other = {1.25, 1.55};
  EXPECT_EQ(communication_text(communication, Language::kEnglish),
            "  Expected communication: 200 ms of a step of 500 ms (40 %), bound by leaf links; at "
            "the fastest other place considered 1.25 s of 1.55 s.\n");
  EXPECT_EQ(communication_text(communication, Language::kChinese),
            "  预期通信时间：每步 200 ms，占一步 500 ms 的 40 %，受限于 leaf "
            "链路；考虑过的其他位置中最快的为每步 1.25 s，一步共 1.55 s。\n");
}

TEST(PlacementText, SaysWhatDecidedInBothLanguages) {
  PlacementView placement;
  placement.decided_at = Instant{} + Duration::seconds(10);
  placement.tasks = {{0, "n1", "score", "n2", 12, 880, 700},
                     {1, "n3", "only_one", "", 1, -5, 0},
                     {2, "n3", "by_moonlight", "", 1, 0, 0}};
  const Instant now = Instant{} + Duration::seconds(15);
  EXPECT_EQ(
      placement_text(placement, now, Language::kEnglish),
      "  Why here, as things were at the launch 5s ago:\n"
      "    task 0 on n1: of 12 nodes that could hold it the best score, 880; next was n2 with "
      "700.\n"
      "    task 1 on n3: the only node that could hold it.\n"
      "    task 2 on n3: by_moonlight\n");
  placement.tasks.resize(1);
  EXPECT_EQ(placement_text(placement, now, Language::kChinese),
            "  为何在此（5s前启动时的情况）：\n"
            "    任务 0 位于 n1：在 12 个可容纳它的节点中得分最高（880）；其次是 n2，得分 700。\n");
  placement.domain = DomainChoiceView{"z/r1", "least_left", "z/r2", 3, 1, 5};
  placement.tasks.assign(40, {0, "n1", "whole_domain", "", 12, 880, 0});
  const std::string gang = placement_text(placement, now, Language::kEnglish);
  EXPECT_NE(gang.find("the gang in z/r1: of 3 domains of its size that could hold it the one with "
                      "the least room left over, for 1 more task; next was z/r2 with room for 5."),
            std::string::npos)
      << gang;
  EXPECT_NE(gang.find("24 more; -o json shows all"), std::string::npos) << gang;
}

TEST(PlacementText, SaysWhichLimitBindsOnHowManyNodes) {
  const std::vector<RoleLimitsView> limits = {
      {"main",
       12,
       {{"too_small", "gpu", "single_numa", 1}, {"drained", "", "", 2}, {"in_use", "cpu", "", 9}}}};
  EXPECT_EQ(limits_text(limits, Language::kEnglish),
            "  Of 12 nodes 1 never has enough gpu (single_numa), 2 are drained, 9 have too little "
            "free cpu.\n");
  EXPECT_EQ(
      limits_text(limits, Language::kChinese),
      "  共 12 个节点：1 个始终缺少足够的 gpu (single_numa)，2 个已排空，9 个空闲 cpu 不足。\n");
}

// Whatever can decide has a sentence in each language.
TEST(StartText, SaysWhenAndWhatWouldDo) {
  const Instant now = Instant{} + Duration::hours(100);
  ExplainView explain;
  EXPECT_EQ(start_text(explain, now, Language::kEnglish), "");
  explain.estimates_starts = true;
  EXPECT_EQ(start_text(explain, now, Language::kEnglish),
            "  Its start has not been estimated yet; ask again in a few seconds.\n");
  explain.start = StartEstimateView{now - Duration::seconds(4),
                                    now + Duration::hours(48),
                                    now + Duration::minutes(130),
                                    now + Duration::minutes(40),
                                    now + Duration::hours(5),
                                    0.8,
                                    312};
  StartChangeView tasks{.change = "tasks", .by = "owner", .role = "worker", .unit = "tasks"};
  tasks.from = 16;
  tasks.to = 12;
  StartChangeView domain{.change = "domain", .by = "owner", .from_name = "rack"};
  StartChangeView limit{.change = "queue_limit", .by = "operator"};
  limit.limits.push_back({"research", "gpu", 128'000, 136'000});
  StartChangeView priority{.change = "priority", .by = "operator", .unit = "priority"};
  priority.from = 0;
  priority.to = 3;
  priority.evicts = {"a", "b"};
  explain.changes = {tasks, domain, limit, priority};
  EXPECT_EQ(start_text(explain, now, Language::kEnglish),
            "  Expected to start in 2h10m; 80 % between 40m and 5h from now (as of 4s ago, learned "
            "from 312 starts).\n"
            "  It would start now with one of these, the smallest first:\n"
            "    12 tasks of worker instead of 16\n"
            "    any place instead of one rack\n"
            "    queue research: limit of gpu 136 instead of 128\n"
            "    priority 3 instead of 0 (stops 2 jobs)\n");
  EXPECT_EQ(start_text(explain, now, Language::kChinese),
            "  预计 2h10m 后启动；80% 区间为 40m 至 5h 后（依据 4s 前的状态和 312 次启动）。\n"
            "  以下任一修改可让它现在启动，改动最小的在前：\n"
            "    worker 用 12 个任务而不是 16 个\n"
            "    任意位置，而不要求同一个 rack\n"
            "    队列 research：gpu 上限用 136 而不是 128\n"
            "    优先级用 3 而不是 0（将停止 2 个作业）\n");
  explain.start->start = Instant::never();
  explain.changes->clear();
  EXPECT_EQ(start_text(explain, now, Language::kEnglish),
            "  Its start is not within what was looked at, the next 2d (as of 4s ago).\n"
            "  No single change would start it now.\n");
}

WhatIfView some_answer() {
  WhatIfView answer;
  answer.horizon = Duration::hours(24);
  answer.waiting_jobs = 30;
  answer.now = {true, 12, Duration::hours(3), Duration::hours(24), 16'000, 0.7124, {}};
  answer.changed = {true,   25,     Duration::minutes(80), Duration::hours(9),
                    24'000, 0.6502, {"low", "low"}};
  answer.submitted = {
      {"train", Duration::hours(2)}, {"urgent", Duration{}}, {"huge", std::nullopt}};
  return answer;
}

TEST(WhatIfText, BothSidesStandBesideEachOther) {
  const WhatIfView answer = some_answer();
  EXPECT_EQ(what_if_text(answer, Language::kEnglish, TableHeaders::kShown),
            "                          NOW       CHANGED\n"
            "waiting jobs that start   12 of 30  25 of 30\n"
            "mean wait                 3h        1h20m\n"
            "95th percentile of waits  1d        9h\n"
            "devices                   16        24\n"
            "utilisation               71.2%     65.0%\n"
            "evictions                 0         2\n"
            "train starts in 2h.\n"
            "urgent starts at once.\n"
            "huge does not start within 1d.\n"
            "Evicted after the change: low.\n"
            "The next 1d without new jobs, as of 0s ago; a job that does not start counts with all "
            "of it.\n");
}

TEST(WhatIfText, InChineseAsWell) {
  WhatIfView answer = some_answer();
  answer.now.complete = false;
  answer.now.utilisation.reset();
  const std::string text = what_if_text(answer, Language::kChinese, TableHeaders::kLeftOut);
  for (const char* part :
       {"会启动的等待作业", "12 / 30", "平均等待", "利用率", "驱逐次数", "train 在 2h 后启动。",
        "urgent 立即启动。", "huge 在 1d 内不会启动。", "修改后被驱逐：low。", "事件数用尽"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("现状"), std::string::npos);
}

TEST(WhatIfFlags, BecomeTheQuestion) {
  WhatIfFlags flags;
  flags.add_nodes = {"n1=2", "n2"};
  flags.drain = {"n7"};
  flags.queue_limits = {"a/b:gpu=16", "a:running_jobs=3", "a:memory=unlimited"};
  flags.policy = "fgd";
  flags.horizon = "2h";
  const auto question = what_if_question(flags, "team");
  ASSERT_TRUE(question);
  EXPECT_EQ(
      *question,
      R"({"changes":[{"add_nodes":{"count":2,"like":"n1"}},{"add_nodes":{"count":1,"like":"n2"}},)"
      R"({"drain_node":"n7"},{"queue_limit":{"queue":"a/b","resource":"gpu","limit":"16"}},)"
      R"({"queue_limit":{"queue":"a","resource":"running_jobs","limit":3}},)"
      R"({"queue_limit":{"queue":"a","resource":"memory","limit":"unlimited"}},)"
      R"({"policy":"fgd"}],"horizon":"2h","tenant":"team"})");
  const auto field_of = [](const WhatIfFlags& wrong) {
    const auto made = what_if_question(wrong, "team");
    return made ? "accepted" : made.error().field;
  };
  EXPECT_EQ(field_of({.add_nodes = {"n1=x"}}), "--add-nodes");
  EXPECT_EQ(field_of({.queue_limits = {"gpu=16"}}), "--queue-limit");
  EXPECT_FALSE(what_if_question({.submit = {"/nonexistent/job.yaml"}}, "team"));
}

TEST(PlacementText, EveryWordHasASentence) {
  for (int i = 1; i <= static_cast<int>(DecidedBy::kPlan); ++i) {
    const std::string by(to_string(static_cast<DecidedBy>(i)));
    PlacementView alone;
    alone.tasks = {{0, "n1", by, "n2", 2, 1, 1}};
    PlacementView gang = alone;
    gang.domain = DomainChoiceView{"r1", by, "r2", 2, 1, 1};
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      const std::string text =
          placement_text(alone, Instant{}, language) + placement_text(gang, Instant{}, language);
      const std::string end = language == Language::kChinese ? "。\n" : ".\n";
      EXPECT_NE(text.find(end), std::string::npos) << by << ": " << text;
    }
  }
}

TEST(ReasonText, AmountsCarryTheirUnit) {
  const auto text = [](std::string resource, std::int64_t need, Language language) {
    return reason_text("InsufficientFree",
                       {{"resource", std::move(resource)},
                        {"need", need},
                        {"free", std::int64_t{0}},
                        {"largest_block", std::int64_t{0}}},
                       language);
  };
  EXPECT_EQ(text("gpu", 8, Language::kEnglish),
            "Needs 8 of gpu; 0 are free, at most 0 on one node.");
  EXPECT_EQ(text("gpu", 8, Language::kChinese), "需要 gpu 8；空闲 0，单个节点最多 0。");
  EXPECT_TRUE(text("memory", 1 << 30, Language::kEnglish).starts_with("Needs 1Gi of memory"));
  EXPECT_TRUE(text("cpu", 1500, Language::kEnglish).starts_with("Needs 1500m of cpu"));
  EXPECT_TRUE(text("gpu_share", 250, Language::kEnglish).starts_with("Needs 250m of gpu_share"));
}

TEST(ReasonText, PlacesAndPartitionsHaveTheirOwnWords) {
  const std::vector<Reason::Param> numa = {{"resource", "gpu"},
                                           {"need", std::int64_t{4}},
                                           {"free", std::int64_t{6}},
                                           {"largest_block", std::int64_t{3}},
                                           {"within", "single_numa"}};
  EXPECT_EQ(reason_text("InsufficientFree", numa, Language::kEnglish),
            "Needs 4 of gpu on one NUMA node; 6 are free, at most 3 on one NUMA node.");
  EXPECT_EQ(reason_text("InsufficientFree", numa, Language::kChinese),
            "需要 gpu 4，且位于同一 NUMA 节点；空闲 6，位于同一 NUMA 节点的最多 3。");
  const std::vector<Reason::Param> part = {{"resource", "gpu_partition"},
                                           {"need", std::int64_t{4}},
                                           {"free", std::int64_t{5}},
                                           {"largest_block", std::int64_t{3}},
                                           {"profile", "3g.40gb"}};
  EXPECT_EQ(reason_text("InsufficientFree", part, Language::kEnglish),
            "A partition 3g.40gb needs 4 slots in a row; 5 slots are free, at most 3 in a row "
            "where one may begin.");
  EXPECT_EQ(reason_text("NoMatchingNode",
                        {{"constraint", "gpu_partition"},
                         {"need", std::int64_t{1}},
                         {"largest", std::int64_t{0}},
                         {"profile", "9g"}},
                        Language::kEnglish),
            "No node has a device that is split and has partitions 9g.");
}

TEST(ReasonText, LimitsOfModelsThatWouldDoTogetherSaySo) {
  const std::vector<Reason::Param> params{{"queue", "q"},
                                          {"resource", "gpu:A"},
                                          {"need", std::int64_t{3000}},
                                          {"limit", std::int64_t{2000}},
                                          {"models", "gpu:A=2,gpu:H=2"}};
  EXPECT_EQ(reason_text("ExceedsQuotaMax", params, Language::kEnglish),
            "Needs 3 of one model, for models are not mixed within a job; of those it accepts, "
            "queue q allows at most gpu:A=2,gpu:H=2.");
  EXPECT_EQ(reason_text("ExceedsQuotaMax", params, Language::kChinese),
            "作业内不混用设备型号，需要同一型号 3；在可接受的型号中，队列 q 最多允许 "
            "gpu:A=2,gpu:H=2。");
}

TEST(ReasonText, APromiseSaysWhatItGoesBy) {
  const std::vector<Reason::Param> params{
      {"at_ns", std::int64_t{0}}, {"nodes", std::int64_t{1}}, {"basis", "history"}};
  EXPECT_EQ(reason_text("Reserved", params, Language::kEnglish),
            "Room on 1 node is reserved for it; it starts at 1970-01-01T00:00:00Z at the latest, "
            "by what earlier runs took.");
  EXPECT_EQ(reason_text("Reserved", params, Language::kChinese),
            "已在 1 个节点上为其预留资源；按以往的运行时间推算，最迟于 1970-01-01T00:00:00Z "
            "启动。");
}

TEST(ClassText, SaysByWhatItWasChosen) {
  JobView job;
  job.workload_class = "train";
  EXPECT_EQ(class_text(job, Language::kEnglish), "train");
  job.class_from = {"other", 1, 8, 0, false};
  EXPECT_EQ(class_text(job, Language::kEnglish), "train (from: 8 devices, no ports)");
  EXPECT_EQ(class_text(job, Language::kChinese), "train（依据：8 个设备，无端口）");
  job.workload_class = "infer";
  job.class_from = {"ports", 4, 1, 1, true};
  EXPECT_EQ(class_text(job, Language::kEnglish),
            "infer (from: elastic, 4 tasks, 1 device, 1 port)");
}

TEST(UnknownDeviceText, NamesWhatWasMeant) {
  const UnknownDevice unknown{"a", "gpu:H10O", "gpu:H100-SXM5-80GB"};
  EXPECT_EQ(unknown_device_text(unknown, Language::kEnglish),
            "queue a names gpu:H10O, which no node has: it has no effect (did you mean "
            "gpu:H100-SXM5-80GB?)");
  EXPECT_NE(unknown_device_text(unknown, Language::kChinese).find("gpu:H100"), std::string::npos);
}

TEST(DoctorText, FixesAreSaidInChineseToo) {
  DiagnosisView diagnosis;
  diagnosis.since = diagnosis.until = Instant{};
  DiagnosisView::Finding finding{"input_bound", 10, 0.1, 12, {}};
  finding.fixes.push_back({"faster_input",
                           "gridfold job explain JOB; more",
                           {{"step_share_millionths", std::int64_t{50'000}}},
                           0,
                           {}});
  finding.fixes.push_back(
      {"queue_limit",
       "configuration: …",
       {{"queue", "a"}, {"resource", "gpu"}, {"limit_thousandths", std::int64_t{8500}}},
       0,
       {}});
  finding.fixes.push_back({"undrain_node", "gridfold node undrain n1", {{"node", "n1"}}, 0, {}});
  diagnosis.findings.push_back(finding);
  const std::string english = doctor_text(diagnosis, Language::kEnglish);
  EXPECT_NE(english.find("gridfold job explain JOB; more"), std::string::npos);
  const std::string chinese = doctor_text(diagnosis, Language::kChinese);
  EXPECT_NE(chinese.find("直到 input_seconds 不超过 step_seconds 的 5%"), std::string::npos)
      << chinese;
  EXPECT_NE(chinese.find("devices = { gpu = \"8.5\" }"), std::string::npos) << chinese;
  EXPECT_NE(chinese.find("gridfold node undrain n1"), std::string::npos);
}

TEST(ReasonText, MaintenanceSaysWhenAndWhatIsKnownOfTheJob) {
  std::vector<Reason::Param> params{{"window", "disks"},
                                    {"nodes", std::int64_t{3}},
                                    {"from_ns", std::int64_t{3'600'000'000'000}},
                                    {"until_ns", std::int64_t{7'200'000'000'000}}};
  EXPECT_EQ(reason_text("Maintenance", params, Language::kEnglish),
            "Maintenance \"disks\" of 3 nodes from 1970-01-01T01:00:00Z to 1970-01-01T02:00:00Z: "
            "the job has no time_limit, so it may last into it.");
  params.emplace_back("run_ns", std::int64_t{5'400'000'000'000});
  EXPECT_EQ(reason_text("Maintenance", params, Language::kEnglish),
            "Maintenance \"disks\" of 3 nodes from 1970-01-01T01:00:00Z to 1970-01-01T02:00:00Z: "
            "with its 1h30m the job would last into it.");
  params.back().second = std::int64_t{0};
  EXPECT_EQ(reason_text("Maintenance", params, Language::kEnglish),
            "Maintenance \"disks\" closes 3 nodes from 1970-01-01T01:00:00Z to "
            "1970-01-01T02:00:00Z.");
  EXPECT_EQ(reason_text("Maintenance",
                        {{"window", "disks"}, {"node", "n1"}, {"until_ns", std::int64_t{0}}},
                        Language::kEnglish),
            "Stopped for maintenance \"disks\" of node n1, to 1970-01-01T00:00:00Z.");
}

TEST(Config, MaintenanceIsOnceOrByARule) {
  DaemonConfig config;
  const auto done = read_config_text(
      "[[maintenance]]\nname = \"once\"\nnodes = [\"n1\", \"n2\"]\n"
      "from = \"2026-12-05T08:00:00+01:00\"\nuntil = \"2026-12-05T12:00:00Z\"\n"
      "[[maintenance]]\nname = \"weekly\"\ndomains = [\"rack:r1\"]\nlabels = { disk = \"old\" }\n"
      "cron = \"30 2 * * sun\"\nzone = \"America/New_York\"\nfor = \"2h\"\n",
      config);
  ASSERT_TRUE(done) << done.error().describe();
  ASSERT_EQ(config.maintenance.size(), 2u);
  EXPECT_EQ(to_rfc3339(config.maintenance[0].from), "2026-12-05T07:00:00Z");
  EXPECT_EQ(config.maintenance[0].where.nodes.size(), 2u);
  EXPECT_EQ(config.maintenance[1].where.domains.at(0), DomainStep("rack", "r1"));
  EXPECT_EQ(config.maintenance[1].rule->cron(), "30 2 * * sun");
  const auto error = [](const std::string& text) {
    DaemonConfig fresh;
    const auto read = read_config_text("[[maintenance]]\nname = \"w\"\n" + text, fresh);
    return read ? std::string("fine") : read.error().describe();
  };
  const std::string once = "from = \"2026-12-05T08:00:00Z\"\nuntil = \"2026-12-05T09:00:00Z\"\n";
  EXPECT_NE(error(once).find("maintenance[0].nodes: the window names no nodes"), std::string::npos);
  EXPECT_NE(
      error("nodes = [\"a\"]\nfrom = \"2026-12-05T08:00:00Z\"\n").find("maintenance[0].until"),
      std::string::npos);
  EXPECT_NE(error("nodes = \"a\"\n" + once).find("not a list of texts"), std::string::npos);
  EXPECT_NE(error("domains = [\"r1\"]\n" + once).find("not a level and a name"), std::string::npos);
  EXPECT_NE(error("nodes = [\"a\"]\nzone = \"UTC\"\n" + once).find("needs a cron rule"),
            std::string::npos);
  EXPECT_NE(error("nodes = [\"a\"]\ncron = \"0 2 * * *\"\nzone = \"America/NewYork\"\nfor = \"1h\"")
                .find("did you mean \"America/New_York\"?"),
            std::string::npos);
  EXPECT_NE(error("nodes = [\"a\"]\ncron = \"* * * * *\"\nzone = \"UTC\"\nfor = \"1m\"")
                .find("more than 1000 windows"),
            std::string::npos);
}

TEST(Config, WhatIsScheduledNamesARuleAndAJobFile) {
  DaemonConfig config;
  const auto done = read_config_text(
      "[[schedule]]\nname = \"nightly\"\ncron = \"30 2 * * *\"\nzone = \"UTC\"\njob = "
      "\"/j.yaml\"\n",
      config);
  ASSERT_TRUE(done) << done.error().describe();
  EXPECT_EQ(config.schedule.at(0).rule->cron(), "30 2 * * *");
  EXPECT_EQ(config.schedule.at(0).job, "/j.yaml");
  DaemonConfig fresh;
  const auto without = read_config_text("[[schedule]]\nname = \"nightly\"\n", fresh);
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().describe().find("schedule[0].cron: the key is missing"),
            std::string::npos);
}

TEST(ReasonText, UnknownCodesAndMissingParametersAreShownAsTheyAre) {
  EXPECT_EQ(reason_text("NewCode", {{"a", std::int64_t{1}}, {"b", "x"}}, Language::kEnglish),
            "NewCode a=1,b=x");
  EXPECT_EQ(reason_text("Held", {}, Language::kEnglish), "Held by ? until it is released.");
  EXPECT_EQ(reason_text("TaskFailed", {{"task", std::int64_t{0}}, {"signal", std::int64_t{9}}},
                        Language::kEnglish),
            "Task 0 failed. Signal 9.");
}

TEST(ReasonText, OneOfAThingIsSingular) {
  const auto placed = [](std::int64_t tasks) {
    return reason_text("Placed", {{"tasks", tasks}}, Language::kEnglish);
  };
  EXPECT_EQ(placed(1), "Room was found for 1 task; starting.");
  EXPECT_EQ(placed(11), "Room was found for 11 tasks; starting.");
  EXPECT_EQ(reason_text("BehindInQueue", {{"position", std::int64_t{1}}}, Language::kEnglish),
            "Number 1 in the queue.");
  EXPECT_EQ(reason_text("PreemptionPending", {{"victims", "id-a"}}, Language::kEnglish),
            "Waits for 1 job to give back devices.");
  EXPECT_EQ(reason_text("PreemptionPending", {{"victims", "id-a,id-b"}}, Language::kEnglish),
            "Waits for 2 jobs to give back devices.");
}

TEST(ReasonText, TheLanguageIsTheReaders) {
  setenv("LC_ALL", "zh_CN.UTF-8", 1);
  EXPECT_EQ(choose_language(""), Language::kChinese);
  EXPECT_EQ(choose_language("en"), Language::kEnglish);
  setenv("LC_ALL", "C", 1);
  EXPECT_EQ(choose_language(""), Language::kEnglish);
  unsetenv("LC_ALL");
}

// --- Output ---

TEST(Output, TablesAlignByCharactersAndIgnoreColour) {
  Table table({"A", "B"});
  table.add_row({"é", "x"});
  table.add_row({"\033[32mlong\033[0m", "y"});
  EXPECT_EQ(table.text(true), "A     B\né     x\n\033[32mlong\033[0m  y\n");
}

TEST(Output, AScreenNeverWrapsOrScrolls) {
  EXPECT_EQ(fit_screen("one\ntwo\nthree\n", 80, 2), "one\ntwo");
  EXPECT_EQ(fit_screen("\nabcdef\n", 6, 9), "\nabcdef");
  EXPECT_EQ(fit_screen("██abcdef\n", 6, 9), "██abc…");
  EXPECT_EQ(fit_screen("\033[33mabcdefg\033[0m", 6, 9), "\033[33mabcde…\033[0m");
}

TEST(Output, YamlReadsBackToTheSameValues) {
  EXPECT_EQ(json_to_yaml(R"({"a":"plain","b":"true","c":"12","d":[1,{"e":null}],"f":[],"g":""})"),
            "a: plain\nb: \"true\"\nc: \"12\"\nd:\n  - 1\n  -\n    e: null\nf: []\ng: \"\"\n");
}

TEST(Output, DurationsHaveAtMostTwoUnits) {
  EXPECT_EQ(short_duration(Duration::seconds(0)), "0s");
  EXPECT_EQ(short_duration(Duration::seconds(192)), "3m12s");
  EXPECT_EQ(short_duration(Duration::hours(49)), "2d1h");
  EXPECT_EQ(short_duration(Duration::hours(5)), "5h");
}

TEST(Output, BarsNeverShowSomethingAsNothing) {
  EXPECT_EQ(bar(0, 8, 4), "░░░░");
  EXPECT_EQ(bar(1, 100, 4), "█░░░");
  EXPECT_EQ(bar(8, 8, 4), "████");
  EXPECT_EQ(bar(0, 0, 2), "░░");
}

TEST(Output, LinesOfSeveralTasksAreWrittenWhole) {
  std::string out;
  LinePrefixer lines("[a/0] ", [&](std::string_view line) { out += line; });
  lines.take("one\ntw");
  EXPECT_EQ(out, "[a/0] one\n");
  lines.take("o\nthree");
  lines.finish();
  EXPECT_EQ(out, "[a/0] one\n[a/0] two\n[a/0] three\n");
}

// --- Configuration ---

TEST(Config, WorkUnitsSayWhereTheyAreFrom) {
  DaemonConfig config;
  ASSERT_TRUE(
      read_config_text("[work_units]\nsource = \"a test\"\n"
                       "rates = { \"A100\" = \"3.1\", \"K80\" = \"0.4\" }\n",
                       config));
  const std::map<std::string, std::int64_t> rates{{"A100", 3100}, {"K80", 400}};
  EXPECT_EQ(config.queues.work_units.by_model, rates);
  EXPECT_EQ(config.queues.work_units.source, "a test");
  const auto refused = [](const char* text) {
    DaemonConfig other;
    const auto done = read_config_text(text, other);
    return done ? std::string("taken") : done.error().field;
  };
  EXPECT_EQ(refused("work_units = 3\n"), "work_units");
  EXPECT_EQ(refused("[work_units]\nrates = { K80 = 1 }\n"), "work_units.source");
  EXPECT_EQ(refused("[work_units]\nsource = \"x\"\n"), "work_units.rates");
  EXPECT_EQ(refused("[work_units]\nsource = \"x\"\nrates = { K80 = 0 }\n"), "work_units.rates.K80");
  EXPECT_EQ(refused("[work_units]\nsource = \"x\"\nrate = 1\n"), "work_units.rate");
}

TEST(Config, ReadsEveryKey) {
  DaemonConfig config;
  const auto done = read_config_text(
      "state = \"/x\"\nlisten = \"127.0.0.1:1\"\npolicy = \"fgd\"\nnode = \"n\"\n"
      "devices = \"gpu:A=1\"\nplugins = \"/p\"\nreconcile_interval = \"5s\"\n"
      "consolidate = true\nmanage_partitions = true\nfillers = \"forecast\"\nfillers_guaranteed = \"20m\"\n"
      "gang_repair = \"5m\"\n"
      "[[queues]]\nname = \"a\"\npriority = 3\nopen = false\npreempts = true\ncpu = 4\nmemory = "
      "\"2Gi\"\n"
      "devices = { gpu = \"1.5\" }\n[[queues]]\nname = \"a/b\"\n"
      "[links]\nmachine = \"m.xml\"\nnetwork = \"infiniband\"\ncard = \"400Gbps\"\n"
      "pcie = \"200Gbps\"\nnvlink = \"3600Gbps\"\n",
      config);
  ASSERT_TRUE(done) << done.error().describe();
  EXPECT_EQ(config.state, "/x");
  EXPECT_EQ(config.policy, "fgd");
  EXPECT_EQ(config.reconcile_interval, Duration::seconds(5));
  EXPECT_TRUE(config.consolidate);
  EXPECT_TRUE(config.manage_partitions);
  EXPECT_EQ(config.fillers.admission, FillerAdmission::kForecast);
  EXPECT_EQ(config.fillers.guaranteed, Duration::minutes(20));
  EXPECT_EQ(config.gang_repair, Duration::minutes(5));
  ASSERT_EQ(config.queues.queues.size(), 2u);
  EXPECT_EQ(config.queues.queues[0].limit.cpu.bound(), MilliCores(4000));
  EXPECT_EQ(config.queues.queues[0].limit.devices.at("gpu"), 1500);
  EXPECT_FALSE(config.queues.queues[0].open);
  EXPECT_TRUE(config.queues.queues[0].preempts);
  EXPECT_FALSE(config.queues.queues[1].preempts);
  EXPECT_TRUE(config.queues.queues[1].limit.memory.is_unlimited());
  ASSERT_TRUE(config.links);
  EXPECT_EQ(config.links->machine, "m.xml");
  EXPECT_EQ(config.links->facts.network, LinkKind::kInfiniband);
  EXPECT_EQ(config.links->facts.card, BitsPerSecond(400'000'000'000));
  EXPECT_EQ(config.links->facts.nvlink.value(), BitsPerSecond(3'600'000'000'000));
  EXPECT_FALSE(config.links->facts.numa.is_known());
}

TEST(Config, ReadsSharesAndLimitsOfQueues) {
  DaemonConfig config;
  const auto done = read_config_text(
      "usage_half_life = \"7d\"\n[[queues]]\nname = \"a\"\nweight = 2\nrunning_jobs = 5\n"
      "longest_run = \"48h\"\nguaranteed = { cpu = 8, devices = { gpu = 4 } }\n"
      "each_tenant = { running_jobs = 2, devices = { gpu = 1.5 } }\n",
      config);
  ASSERT_FALSE(done);  // amounts are text or whole numbers
  EXPECT_NE(done.error().describe().find("each_tenant.devices.gpu"), std::string::npos);
  const auto again = read_config_text(
      "usage_half_life = \"7d\"\n[[queues]]\nname = \"a\"\nweight = 2\nrunning_jobs = 5\n"
      "longest_run = \"48h\"\nguaranteed = { cpu = 8, devices = { gpu = 4 } }\n"
      "each_tenant = { running_jobs = 2, devices = { gpu = \"1.5\" } }\n",
      config);
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(config.queues.usage_half_life, Duration::hours(7 * 24));
  EXPECT_TRUE(config.queues.work_units.by_model.empty());
  const QueueSpec& queue = config.queues.queues.at(0);
  EXPECT_EQ(queue.weight, 2);
  EXPECT_EQ(queue.limit.running_jobs.bound(), 5);
  EXPECT_EQ(queue.longest_run.bound(), Duration::hours(48));
  EXPECT_EQ(queue.guaranteed.cpu, MilliCores(8000));
  EXPECT_EQ(queue.guaranteed.devices.at("gpu"), 4000);
  EXPECT_EQ(queue.each_tenant.running_jobs.bound(), 2);
  EXPECT_EQ(queue.each_tenant.devices.at("gpu"), 1500);
}

TEST(Config, EachValueSaysWhereItIsFrom) {
  const std::string path = testing::TempDir() + "gridfold-origin.toml";
  std::ofstream(path) << "policy = \"fgd\"\nbackfill = \"easy\"\n\n[[queues]]\nname = \"a\"\n"
                         "devices = { gpu = \"8\" }\n[policy_settings]\nwindow = \"7\"\n";
  setenv("GRIDFOLD_NODE", "n1", 1);
  CLI::App app;
  Cli cli{app};
  DaemonFlags flags;
  flags.config = path;
  flags.listen = "127.0.0.1:8080";
  flags.node = "n1";  // as CLI11 gives it, from the variable
  flags.settings = {"policy.window=9"};
  const auto entries = config_entries(cli, flags);
  unsetenv("GRIDFOLD_NODE");
  std::filesystem::remove(path);
  ASSERT_TRUE(entries) << entries.error().describe();
  std::map<std::string, std::string> found;
  for (const ConfigEntry& entry : *entries)
    found[entry.key] = entry.value + " " + std::string(to_string(entry.origin)) + " " + entry.where;
  EXPECT_EQ(found["policy"], "'fgd' file " + path + ":1");
  EXPECT_EQ(found["backfill"], "'easy' file " + path + ":2");
  EXPECT_EQ(found["queues[0].devices.gpu"], "'8' file " + path + ":6");
  EXPECT_EQ(found["listen"], "'127.0.0.1:8080' flag --listen");
  EXPECT_EQ(found["node"], "'n1' environment GRIDFOLD_NODE");
  EXPECT_EQ(found["policy_settings.window"], "'9' flag --set");
  EXPECT_EQ(found["reconcile_interval"], "'30s' default ");
  EXPECT_EQ(found["consolidate"], "false default ");
  EXPECT_EQ(found.count("queues[0].name"), 1u);
  EXPECT_EQ(found.count("devices"), 0u);  // has no value
  EXPECT_EQ(entries->front().key, "state");
}

TEST(Config, MistakesNameTheirPlace) {
  const auto error = [](const char* text) {
    DaemonConfig config;
    const auto done = read_config_text(text, config);
    return done ? std::string("none") : done.error().describe();
  };
  EXPECT_EQ(error("polcy = \"fgd\""),
            "line 1, column 1: polcy: there is no such key (did you mean policy?)");
  EXPECT_NE(error("\n[[queues]]\nname = \"a\"\ncpuu = 1").find("line 4"), std::string::npos);
  EXPECT_NE(error("reconcile_interval = 30").find("reconcile_interval"), std::string::npos);
  EXPECT_NE(error("[[queues]]\nname = \"a\"\n[[queues]]\nname = \"a\"").find("twice"),
            std::string::npos);
  EXPECT_NE(error("state = [").find("line 1"), std::string::npos);
  EXPECT_NE(error("state = true").find("not text"), std::string::npos);
  EXPECT_NE(error("queues = 3").find("[[queues]]"), std::string::npos);
  EXPECT_NE(error("queues = []").find("no queue"), std::string::npos);
  EXPECT_NE(error("[[queues]]\nname = \"a\"\nmemory = \"-1\"").find("memory"), std::string::npos);
  EXPECT_NE(error("[[queues]]\nname = \"a\"\nweight = 0").find("below 1"), std::string::npos);
  EXPECT_NE(error("[[queues]]\nname = \"a\"\nguaranteed = { gpu = 4 }").find("guaranteed.gpu"),
            std::string::npos);
  // Guarantees that cannot all be kept.
  EXPECT_NE(error("[[queues]]\nname = \"a\"\ndevices = { gpu = 4 }\n[[queues]]\nname = \"a/b\"\n"
                  "guaranteed = { devices = { gpu = 3 } }\n[[queues]]\nname = \"a/c\"\n"
                  "guaranteed = { devices = { gpu = 2 } }\n")
                .find("beneath \"a\" are guaranteed more gpu together than its limit"),
            std::string::npos);
}

// --- Jobs from flags ---

TEST(JobSource, ACommandBecomesAJobThatParses) {
  JobSource source;
  source.gpu = "0.5";
  source.cpu = "2";
  source.memory = "4Gi";
  source.environment = {"A=b=c"};
  source.count = 2;
  const auto submission = read_source(source, {"/usr/bin/python3", "train.py", "--gpu"});
  ASSERT_TRUE(submission);
  const auto jobs = parse_job_file(submission->body, JobFileFormat::kJson);
  ASSERT_TRUE(jobs) << jobs.error().describe();
  const auto& job = jobs->front();
  EXPECT_EQ(job.name, "python3");
  EXPECT_EQ(job.roles[0].count, 2);
  EXPECT_EQ(job.roles[0].each.cpu, MilliCores(2000));
  EXPECT_EQ(job.roles[0].each.devices[0].share, DeviceShare(500));
  EXPECT_EQ(job.roles[0].command,
            (std::vector<std::string>{"/usr/bin/python3", "train.py", "--gpu"}));
  EXPECT_EQ(job.env.at("A"), "b=c");
  EXPECT_EQ(job.workdir, std::filesystem::current_path().string());
}

TEST(JobSource, NeitherNorBothIsAnError) {
  JobSource source;
  EXPECT_EQ(read_source(source, {}).error().kind, ErrorKind::kInvalid);
  source.file = "job.yaml";
  EXPECT_EQ(read_source(source, {"x"}).error().kind, ErrorKind::kInvalid);
  source.gpu = "1";
  EXPECT_EQ(read_source(source, {}).error().kind, ErrorKind::kInvalid);
  source.gpu.clear();
  EXPECT_EQ(read_source(source, {}).error().kind, ErrorKind::kNotFound);
  JobSource bad;
  bad.environment = {"NOVALUE"};
  EXPECT_EQ(read_source(bad, {"x"}).error().field, "--env");
}

// Both streams in one file, as in `gridfold ps >file 2>&1`.
TEST(Output, ARemarkComesAfterWhatWasPrintedBefore) {
  const auto path = testing::TempDir() + "/remark." + std::to_string(getpid());
  std::fflush(stdout);
  const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  CLI::App root;
  Cli cli{root};
  std::fputs("TABLE\n", stdout);
  remark(cli, "* note");
  cli.quiet = true;
  remark(cli, "unsaid");
  std::fflush(stdout);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const int used : {out, err, file}) close(used);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_EQ(text.str(), "TABLE\n* note\n");
}

// --- The daemon's first words ---

TEST(DaemonNotes, AMachineWithoutADriverIsNotInTrouble) {
  const auto state = testing::TempDir() + "/notes." + std::to_string(getpid());
  DaemonConfig config;
  config.state = state;
  config.plugins = GRIDFOLD_BINARY_DIR "/device_plugins";
  ASSERT_TRUE(std::filesystem::exists(config.plugins + "/nvml.so"));
  {
    const auto daemon = Daemon::start(config);
    ASSERT_TRUE(daemon) << daemon.error().describe();
    for (const auto& note : (*daemon)->notes())
      EXPECT_EQ(note.find("device plug-in"), std::string::npos) << note;
  }
  std::filesystem::remove_all(state);
}

// --- Exit codes ---

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run(std::vector<std::string> words) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome{run_command_line(std::move(words)), "", ""};
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(CommandLine, UsageErrorsAreTwoAndTalkOnStderr) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"nosuch"},
                                                {"job"},
                                                {"job", "nosuch"},
                                                {"job", "get"},
                                                {"ps", "--nosuch"},
                                                {"ps", "-o", "xml"},
                                                {"completion", "tcsh"},
                                                {"ps", "--limit", "0"},
                                                {"serve"},
                                                {"run"},
                                                {"run", "a.yaml", "--", "x"},
                                                {"ps", "--lang", "fr"}}) {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
    EXPECT_NE(outcome.err.find("next: "), std::string::npos) << outcome.err;
  }
}

TEST(CommandLine, AMistypedCommandNamesTheNearest) {
  EXPECT_EQ(run({"nod", "list"}).err,
            "error: gridfold has no command \"nod\"\nnext:  did you mean gridfold node?\n");
  EXPECT_EQ(
      run({"job", "lsit"}).err,
      "error: gridfold job has no command \"lsit\"\nnext:  did you mean gridfold job list?\n");
}

TEST(CommandLine, HelpIsDataAndZero) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"job", "--help"}, {"run", "--help"}}) {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out, "");
  }
}

// --- Topology files ---

std::string topology_file(const std::string& name) {
  return std::string(GRIDFOLD_SOURCE_DIR) + "/tests/data/topology/" + name;
}

TEST(TopologyShow, TablesOfAMachine) {
  const auto file = topology_file("hwloc2-pcie-box.xml");
  const auto outcome = run({"topology", "show", file});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, file + ": hwloc XML 2.0, 2 NUMA nodes, 2 GPUs, 1 network card\n" + R"(
NUMA  CPUS  COUNT  MEMORY
0     0-3   4      128.0 GiB
1     4-7   4      128.0 GiB

PCIE SWITCH   NUMA  DEVICES
0000:17:00.0  0     GPU0 NIC0

DEVICE  NAME    MODEL                        PCI ADDRESS   MEMORY    NUMA  SWITCH GROUP  NVLINK ISLAND  NEAREST NICS
GPU0    nvml0   NVIDIA A100-PCIE-40GB        0000:19:00.0  39.5 GiB  0     0             0              NIC0 (PIX)
GPU1    nvml1   NVIDIA A100-PCIE-40GB        0000:98:00.0  ?         1     1             0              NIC0 (SYS)
NIC0    mlx5_0  MT28908 Family [ConnectX-6]  0000:1a:00.0  -         0     -             -              -

      GPU0  GPU1  NIC0
GPU0  X     NV    PIX
GPU1  NV    X     SYS
NIC0  PIX   SYS   X
)");
}

TEST(TopologyShow, JsonHasTheSameAndNullForTheUnknown) {
  const auto outcome = run({"topology", "show", topology_file("p4d-24xl-topo.xml"), "-o", "json"});
  EXPECT_EQ(outcome.code, 0);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["format"], "NCCL XML 1");
  EXPECT_EQ(json["numa_nodes"][1]["cpus"], "24-47,72-95");
  EXPECT_TRUE(json["numa_nodes"][1]["memory_bytes"].is_null());
  EXPECT_EQ(json["pcie_switches"].size(), 4u);
  EXPECT_EQ(json["links_told"], false);
  const auto& gpu = json["devices"][5];
  EXPECT_EQ(gpu["label"], "GPU5");
  EXPECT_EQ(gpu["kind"], "gpu");
  EXPECT_EQ(gpu["pci_address"], "0000:90:1d.0");
  EXPECT_EQ(gpu["numa"], 1);
  EXPECT_EQ(gpu["switch_group"], 2);
  EXPECT_TRUE(gpu["nvlink_island"].is_null());
  EXPECT_EQ(gpu["nearest_nics"][0]["device"], 10);
  EXPECT_EQ(gpu["nearest_nics"][0]["path"], "PIX");
  EXPECT_EQ(json["paths"][0][1], "PIX");
}

TEST(TopologyShow, NoOrdersToTheTerminal) {
  const auto file = testing::TempDir() + "/escape." + std::to_string(getpid()) + ".xml";
  std::ofstream(file) << R"(<system version="1"><cpu numaid="0"><nic><net name="a&#27;[2J"/></nic>)"
                      << "</cpu></system>";
  const auto outcome = run({"topology", "show", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.out.find("a?[2J"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(TopologyShow, OtherFilesAreTwoAndMissingOnesThree) {
  const auto other = run({"topology", "show", topology_file("../README.md")});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.out, "");
  EXPECT_TRUE(other.err.find("not a machine topology but some other file\nnext:  give hwloc XML") !=
              std::string::npos)
      << other.err;
  EXPECT_EQ(run({"topology", "show", "/nonexistent"}).code, 3);
  EXPECT_EQ(run({"topology", "show"}).code, 2);
  EXPECT_EQ(run({"topology", "shwo", "x"}).err,
            "error: gridfold topology has no command \"shwo\"\nnext:  did you mean gridfold "
            "topology show?\n");
}

// --- No daemon ---

TEST(CommandLine, NoDaemonIsSixAndSaysHowToStartOne) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"ps"},
                                                {"job", "get", "1"},
                                                {"node", "list"},
                                                {"top", "--once"},
                                                {"what-if", "--drain", "n1"},
                                                {"run", "--", "true"},
                                                {"logs", "1"},
                                                {"logs", "-f", "1"}}) {
    auto full = words;
    full.insert(full.begin(), {"--state", "/nonexistent/gridfold"});
    const auto outcome = run(full);
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    EXPECT_NE(outcome.err.find("gridfold up"), std::string::npos) << outcome.err;
  }
}

TEST(CommandLine, VersionInEveryFormat) {
  EXPECT_EQ(run({"version"}).out, "gridfold " GRIDFOLD_VERSION "\n");
  EXPECT_EQ(run({"version", "-o", "json"}).out, "{\n  \"version\": \"" GRIDFOLD_VERSION "\"\n}\n");
  EXPECT_EQ(run({"-o", "yaml", "version"}).out, "version: \"" GRIDFOLD_VERSION "\"\n");
}

TEST(CommandLine, CompletionKnowsEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto outcome = run({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    for (const char* word : {"explain", "undrain", "--follow", "job list -o name"})
      EXPECT_NE(outcome.out.find(word), std::string::npos) << shell << " " << word;
  }
}

TEST(CommandLine, ATokenFileThatIsNotThereIsFour) {
  const auto outcome = run({"ps", "--address", "127.0.0.1:1", "--token-file", "/nonexistent"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(run({"ps", "--address", "nowhere"}).code, 2);
}

TEST(ExitCodes, OneAKind) {
  EXPECT_EQ(exit_code_of(ErrorKind::kInvalid), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::kNotFound), 3);
  EXPECT_EQ(exit_code_of(ErrorKind::kUnauthorised), 4);
  EXPECT_EQ(exit_code_of(ErrorKind::kConflict), 5);
  EXPECT_EQ(exit_code_of(ErrorKind::kUnavailable), 6);
  EXPECT_EQ(exit_code_of(ErrorKind::kInfeasible), 7);
  EXPECT_EQ(exit_code_of(ErrorKind::kInternal), 1);
}

}  // namespace
}  // namespace gridfold
