#include "apps/gridfold/reason_text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/time.h"
#include "base/units.h"

namespace gridfold {
namespace {

struct Sentence {
  ReasonCode code;
  std::string_view english;
  std::string_view chinese;
};

// One sentence a code, with the parameters of model/reason.h. A parameter that
// a reason does not carry is shown as "?".
constexpr Sentence kSentences[] = {
    {ReasonCode::kExceedsCluster,
     "Needs room for {need} {resource} at once, but even empty the nodes hold at most {capacity}.",
     "需要同时容纳 {need} 个 {resource}，但所有节点即使空闲也最多容纳 {capacity} 个。"},
    {ReasonCode::kNoMatchingNode,
     "No node could ever hold one task: it needs {need} of {constraint}, the largest node offers "
     "{largest}.",
     "没有任何节点能容纳一个任务：需要 {constraint} {need}，最大的节点只提供 {largest}。"},
    {ReasonCode::kExceedsQuotaMax,
     "Needs {need} of {resource}, more than the limit {limit} of queue {queue}.",
     "需要 {resource} {need}，超过队列 {queue} 的上限 {limit}。"},
    {ReasonCode::kUnsatisfiableTopology,
     "Needs room for {need} tasks in one domain as the topology asks (level {level}); even empty, "
     "the largest holds {largest}.",
     "按拓扑要求（层级 {level}）需要在一个域中容纳 {need} 个任务，但最大的域即使空闲也只容纳 "
     "{largest} 个。"},
    {ReasonCode::kExceedsTenantQuotaMax,
     "Needs {need} of {resource}, more than the {limit} that each tenant of queue {queue} may "
     "have.",
     "需要 {resource} {need}，超过队列 {queue} 中每个租户的上限 {limit}。"},
    {ReasonCode::kTenantQuotaInUse,
     "Tenant {tenant} uses {used} of its {limit} of {resource} in queue {queue}; with the needed "
     "{need} it is {short} short.",
     "租户 {tenant} 在队列 {queue} 中已使用 {resource} {used}（上限 {limit}）；所需 {need} 还差 "
     "{short}。"},
    {ReasonCode::kQueueTurn,
     "Queues take turns: {queue} has {share} millionths of the grid by its weight, and those with "
     "less go first.",
     "队列按份额轮流：{queue} 按权重已占集群的百万分之 {share}，份额更小的队列优先。"},
    {ReasonCode::kReserved,
     "Room on {nodes} nodes is reserved for it; it starts at {at_ns} at the latest, by {basis}.",
     "已在 {nodes} 个节点上为其预留资源；按{basis}推算，最迟于 {at_ns} 启动。"},
    {ReasonCode::kWouldDelayReservation,
     "Would fit now, but runs too long: job {job} has room reserved from {at_ns} on.",
     "目前可以放下，但运行时间过长：作业 {job} 已预留 {at_ns} 起的资源。"},
    {ReasonCode::kQueueClosed, "Queue {queue} takes no new jobs.", "队列 {queue} 不接受新作业。"},
    {ReasonCode::kInsufficientFree,
     "Needs {need} of {resource}; {free} are free, at most {largest_block} on one node.",
     "需要 {resource} {need}；空闲 {free}，单个节点最多 {largest_block}。"},
    {ReasonCode::kQuotaInUse,
     "Queue {queue} uses {used} of its {limit} of {resource}; with the needed {need} it is {short} "
     "short.",
     "队列 {queue} 已使用 {resource} {used}（上限 {limit}）；所需 {need} 还差 {short}。"},
    {ReasonCode::kFragmented,
     "Each resource is free somewhere, but there is no room for all of them together.",
     "每种资源都有空闲，但没有地方能同时放下全部。"},
    {ReasonCode::kGangIncomplete, "{have} of the gang's {need} tasks would fit now.",
     "任务组需要 {need} 个任务，目前只能放下 {have} 个。"},
    {ReasonCode::kBehindInQueue, "Number {position} in the queue.", "在队列中排第 {position} 位。"},
    {ReasonCode::kDependencyPending, "Waits for job {job} to end.", "等待作业 {job} 结束。"},
    {ReasonCode::kHeld, "Held by {by} until it is released.", "被 {by} 暂停，等待释放。"},
    {ReasonCode::kNodeDraining, "Node {node} is being drained.", "节点 {node} 正在排空。"},
    {ReasonCode::kPreemptionPending, "Waits for {victims} jobs to give back devices.",
     "等待 {victims} 个作业归还设备。"},
    {ReasonCode::kBackoffAfterFailure, "Failed; attempt {attempt} starts at {until_ns}.",
     "运行失败；第 {attempt} 次尝试将于 {until_ns} 开始。"},
    {ReasonCode::kReservedFor, "The free room is reserved for job {job}.",
     "空闲资源已为作业 {job} 保留。"},
    {ReasonCode::kNotYetConsidered, "Will be considered in the next cycle.",
     "将在下一轮调度中考虑。"},
    {ReasonCode::kPlaced, "Room was found for {tasks} tasks; starting.",
     "已为 {tasks} 个任务找到资源，正在启动。"},
    {ReasonCode::kStarted, "Runs.", "正在运行。"},
    {ReasonCode::kCompleted, "Completed.", "已完成。"},
    {ReasonCode::kTaskFailed, "Task {task} failed.", "任务 {task} 失败。"},
    {ReasonCode::kLaunchFailed, "Task {task} could not be started: {message}.",
     "任务 {task} 无法启动：{message}。"},
    {ReasonCode::kNodeLost, "Node {node} was lost.", "节点 {node} 失联。"},
    {ReasonCode::kOutOfMemory, "Task {task} ran out of memory.", "任务 {task} 内存不足。"},
    {ReasonCode::kTimeLimit, "The time limit of {limit_ns} was reached.",
     "已达到时间上限 {limit_ns}。"},
    {ReasonCode::kCancelledBy, "Cancelled by {by}.", "被 {by} 取消。"},
    {ReasonCode::kPreempted, "Preempted by job {by}.", "被作业 {by} 抢占。"},
    {ReasonCode::kMoved, "Moved, so that job {by} finds room in one place.",
     "已迁移，使作业 {by} 能在一处获得足够的空间。"},
    {ReasonCode::kShed, "{tasks} tasks beyond the gang's minimum were stopped for job {by}.",
     "为作业 {by} 停止了任务组最少数量之外的 {tasks} 个任务。"},
    {ReasonCode::kVictimsSafe,
     "May stop {victims} jobs, but they were stopped before and are safe until {until_ns}.",
     "有权停止 {victims} 个作业，但它们此前已被停止过，在 {until_ns} 之前受保护。"},
    {ReasonCode::kHeldBack,
     "{held_back} of the {free} free {device_class} devices are held back: other work may need "
     "them "
     "within {guaranteed_ns}.",
     "{free} 个空闲的 {device_class} 设备中有 {held_back} 个被保留：其他作业可能在 {guaranteed_ns} "
     "内需要它们。"},
    {ReasonCode::kReclaimed,
     "Stopped for job {by}: queue {queue} is guaranteed what this job's queue had borrowed.",
     "为作业 {by} 停止：本作业所在队列借用了队列 {queue} 的保证配额。"},
    {ReasonCode::kWaitsForRepair,
     "Repair: waits for {tasks} tasks' places until {until_ns}; {kept} places are kept for it.",
     "修复：在 {until_ns} 之前等待 {tasks} 个任务的位置；已为其保留 {kept} 个位置。"},
    {ReasonCode::kRepairGivenUp,
     "What its gang had lost was not found within {after_ns}; its other places are no longer kept.",
     "{after_ns} 内未能为任务组找回所失去的位置；其余位置不再保留。"},
    {ReasonCode::kWaitsForRole, "{tasks} tasks hold their places and start once role {role} runs.",
     "{tasks} 个任务已占好位置，待角色 {role} 运行后启动。"},
    {ReasonCode::kRoleDown, "Role {role}, which others start after, did not run for {after_ns}.",
     "其他角色所依赖的角色 {role} 已有 {after_ns} 未运行。"},
    {ReasonCode::kArrayLimit,
     "At most {limit} jobs of its array at a time: {started} are started, {ahead} are before it.",
     "该作业数组同时最多运行 {limit} 个作业：已启动 {started} 个，排在它前面的有 {ahead} 个。"},
    {ReasonCode::kWaitsForBoot,
     "Waits for {nodes} nodes of pool {pool} to boot, expected at {at_ns}.",
     "等待节点池 {pool} 的 {nodes} 个节点启动，预计 {at_ns} 就绪。"},
    {ReasonCode::kBootFailed,
     "Pool {pool} could not boot a node, {failures} times in a row; it is tried again at "
     "{until_ns}.",
     "节点池 {pool} 连续 {failures} 次未能启动节点；将于 {until_ns} 重试。"},
    {ReasonCode::kMaintenance,
     "Maintenance \"{window}\" of {nodes} nodes from {from_ns} to {until_ns}: with its {run_ns} "
     "the "
     "job would last into it.",
     "维护“{window}”：{nodes} 个节点，自 {from_ns} 至 {until_ns}；该作业需运行 "
     "{run_ns}，将与之重叠。"},
    {ReasonCode::kRequeued, "Put back into the queue by {by}.", "被 {by} 重新排队。"},
    {ReasonCode::kDependencyNeverMet,
     "Job {job} has ended in a way that never meets the condition \"{condition}\".",
     "作业 {job} 的结束方式永远无法满足条件“{condition}”。"},
    {ReasonCode::kLaunchFailures, "{count} launches failed within {window_ns}, the last with: {message}",
     "{window_ns} 内有 {count} 次启动失败，最后一次：{message}"},
    {ReasonCode::kDrainedBy, "Drained by {by}.", "被 {by} 排空。"},
    {ReasonCode::kDeviceDirty, "Device {device} could not be cleared and is quarantined.",
     "设备 {device} 无法清理，已隔离。"},
    {ReasonCode::kWaitsForRound, "Waits for the round at {at_ns}.", "等待 {at_ns} 的调度轮次。"},
    {ReasonCode::kResized, "Goes on with {to} tasks instead of {from}.",
     "任务数由 {from} 调整为 {to}，继续运行。"},
    {ReasonCode::kRoundMissed,
     "The round gave it room on node {node} that was gone by then; the next round decides anew.",
     "本轮分配给它的节点 {node} 上的资源已不可用；由下一轮重新决定。"},
};

// Resized when the number of tasks says more, and RoundMissed for its number.
constexpr Sentence kPaused = {ReasonCode::kResized,
                              "Stopped with {from} tasks: others go first in this round.",
                              "以 {from} 个任务运行时被停止：本轮其他作业优先。"};
constexpr Sentence kMoved = {ReasonCode::kResized, "Moves to other places with its {to} tasks.",
                             "{to} 个任务迁移到其他位置。"};
constexpr Sentence kWrongNumber = {ReasonCode::kRoundMissed,
                                   "The round gave it {tasks} tasks, which it cannot have.",
                                   "本轮分配给它 {tasks} 个任务，超出其允许范围。"};

// Maintenance where nobody knows how long the job runs, where it could run up to
// then, and of one that was stopped.
constexpr Sentence kOpenEnded = {
    ReasonCode::kMaintenance,
    "Maintenance \"{window}\" of {nodes} nodes from {from_ns} to {until_ns}: the job has no "
    "time_limit, so it may last into it.",
    "维护“{window}”：{nodes} 个节点，自 {from_ns} 至 {until_ns}；该作业没有 "
    "time_limit，可能与之重叠。"};
constexpr Sentence kClosed = {
    ReasonCode::kMaintenance,
    "Maintenance \"{window}\" closes {nodes} nodes from {from_ns} to {until_ns}.",
    "维护“{window}”在 {from_ns} 至 {until_ns} 关闭 {nodes} 个节点。"};
constexpr Sentence kStoppedFor = {
    ReasonCode::kMaintenance, "Stopped for maintenance \"{window}\" of node {node}, to {until_ns}.",
    "因节点 {node} 的维护“{window}”而停止，至 {until_ns}。"};

// HeldBack where fillers are kept waiting altogether.
constexpr Sentence kNoFillers = {ReasonCode::kHeldBack, "No fillers are let in.",
                                 "目前不接纳任何填充作业。"};

// NoMatchingNode when no single resource is to blame.
constexpr Sentence kNoCombination = {
    ReasonCode::kNoMatchingNode,
    "No node could ever hold one task: each resource would do on some node, but no node has all "
    "of them.",
    "没有任何节点能容纳一个任务：每种资源都有节点满足，但没有一个节点同时满足全部。"};

// The devices of one task must lie to each other as it wishes.
constexpr Sentence kOfPlaces[] = {
    {ReasonCode::kInsufficientFree,
     "Needs {need} of {resource} {within}; {free} are free, at most {largest_block} {within}.",
     "需要 {resource} {need}，且{within}；空闲 {free}，{within}的最多 {largest_block}。"},
    {ReasonCode::kNoMatchingNode,
     "No node could ever hold one task: it needs {need} of {constraint} {within}, the best node "
     "offers {largest}.",
     "没有任何节点能容纳一个任务：需要 {constraint} {need}，且{within}，最好的节点只提供 "
     "{largest}。"},
};
// One partition of a split device: the amounts are slots.
constexpr Sentence kOfPartitions[] = {
    {ReasonCode::kInsufficientFree,
     "A partition {profile} needs {need} slots in a row; {free} slots are free, at most "
     "{largest_block} in a row where one may begin.",
     "分区 {profile} 需要 {need} 个连续切片；空闲 {free} 个，在允许的起点处最多连续 "
     "{largest_block} 个。"},
    {ReasonCode::kNoMatchingNode,
     "No node has a device that is split and has partitions {profile}.",
     "没有任何节点拥有可划分出 {profile} 分区的设备。"},
};

// Limits of models, of which several would do together: a job's tasks that may have
// either are all given one of them.
constexpr Sentence kOfModels[] = {
    {ReasonCode::kExceedsQuotaMax,
     "Needs {need} of one model, for models are not mixed within a job; of those it accepts, queue "
     "{queue} allows at most {models}.",
     "作业内不混用设备型号，需要同一型号 {need}；在可接受的型号中，队列 {queue} 最多允许 "
     "{models}。"},
    {ReasonCode::kQuotaInUse,
     "Needs {need} of one model, for models are not mixed within a job; of those it accepts, queue "
     "{queue} has {models} left.",
     "作业内不混用设备型号，需要同一型号 {need}；在可接受的型号中，队列 {queue} 仅剩 {models}。"},
    {ReasonCode::kExceedsTenantQuotaMax,
     "Needs {need} of one model, for models are not mixed within a job; of those it accepts, each "
     "tenant of queue {queue} may have at most {models}.",
     "作业内不混用设备型号，需要同一型号 {need}；在可接受的型号中，队列 {queue} 的每个租户最多可用 "
     "{models}。"},
    {ReasonCode::kTenantQuotaInUse,
     "Needs {need} of one model, for models are not mixed within a job; of those it accepts, "
     "tenant "
     "{tenant} has {models} left in queue {queue}.",
     "作业内不混用设备型号，需要同一型号 {need}；在可接受的型号中，租户 {tenant} 在队列 {queue} "
     "中仅剩 "
     "{models}。"},
};

struct PlaceWords {
  std::string_view place;  // as in a job file
  std::string_view english;
  std::string_view chinese;
};
constexpr PlaceWords kPlaceWords[] = {
    {"single_numa", "on one NUMA node", "位于同一 NUMA 节点"},
    {"linked", "in one island of links", "位于同一直连互联组"},
    {"same_switch", "under one PCIe switch", "位于同一 PCIe 交换机下"},
    {"spread", "spread evenly over the NUMA nodes", "均匀分布于各 NUMA 节点"},
};
// Fragmented and GangIncomplete when it is the topology that binds.
constexpr Sentence kNoDomain = {
    ReasonCode::kFragmented,
    "{in_all} tasks would fit now, but the gang needs {need} in one domain as its topology asks "
    "(level {level}), and the best, {domain}, holds {have}.",
    "目前共能放下 {in_all} 个任务，但按拓扑要求（层级 {level}）一个域中需要 {need} 个，最好的域 "
    "{domain} 只能放下 {have} 个。"};
constexpr Sentence kDomainIncomplete = {
    ReasonCode::kGangIncomplete,
    "{have} of the gang's {need} tasks would fit now in {domain}, the best domain of level "
    "{level}.",
    "任务组需要 {need} 个任务，层级 {level} 中最好的域 {domain} 目前只能放下 {have} 个。"};

const Sentence* find_sentence(ReasonCode code) {
  for (const auto& sentence : kSentences)
    if (sentence.code == code) return &sentence;
  return nullptr;
}

const Reason::Param* find_param(const std::vector<Reason::Param>& params, std::string_view name) {
  for (const auto& param : params)
    if (param.first == name) return &param;
  return nullptr;
}

bool is_amount(std::string_view name) {
  for (const std::string_view amount :
       {"need", "capacity", "largest", "limit", "used", "free", "short", "largest_block"})
    if (name == amount) return true;
  return false;
}

// What an amount is in. Queues count devices in thousandths, nodes whole ones.
enum class DeviceUnit : std::uint8_t { kWhole, kThousandths };

std::string amount_text(std::string_view resource, std::int64_t value, DeviceUnit unit) {
  if (resource == "cpu") return to_text(MilliCores(value));
  if (resource.ends_with("memory")) return to_text(Bytes(value));
  const bool shares = resource.ends_with("_share") || unit == DeviceUnit::kThousandths;
  return shares ? to_text(MilliCores(value)) : std::to_string(value);
}

std::string value_text(const Reason::Param& param, std::string_view resource = {},
                       DeviceUnit unit = DeviceUnit::kWhole) {
  const auto& [name, value] = param;
  if (const auto* text = std::get_if<std::string>(&value)) {
    // Job ids with commas between them; people are told how many.
    if (name == "victims" && !text->empty())
      return std::to_string(1 + std::count(text->begin(), text->end(), ','));
    return *text;
  }
  const auto number = std::get<std::int64_t>(value);
  if (name == "until_ns" || name == "at_ns" || name == "from_ns")
    return to_rfc3339(Instant{number});
  if (name.ends_with("_ns")) return to_text(Duration{number});
  return is_amount(name) ? amount_text(resource, number, unit) : std::to_string(number);
}

std::string resource_of(const std::vector<Reason::Param>& params) {
  for (const std::string_view name : {"resource", "constraint"})
    if (const auto* param = find_param(params, name))
      if (const auto* text = std::get_if<std::string>(&param->second)) return *text;
  return {};
}

// What the sentences write after a number, and what they mean after a one.
constexpr std::pair<std::string_view, std::string_view> kAfterOne[] = {
    {" tasks", " task"},
    {" jobs", " job"},
    {" other jobs", " other job"},
    {" launches", " launch"},
    {" are free", " is free"},
    {" slots are free", " slot is free"},
    {" slots in a row", " slot"},
    {" more tasks", " more task"},
    {" domains", " domain"},
    {" nodes", " node"},
    {" never have", " never has"},
    {" have", " has"},
    {" lie in", " lies in"},
    {" are down", " is down"},
    {" are drained", " is drained"},
    {" are closed", " is closed"},
    {" are reserved", " is reserved"},
};

std::string fill(std::string_view sentence, const std::vector<Reason::Param>& params,
                 DeviceUnit unit) {
  const auto resource = resource_of(params);
  std::string out;
  while (!sentence.empty()) {
    const auto open = sentence.find('{');
    out += sentence.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = sentence.find('}', open);
    const auto* param = find_param(params, sentence.substr(open + 1, close - open - 1));
    const auto value = param ? value_text(*param, resource, unit) : "?";
    out += value;
    sentence.remove_prefix(close + 1);
    for (const auto& [many, one] : kAfterOne)
      if (value == "1" && sentence.starts_with(many)) {
        out += one;
        sentence.remove_prefix(many.size());
        break;
      }
  }
  return out;
}

// How the task ended, which only one of two parameters says.
std::string failure_detail(const std::vector<Reason::Param>& params, Language language) {
  const bool chinese = language == Language::kChinese;
  if (const auto* signal = find_param(params, "signal"))
    return (chinese ? "信号 " : "Signal ") + value_text(*signal) + (chinese ? "。" : ".");
  if (const auto* code = find_param(params, "exit_code"))
    return (chinese ? "退出码 " : "Exit code ") + value_text(*code) + (chinese ? "。" : ".");
  return {};
}

// The sentence that fits a reason about devices, or null: the common one does.
// `params` gets the words of a place instead of its name.
const Sentence* sentence_of_devices(ReasonCode code, std::vector<Reason::Param>& params,
                                    Language language) {
  const auto of = [&](const auto& sentences) -> const Sentence* {
    for (const Sentence& sentence : sentences)
      if (sentence.code == code) return &sentence;
    return nullptr;
  };
  for (auto& [name, value] : params) {
    if (name == "profile") return of(kOfPartitions);
    if (name == "models") return of(kOfModels);
    if (name != "within") continue;
    for (const PlaceWords& words : kPlaceWords) {
      if (value == Reason::Param::second_type(std::string(words.place)))
        value = std::string(language == Language::kChinese ? words.chinese : words.english);
    }
    return of(kOfPlaces);
  }
  return nullptr;
}

// What a promised start goes by, in words.
struct BasisWords {
  std::string_view basis;
  std::string_view english;
  std::string_view chinese;
};
constexpr BasisWords kBasisWords[] = {
    {"limit", "time limits", "时间上限"},
    {"default", "the run time that jobs without a limit are taken to have",
     "无上限作业的默认运行时间"},
    {"history", "what earlier runs took", "以往的运行时间"},
};

void put_basis_in_words(std::vector<Reason::Param>& params, Language language) {
  for (auto& [name, value] : params) {
    if (name != "basis") continue;
    for (const BasisWords& words : kBasisWords) {
      if (value == Reason::Param::second_type(std::string(words.basis)))
        value = std::string(language == Language::kChinese ? words.chinese : words.english);
    }
  }
}

std::string unknown_text(std::string_view code, const std::vector<Reason::Param>& params) {
  std::string out(code);
  char separator = ' ';
  for (const auto& param : params) {
    out.append(1, separator).append(param.first).append("=").append(value_text(param));
    separator = ',';
  }
  return out;
}

}  // namespace

Language choose_language(std::string_view wish) {
  std::string chosen(wish);
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (!chosen.empty()) break;
    if (const char* value = std::getenv(name)) chosen = value;
  }
  return chosen.starts_with("zh") ? Language::kChinese : Language::kEnglish;
}

