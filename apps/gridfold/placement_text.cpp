#include "apps/gridfold/placement_text.h"

#include <algorithm>

#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostTasks = 16;

// By the API's word for what decided.
struct Sentence {
  std::string_view by;
  std::string_view english;
  std::string_view chinese;
};

// Of all nodes.
constexpr Sentence kOfNodes[] = {
    {"only_one", "the only node that could hold it.", "唯一能容纳它的节点。"},
    {"score",
     "of {nodes} nodes that could hold it the best score, {score}; next was {next} with "
     "{next_score}.",
     "在 {nodes} 个可容纳它的节点中得分最高（{score}）；其次是 {next}，得分 {next_score}。"},
    {"name",
     "of {nodes} nodes that could hold it the best score, {score}, as {next}; before that in order "
     "of name.",
     "在 {nodes} 个可容纳它的节点中得分最高（{score}），与 {next} 相同；按名称顺序排在其前。"},
    {"seeded_order",
     "of {nodes} nodes that could hold it the best score, {score}, as {next}; before that in the "
     "order drawn for equals.",
     "在 {nodes} 个可容纳它的节点中得分最高（{score}），与 {next} "
     "相同；按同分时的随机次序排在其前。"},
    {"draw",
     "of {nodes} nodes that could hold it the best score, {score}, as {next}; drawn among equals.",
     "在 {nodes} 个可容纳它的节点中得分最高（{score}），与 {next} 相同；在同分节点中抽签选出。"},
    {"room_made", "room was made for it by stopping others.", "通过停止其他作业为它腾出了位置。"},
    {"plan", "a plan put it there: of reservations, or of a round.",
     "由计划（预留或一轮调度）放置在此。"},
};

// Of the nodes of the gang's domain.
constexpr Sentence kOfNodesInDomain[] = {
    {"only_one", "the only node left in the domain that could hold it.",
     "域中剩下的唯一能容纳它的节点。"},
    {"whole_domain", "all the room of its domain was taken.", "占用了所在域的全部空间。"},
    {"score", "the best score in the domain, {score}; next was {next} with {next_score}.",
     "域中得分最高（{score}）；其次是 {next}，得分 {next_score}。"},
    {"name", "the best score in the domain, {score}, as {next}; before that in order of name.",
     "域中得分最高（{score}），与 {next} 相同；按名称顺序排在其前。"},
    {"seeded_order",
     "the best score in the domain, {score}, as {next}; before that in the order drawn for equals.",
     "域中得分最高（{score}），与 {next} 相同；按同分时的随机次序排在其前。"},
    {"draw", "the best score in the domain, {score}, as {next}; drawn among equals.",
     "域中得分最高（{score}），与 {next} 相同；在同分节点中抽签选出。"},
};

constexpr Sentence kOfDomains[] = {
    {"only_one", "no other domain of its size could hold it.", "没有其他同级域能容纳它。"},
    {"fewest_domains",
     "of {domains} domains of its size that could hold it the one where it lies in the fewest "
     "domains one level down, {value}; next was {next} with {next_value}.",
     "在 {domains} 个可容纳它的同级域中，占用的下一级域最少（{value} 个）；其次是 "
     "{next}，{next_value} "
     "个。"},
    {"evenest",
     "of {domains} domains of its size that could hold it the one with the fewest tasks in the "
     "fullest part, {value}; next was {next} with {next_value}.",
     "在 {domains} 个可容纳它的同级域中，最满部分的任务最少（{value} 个）；其次是 "
     "{next}，{next_value} 个。"},
    {"least_left",
     "of {domains} domains of its size that could hold it the one with the least room left over, "
     "for {value} more tasks; next was {next} with room for {next_value}.",
     "在 {domains} 个可容纳它的同级域中，剩余空间最少（还可容纳 {value} 个任务）；其次是 "
     "{next}，还可容纳 "
     "{next_value} 个。"},
    {"score",
     "of {domains} domains of its size that could hold it, some equally full, the one whose best "
     "node scores highest, {value}; next was {next} with {next_value}.",
     "在 {domains} 个可容纳它的同级域中，同样满的域里最佳节点得分最高（{value}）；其次是 "
     "{next}，{next_value}。"},
    {"name",
     "of {domains} domains of its size that could hold it as good as {next}, and before that in "
     "order of name.",
     "在 {domains} 个可容纳它的同级域中，与 {next} 同样好；按名称顺序排在其前。"},
    {"seeded_order",
     "of {domains} domains of its size that could hold it as good as {next}, and before that in "
     "the order drawn for equals.",
     "在 {domains} 个可容纳它的同级域中，与 {next} 同样好；按同分时的随机次序排在其前。"},
    {"draw",
     "of {domains} domains of its size that could hold it as good as {next}; drawn among equals.",
     "在 {domains} 个可容纳它的同级域中，与 {next} 同样好；抽签选出。"},
    {"cost",
     "a step is expected to be faster here, {value} ns, than in {next}, {next_value} ns, which its "
     "room would have chosen.",
     "预期一步在此更快（{value} ns）；按空间本应选择 {next}（{next_value} ns）。"},
};
constexpr Sentence kOfGrid = {"only_one", "no smaller domain was asked for, or could hold it.",
                              "没有要求更小的域，或更小的域都无法容纳它。"};

