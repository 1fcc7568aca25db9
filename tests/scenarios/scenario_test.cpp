// Runs the text scenarios beside this file. Each is a list of commands, each
// followed by "----" and what it prints, up to an empty line:
//
//   submit A tasks=10 gpu=8 limit=600s
//   ----
//   @0 A starting
//   …
//
// GRIDFOLD_REWRITE=1 writes what is printed into the file. Every scenario then
// runs with 20 seeds, ties broken at random and the jobs of one tick shuffled:
// the engine recounts its books after every step, and at each `status` and
// `census` as many jobs must be in each state as in the written run.
//
// Commands:
//   policy NAME                              before all others
//   node NAME gpus=8 [cpu=64] [memory=512Gi] [gpu_memory=80Gi] [model=G] [numa=4+4]
//         [switch=2+2+2+2] [island=8] [partitioned=A100-SXM4-80GB]
//         [domains=zone:a,rack:r1] [card_gigabits=100]  links: that card, 100 Gb/s PCIe
//   nodes COUNT gpus=8 … [name=n]            n1, n2, …
//   fabric LEVEL gigabits=100                upwards from each domain; before the first job
//   queue NAME [gpu=4] [model=H100 model_gpu=2] [cpu=] [jobs=] [priority=0] [weight=]
//   [guaranteed=GPUS] [tenant_gpu=]
//              [longest=] [preempts=yes]   after the first job: it is so from now on
//   remove_queue NAME                        likewise
//   clock 2019-03-09T05:00:00Z               when it begins; then times are said so
//   backfill easy                            or conservative
//   window NAME nodes=n1,n2 | domains=rack:r1 | labels=k:v   from=100 until=400
//          or cron=30_2_*_*_* zone=America/New_York for=2h   (_ stands for a space)
//   pool NAME gpus=8 least=0 most=4 boot=180s timeout=300s idle=60s   nodes NAME-1, …
//   boots hangs fails boots    what becomes of the next boots
//   schedule NAME cron=30_2_*_*_* zone=America/New_York gpu=8 …   submitted at these times
//   schedules          what the store keeps of them
//   consolidate                              blocked jobs may have others moved
//   submit NAME [tasks=1] [min=] [gpu=1] [share=250] [gpu_memory=] [gpu_model=] [cpu=1]
//          [memory=1Gi] [place=single_numa] [partition=3g.40gb]
//          [class=train] [prio=0] [queue=] [limit=] [duration=] [exit=0] [stop=0s] [grace=30s]
//          [saves | saves_every=10s]  it has checkpoints
//          [after=JOB:ok,JOB:any]  of the same batch by name, earlier ones by id
//          [retry=0] [backoff=1s] [lost=fails]
//          [require=LEVEL] [prefer=LEVEL] [spread=LEVEL] [segments=4:LEVEL]
//          [all_reduce=2GiB] [compute=100ms]  in a step, among all devices
//          [second=2:8]  a second role of two tasks with 8 GPUs each
//          [at_a_time=2]  A*5 is an array, of which so many may be started at a time
//          several, separated by " ; ", are one atomic batch
//   parse FORMAT                             the lines up to "----" are a job file
//   advance 100        to @100, or to a time              cancel|hold|release|requeue NAME
//   drain|undrain NODE                       lose NODE [unfenced]   return NODE
//   array_limit NAME 8 (0: none)             class NAME infer
//   launches_fail COUNT   the next ones, by the node's fault
//   cleaning_takes 450s   before the first job
//   restart            explain NAME          status          nodes
//   limits NAME        on how many nodes what keeps it off
//   census             how many jobs are in each state, those that wait by their reasons
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "devices/device_facts.h"
#include "tests/scenarios/world.h"
#include "wire/dependencies.h"
#include "wire/job_file.h"