std::string fill_sentence(std::string_view sentence, const std::vector<Reason::Param>& params) {
  return fill(sentence, params, DeviceUnit::kWhole);
}

std::string_view reason_template(ReasonCode code, Language language) {
  const auto* sentence = find_sentence(code);
  if (!sentence) return {};
  return language == Language::kChinese ? sentence->chinese : sentence->english;
}

std::string reason_text(std::string_view code, const std::vector<Reason::Param>& params,
                        Language language) {
  const auto known = parse_reason_code(code);
  if (!known) return unknown_text(code, params);
  const bool of_queue =
      *known == ReasonCode::kExceedsQuotaMax || *known == ReasonCode::kQuotaInUse ||
      *known == ReasonCode::kExceedsTenantQuotaMax || *known == ReasonCode::kTenantQuotaInUse;
  if (*known == ReasonCode::kNoMatchingNode && !find_param(params, "need"))
    return std::string(language == Language::kChinese ? kNoCombination.chinese
                                                      : kNoCombination.english);
  std::vector<Reason::Param> shown = params;
  put_basis_in_words(shown, language);
  std::string_view sentence = reason_template(*known, language);
  const auto say = [&](const Sentence& other) {
    sentence = language == Language::kChinese ? other.chinese : other.english;
  };
  if (*known == ReasonCode::kHeldBack && find_param(params, "problem")) say(kNoFillers);
  for (const Sentence& of_level : {kNoDomain, kDomainIncomplete}) {
    if (*known == of_level.code && find_param(params, "level")) say(of_level);
  }
  const auto is = [&](std::string_view name, std::int64_t value) {
    const auto* param = find_param(params, name);
    return param != nullptr && param->second == decltype(param->second)(value);
  };
  if (*known == ReasonCode::kMaintenance) {
    if (find_param(params, "node"))
      say(kStoppedFor);
    else if (!find_param(params, "run_ns"))
      say(kOpenEnded);
    else if (is("run_ns", 0))
      say(kClosed);
  }
  if (*known == ReasonCode::kResized) {
    const auto* from = find_param(params, "from");
    const auto* to = find_param(params, "to");
    if (is("to", 0))
      say(kPaused);
    else if (from != nullptr && to != nullptr && from->second == to->second)
      say(kMoved);
  }
  if (*known == ReasonCode::kRoundMissed && find_param(params, "tasks")) say(kWrongNumber);
  if (const Sentence* of_devices = sentence_of_devices(*known, shown, language)) say(*of_devices);
  auto text = fill(sentence, shown, of_queue ? DeviceUnit::kThousandths : DeviceUnit::kWhole);
  if (*known != ReasonCode::kTaskFailed) return text;
  const auto detail = failure_detail(params, language);
  if (!detail.empty()) text += (language == Language::kChinese ? "" : " ") + detail;
  return text;
}

}  // namespace gridfold