// By the API's word for a limit.
constexpr Sentence kOfLimits[] = {
    {"too_small", "{nodes} never have enough {resource}", "{nodes} 个始终缺少足够的 {resource}"},
    {"down", "{nodes} are down", "{nodes} 个失联"},
    {"drained", "{nodes} are drained", "{nodes} 个已排空"},
    {"maintenance", "{nodes} are closed for maintenance, or would be before it has ended",
     "{nodes} 个正在维护，或在其结束之前将进入维护"},
    {"reserved", "{nodes} are reserved for others", "{nodes} 个已为其他作业保留"},
    {"in_use", "{nodes} have too little free {resource}", "{nodes} 个空闲 {resource} 不足"},
    {"domain", "{nodes} lie in no domain that holds it all", "{nodes} 个所在的域都放不下整个作业"},
    {"has_room", "{nodes} have room", "{nodes} 个有空间"},
};

std::string_view in(Language language, const Sentence& sentence) {
  return language == Language::kChinese ? sentence.chinese : sentence.english;
}

// A word that this program does not know is shown as it is.
template <std::size_t N>
std::string sentence_by(const Sentence (&sentences)[N], const std::string& by,
                        const std::vector<Reason::Param>& params, Language language) {
  for (const Sentence& sentence : sentences)
    if (sentence.by == by) return fill_sentence(in(language, sentence), params);
  return by;
}

std::string limit_text(const LimitCountView& count, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string resource = count.resource;
  if (resource == "combination") resource = chinese ? "资源组合" : "of all at once";
  if (!count.wish.empty()) resource += " (" + count.wish + ")";
  return sentence_by(kOfLimits, count.limit, {{"nodes", count.nodes}, {"resource", resource}},
                     language);
}

std::string domain_text(const DomainChoiceView& choice, Language language) {
  const bool chinese = language == Language::kChinese;
  const std::string place =
      choice.domain == "grid" ? (chinese ? "整个集群" : "the whole grid") : choice.domain;
  const std::string begin = chinese ? "任务组位于 " + place + "：" : "the gang in " + place + ": ";
  if (choice.domain == "grid" && choice.decided_by == kOfGrid.by)
    return begin + std::string(in(language, kOfGrid));
  return begin + sentence_by(kOfDomains, choice.decided_by,
                             {{"domains", choice.feasible_domains},
                              {"value", choice.value},
                              {"next", choice.runner_up},
                              {"next_value", choice.runner_up_value}},
                             language);
}

std::string node_text(const NodeChoiceView& choice, bool in_domain, Language language) {
  const std::vector<Reason::Param> params = {{"nodes", choice.feasible_nodes},
                                             {"score", choice.score},
                                             {"next", choice.runner_up},
                                             {"next_score", choice.runner_up_score}};
  const std::string task = std::to_string(choice.task);
  const std::string begin = language == Language::kChinese
                                ? "任务 " + task + " 位于 " + choice.node + "："
                                : "task " + task + " on " + choice.node + ": ";
  return begin + (in_domain ? sentence_by(kOfNodesInDomain, choice.decided_by, params, language)
                            : sentence_by(kOfNodes, choice.decided_by, params, language));
}

}  // namespace

std::string limits_text(const std::vector<RoleLimitsView>& limits, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string text;
  for (const RoleLimitsView& role : limits) {
    std::string line;
    for (const LimitCountView& count : role.counts)
      line += (line.empty() ? "" : chinese ? "，" : ", ") + limit_text(count, language);
    if (line.empty()) continue;
    const std::string whose = limits.size() == 1 ? "" : role.role + (chinese ? "：" : ": ");
    const std::string nodes = std::to_string(role.nodes);
    text += "  " + whose;
    text += chinese ? "共 " + nodes + " 个节点：" + line + "。\n"
                    : "Of " + nodes + (role.nodes == 1 ? " node " : " nodes ") + line + ".\n";
  }
  return text;
}

std::string placement_text(const PlacementView& placement, Instant now, Language language) {
  const bool chinese = language == Language::kChinese;
  const std::string ago = age(placement.decided_at, now);
  std::string text = chinese ? "  为何在此（" + ago + "前启动时的情况）：\n"
                             : "  Why here, as things were at the launch " + ago + " ago:\n";
  const auto add = [&text](const std::string& line) { text += "    " + line + "\n"; };
  if (placement.domain) add(domain_text(*placement.domain, language));
  const std::size_t shown = std::min(placement.tasks.size(), kMostTasks);
  for (std::size_t i = 0; i < shown; ++i)
    add(node_text(placement.tasks[i], placement.domain.has_value(), language));
  const std::string more = std::to_string(placement.tasks.size() - shown);
  if (shown < placement.tasks.size())
    add(chinese ? "另有 " + more + " 个任务；-o json 显示全部" : more + " more; -o json shows all");
  return text;
}

}  // namespace gridfold