namespace gridfold {
namespace {

struct Command {
  std::string comment;            // above it
  std::string text;               // the command's line
  std::vector<std::string> body;  // further lines before "----"
  std::string expected;
};

struct Scenario {
  std::vector<Command> commands;
};

Scenario read_scenario(const std::filesystem::path& path) {
  Scenario scenario;
  std::string comment;
  std::ifstream in(path);
  std::string line;
  enum { kHead, kCommand, kExpected } at = kHead;
  while (std::getline(in, line)) {
    if (at == kExpected) {
      if (line.empty()) {
        at = kHead;
      } else {
        scenario.commands.back().expected += line + "\n";
      }
    } else if (line == "----") {
      at = kExpected;
    } else if (at == kCommand) {
      scenario.commands.back().body.push_back(line);
    } else if (line.empty() || line[0] == '#') {
      comment += line + "\n";
    } else {
      scenario.commands.push_back({std::exchange(comment, {}), line, {}, ""});
      at = kCommand;
    }
  }
  return scenario;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto equals = word.find('=');
      if (equals == std::string::npos) {
        plain.push_back(word);
      } else {
        named_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
  }
  std::string text(const std::string& name, const std::string& fallback = "") const {
    const auto it = named_.find(name);
    return it == named_.end() ? fallback : it->second;
  }
  int number(const std::string& name, int fallback) const {
    const auto it = named_.find(name);
    return it == named_.end() ? fallback : std::stoi(it->second);
  }
  bool has(const std::string& name) const { return named_.count(name) != 0; }

  std::vector<std::string> plain;

 private:
  std::map<std::string, std::string> named_;
};

Bytes bytes(const std::string& text) { return parse_bytes(text).value(); }
BitsPerSecond gigabits(const std::string& text) {
  return parse_bits_per_second(text + "G").value();
}
Duration duration(const std::string& text) { return parse_duration(text).value(); }

// "4+4": the first four devices are in group 0, the next in 1.
void set_groups(std::string sizes, std::int32_t DeviceSpec::*number, NodeSpec& node) {
  std::replace(sizes.begin(), sizes.end(), '+', ' ');
  std::istringstream in(sizes);
  std::size_t device = 0;
  std::int32_t group = 0;
  for (std::size_t size = 0; in >> size; ++group) {
    for (; size > 0; --size) node.devices.at(device++).*number = group;
  }
}

NodeSpec node_from(const std::string& name, const Arguments& arguments) {
  NodeSpec node;
  node.name = name;
  node.cpu = parse_cores(arguments.text("cpu", "64")).value();
  node.memory = bytes(arguments.text("memory", "512Gi"));
  for (int i = 0; i < arguments.number("gpus", 0); ++i) {
    node.devices.push_back(
        {"gpu", arguments.text("model", "G"), bytes(arguments.text("gpu_memory", "80Gi"))});
    if (arguments.has("partitioned"))
      node.devices.back().partitions =
          built_in_facts().find(arguments.text("partitioned"))->partitions;
  }
  set_groups(arguments.text("numa"), &DeviceSpec::numa, node);
  set_groups(arguments.text("switch"), &DeviceSpec::pcie_switch, node);
  set_groups(arguments.text("island"), &DeviceSpec::island, node);
  if (arguments.has("card_gigabits")) {
    NodeLinks links;
    links.cards = {{0, LinkKind::kRoce, gigabits(arguments.text("card_gigabits"))}};
    links.pcie = gigabits("100");
    links.nvlink = gigabits("1600");
    node.links = SharedLinks(std::move(links));
  }
  std::istringstream domains(arguments.text("domains"));
  for (std::string step; std::getline(domains, step, ',');) {
    const auto colon = step.find(':');
    node.domains.emplace_back(step.substr(0, colon), step.substr(colon + 1));
  }
  return node;
}

TopologyWish topology_from(const Arguments& arguments) {
  TopologyWish wish;
  wish.require = arguments.text("require");
  wish.prefer = arguments.text("prefer");
  wish.spread = arguments.text("spread");
  if (arguments.has("segments")) {
    const std::string segments = arguments.text("segments");
    const auto colon = segments.find(':');
    wish.segments = Segments{std::stoi(segments), segments.substr(colon + 1)};
  }
  return wish;
}

JobSpec job_from(const Arguments& arguments) {
  JobSpec job;
  job.name = arguments.plain.at(0);
  job.priority = arguments.number("prio", 0);
  job.queue = arguments.text("queue", "default");
  job.tenant = arguments.text("tenant", job.tenant);
  job.workload_class = parse_workload_class(arguments.text("class", "train")).value();
  if (arguments.has("limit")) job.time_limit = duration(arguments.text("limit"));
  job.stop.grace = duration(arguments.text("grace", "30s"));
  if (arguments.has("saves_every") || arguments.plain.size() > 1) {
    job.checkpoint.emplace();
    job.checkpoint->grace = job.stop.grace;
    if (arguments.has("saves_every"))
      job.checkpoint->interval = duration(arguments.text("saves_every"));
  }
  job.retry.max = arguments.number("retry", 0);
  if (arguments.text("lost") == "fails") job.retry.on = {RetryCause::kFailure};
  job.retry.backoff = duration(arguments.text("backoff", "1s"));
  std::istringstream parents(arguments.text("after"));
  for (std::string after; std::getline(parents, after, ',');) {
    const auto colon = after.find(':');
    job.after.push_back(
        {after.substr(0, colon), parse_dependency_condition(after.substr(colon + 1)).value()});
  }
  Role role;
  role.count = arguments.number("tasks", 1);
  role.min = arguments.number("min", role.count);
  role.command = {"/bin/true"};
  role.each.cpu = parse_cores(arguments.text("cpu", "1")).value();
  role.each.memory = bytes(arguments.text("memory", "1Gi"));
  if (arguments.has("gpu") || arguments.has("share") || arguments.has("gpu_memory") ||
      arguments.has("partition")) {
    DeviceRequest device{"gpu", arguments.number("gpu", 1)};
    if (arguments.has("share")) device.share = DeviceShare(arguments.number("share", 1000));
    if (arguments.has("gpu_memory")) {
      device.memory = bytes(arguments.text("gpu_memory"));
      if (!arguments.has("share") && !arguments.has("gpu")) device.share = DeviceShare(0);
    }
    device.place = parse_device_place(arguments.text("place", "any")).value();
    if (arguments.has("partition")) {
      device.share = DeviceShare(0);
      device.partition = arguments.text("partition");
    }
    std::istringstream models(arguments.text("gpu_model"));
    for (std::string model; std::getline(models, model, ',');) device.models.push_back(model);
    role.each.devices.push_back(device);
  }
  job.roles.push_back(role);
  job.topology = topology_from(arguments);
  if (arguments.has("all_reduce")) {
    JobTraffic traffic;
    traffic.data = role.count * role.each.devices.front().count;
    traffic.compute = duration(arguments.text("compute", "100ms"));
    traffic.exchanges = {
        {Collective::kAllReduce, RankAxis::kAll, bytes(arguments.text("all_reduce"))}};
    job.communication = std::move(traffic);
  }
  if (arguments.has("second")) {
    const std::string second = arguments.text("second");
    role.name = "second";
    role.count = role.min = std::stoi(second);
    role.each.devices = {{"gpu", std::stoi(second.substr(second.find(':') + 1))}};
    if (arguments.has("later")) role.start_after = {"main"};
    job.roles.push_back(role);
  }
  return job;
}

TaskTruth truth_from(const Arguments& arguments) {
  TaskTruth truth;
  if (arguments.has("duration")) truth.duration = duration(arguments.text("duration"));
  truth.exit_code = arguments.number("exit", 0);
  truth.stop_time = duration(arguments.text("stop", "0s"));
  return truth;
}

// Seconds, or a time.
Instant time_from(const std::string& text) {
  if (text.find('T') != std::string::npos) return parse_rfc3339(text).value();
  return Instant{} + duration(text + "s");
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

LocalRule rule_from(const Arguments& arguments) {
  std::string cron = arguments.text("cron");
  std::replace(cron.begin(), cron.end(), '_', ' ');
  return LocalRule::parse(cron, arguments.text("zone", "UTC")).value();
}

WindowRule window_from(const std::string& name, const Arguments& arguments) {
  WindowRule window;
  window.name = name;
  window.where.nodes = split(arguments.text("nodes"), ',');
  for (const std::string& domain : split(arguments.text("domains"), ',')) {
    const auto parts = split(domain, ':');
    window.where.domains.emplace_back(parts.at(0), parts.at(1));
  }
  for (const std::string& label : split(arguments.text("labels"), ',')) {
    const auto parts = split(label, ':');
    window.where.labels[parts.at(0)] = parts.at(1);
  }
  if (arguments.has("cron")) {
    window.rule = rule_from(arguments);
    window.length = duration(arguments.text("for"));
  } else {
    window.from = time_from(arguments.text("from"));
    window.until = time_from(arguments.text("until"));
  }
  return window;
}

std::string parse_text(const std::string& format, const std::string& text) {
  const auto jobs =
      parse_job_file(text, format == "json" ? JobFileFormat::kJson : JobFileFormat::kYaml);
  if (!jobs) return jobs.error().describe() + "\n";
  if (const auto fine = check_dependencies(*jobs, [](std::string_view) { return false; }); !fine)
    return fine.error().describe() + "\n";
  std::string out;
  for (const JobSpec& job : *jobs) {
    out += job.name + ":";
    for (const Role& role : job.roles) {
      out += " " + std::to_string(role.count) + " x cpu " + to_text(role.each.cpu) + " memory " +
             to_text(role.each.memory);
    }
    out += "\n";
  }
  return out;
}

class Player {
 public:
  Player(std::uint64_t seed, TieBreak tie_break) : shuffle_(seed, "scenario") {
    options_.seed = seed;
    options_.tie_break = tie_break;
  }

  std::string play(const Command& command) {
    std::vector<std::string> words = words_of(command.text);
    const std::string verb = words.front();
    words.erase(words.begin());
    const Arguments arguments(words);
    if (verb == "policy") {
      options_.policy = words.at(0);
      return "";
    }
    if (verb == "consolidate") {
      options_.consolidate = Consolidate::kOn;
      return "";
    }
    if (verb == "gang_repair") {
      options_.gang_repair = duration(words.at(0));
      return "";
    }
    if (verb == "backfill") {
      options_.backfill = parse_backfill_mode(words.at(0)).value();
      return "";
    }
    if (verb == "clock") {
      options_.begin = parse_rfc3339(words.at(0)).value();
      return "";
    }
    if (verb == "parse") {
      std::string text;
      for (const std::string& line : command.body) text += line + "\n";
      return parse_text(words.at(0), text);
    }
    if (!world_) world_ = std::make_unique<World>(options_);
    World& world = *world_;
    const auto by = [&] { return std::string("operator"); };
    if (verb == "nodes" && words.empty()) return world.nodes();
    if (verb == "nodes") {
      for (int i = 1; i <= std::stoi(words.at(0)); ++i)
        world.add_node(node_from(arguments.text("name", "n") + std::to_string(i), arguments));
      return "";
    }
    if (verb == "node") return world.add_node(node_from(words.at(0), arguments)), "";
    if (verb == "fabric") {
      LevelLinks level;
      level.level = words.at(0);
      level.bandwidth = gigabits(arguments.text("gigabits"));
      return world.add_level(level), "";
    }
    if (verb == "queue") {
      QueueSpec queue;
      queue.name = words.at(0);
      queue.priority = arguments.number("priority", 0);
      if (arguments.has("gpu")) queue.limit.devices["gpu"] = arguments.number("gpu", 0) * 1000;
      if (arguments.has("model"))
        queue.limit.devices["gpu:" + arguments.text("model")] =
            arguments.number("model_gpu", 0) * 1000;
      if (arguments.has("model2"))
        queue.limit.devices["gpu:" + arguments.text("model2")] =
            arguments.number("model2_gpu", 0) * 1000;
      if (arguments.has("cpu")) queue.limit.cpu = parse_cores(arguments.text("cpu")).value();
      if (arguments.has("jobs")) queue.limit.running_jobs = arguments.number("jobs", 0);
      if (arguments.has("longest"))
        queue.longest_run = parse_duration(arguments.text("longest")).value();
      if (arguments.has("guaranteed"))
        queue.guaranteed.devices["gpu"] = arguments.number("guaranteed", 0) * 1000;
      if (arguments.has("tenant_gpu"))
        queue.each_tenant.devices["gpu"] = arguments.number("tenant_gpu", 0) * 1000;
      queue.weight = arguments.number("weight", 0);
      queue.preempts = arguments.text("preempts") == "yes";
      return world.put_queue(queue);
    }
    if (verb == "remove_queue") return world.remove_queue(words.at(0));
    if (verb == "window") return world.add_window(window_from(words.at(0), arguments)), "";
    if (verb == "pool") {
      NodePool pool;
      pool.name = words.at(0);
      pool.each = node_from("", arguments);
      pool.least = arguments.number("least", 0);
      pool.most = arguments.number("most", 1);
      pool.boot_time = duration(arguments.text("boot"));
      pool.boot_timeout = duration(arguments.text("timeout"));
      pool.idle_timeout = duration(arguments.text("idle"));
      return world.add_pool(std::move(pool)), "";
    }
    if (verb == "boots") {
      std::vector<BootFate> fates;
      for (const std::string& word : words)
        fates.push_back(word == "hangs"   ? BootFate::kHangs
                        : word == "fails" ? BootFate::kFails
                                          : BootFate::kBoots);
      return world.fail_boots(std::move(fates)), "";
    }
    if (verb == "schedule") {
      const JobSpec job = job_from(arguments);
      return world.schedule({job.name, rule_from(arguments), job.tenant, {job}},
                            truth_from(arguments)),
             "";
    }
    if (verb == "schedules") return world.schedules();
    if (verb == "submit") return submit(command.text.substr(7));
    if (verb == "advance") return world.advance_to(time_from(words.at(0)));
    if (verb == "cancel") return world.request(JobCancelRequested{world.job(words.at(0)), by()});
    if (verb == "hold") return world.request(JobHoldRequested{world.job(words.at(0)), by()});
    if (verb == "release") return world.request(JobReleaseRequested{world.job(words.at(0)), by()});
    if (verb == "requeue") return world.request(JobRequeueRequested{world.job(words.at(0)), by()});
    if (verb == "array_limit") {
      JobChangeRequested change;
      change.job = world.job(words.at(0));
      change.array_limit = std::stoi(words.at(1));
      return world.request(change);
    }
    if (verb == "class") {
      JobChangeRequested change;
      change.job = world.job(words.at(0));
      change.workload_class = parse_workload_class(words.at(1));
      return world.request(change);
    }
    if (verb == "drain") return world.request(NodeDrainRequested{words.at(0), true, by()});
    if (verb == "undrain") return world.request(NodeDrainRequested{words.at(0), false, by()});
    if (verb == "lose")
      return world.lose(words.at(0), words.size() > 1 ? Fencing::kUnfenced : Fencing::kFenced);
    if (verb == "return") return world.give_back(words.at(0));
    if (verb == "launches_fail") return world.fail_launches(std::stoi(words.at(0))), "";
    if (verb == "cleaning_takes") return world.set_clean_time(duration(words.at(0))), "";
    if (verb == "starting_takes") return world.set_start_time(duration(words.at(0))), "";
    if (verb == "restart") return world.restart();
    if (verb == "explain") return world.explain(words.at(0));
    if (verb == "limits") return world.limits(words.at(0));
    if (verb == "status") {
      census.push_back(world.census());
      return world.status();
    }
    if (verb == "census") {
      census.push_back(world.census());
      return world.census_text();
    }
    return "unknown command: " + verb + "\n";
  }

  std::vector<std::map<std::string, int>> census;

 private:
  // "A gpu=1 ; B gpu=2" is one batch.
  std::string submit(const std::string& text) {
    std::vector<JobSpec> jobs;
    std::vector<TaskTruth> truths;
    std::string rest = text;
    while (!rest.empty()) {
      const auto at = rest.find(" ; ");
      const Arguments arguments(words_of(rest.substr(0, at)));
      // "A*24" is A1 … A24.
      const std::string name = arguments.plain.at(0);
      const auto star = name.find('*');
      const int copies = star == std::string::npos ? 1 : std::stoi(name.substr(star + 1));
      for (int i = 1; i <= copies; ++i) {
        jobs.push_back(job_from(arguments));
        if (star != std::string::npos) jobs.back().name = name.substr(0, star) + std::to_string(i);
        if (arguments.has("at_a_time")) {
          jobs.back().array_index = i;
          jobs.back().array_position = i - 1;
          jobs.back().array_limit = static_cast<std::int32_t>(arguments.number("at_a_time", 0));
        }
        truths.push_back(truth_from(arguments));
      }
      rest = at == std::string::npos ? "" : rest.substr(at + 3);
    }
    if (options_.tie_break == TieBreak::kRandom) {
      for (std::size_t i = jobs.size(); i > 1; --i) {
        const std::size_t j = shuffle_.below(i);
        std::swap(jobs[i - 1], jobs[j]);
        std::swap(truths[i - 1], truths[j]);
      }
    }
    return world_->submit(std::move(jobs), truths);
  }

  RandomStream shuffle_;
  World::Options options_;
  std::unique_ptr<World> world_;
};

std::vector<std::string> scenario_paths() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(GRIDFOLD_SOURCE_DIR "/tests/scenarios")) {
    if (entry.path().extension() == ".scenario") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class ScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, PrintsWhatIsWritten) {
  const Scenario scenario = read_scenario(GetParam());
  Player player(0, TieBreak::kLowestName);
  std::string rewritten;
  for (const Command& command : scenario.commands) {
    const std::string printed = player.play(command);
    rewritten += command.comment + command.text + "\n";
    for (const std::string& line : command.body) rewritten += line + "\n";
    rewritten += "----\n" + printed + "\n";
    if (std::getenv("GRIDFOLD_REWRITE") == nullptr) {
      EXPECT_EQ(printed, command.expected) << GetParam() << ": " << command.text;
    }
  }
  if (std::getenv("GRIDFOLD_REWRITE") != nullptr) std::ofstream(GetParam()) << rewritten;
}

TEST_P(ScenarioTest, HoldsForAnyOrderWithinATick) {
  const Scenario scenario = read_scenario(GetParam());
  std::vector<std::map<std::string, int>> written;
  for (std::uint64_t seed = 0; seed <= 20; ++seed) {
    Player player(seed, seed == 0 ? TieBreak::kLowestName : TieBreak::kRandom);
    for (const Command& command : scenario.commands) player.play(command);
    if (seed == 0) {
      written = player.census;
    } else {
      EXPECT_EQ(player.census, written) << GetParam() << ": seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioTest, testing::ValuesIn(scenario_paths()),
                         [](const auto& param) {
                           return std::filesystem::path(param.param).stem().string();
                         });

}  // namespace
}  // namespace gridfold
