#include "wire/topology_reader.h"

#include <algorithm>

#include "base/quote.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxDomainDepth = 16;

std::string read_level(const Field& field) {
  std::string level = read_text(field);
  if (!is_level_name(level))
    field.fail(quote(level) + " is not a name of a level",
               "use letters, digits, - and _, at most 63, and begin with a letter, such as rack");
  return level;
}

// rack-3, or {rack: r3}.
DomainStep read_step(const Field& field) {
  if (!field.is_map()) return DomainStep(read_scalar(field));
  if (field.size() != 1) {
    field.fail("a domain has one level and one name", "such as {rack: r3}");
    return {};
  }
  const std::string& level = field.node().entries[0].key;
  const Field name = field.item(0);
  if (!is_level_name(level)) {
    name.fail(quote(level) + " is not a name of a level",
              "use letters, digits, - and _, at most 63, and begin with a letter, such as rack");
  } else if (level == kNodeLevel) {
    name.fail("the level node is every node's own", "leave it out");
  }
  return DomainStep(level, read_scalar(name));
}

Segments read_segments(const Field& field) {
  Segments segments;
  if (!check_map(field, kSegmentKeys)) return segments;
  const auto size = field.find("size");
  const auto within = field.find("within");
  if (!size || !within) {
    field.fail("segments need size and within", "write {size: 4, within: rack}");
    return segments;
  }
  segments.size = static_cast<std::int32_t>(read_integer(*size, 2, kMaxTasksPerJob));
  segments.within = read_level(*within);
  return segments;
}

// Both the tasks at most and those at least must come out even.
void check_parts(const Field& field, const Segments& segments, const std::vector<Role>& roles) {
  std::int64_t most = 0;
  std::int64_t least = 0;
  for (const Role& role : roles) {
    most += role.count;
    least += role.min;
  }
  if (segments.size <= 0) return;
  for (const std::int64_t tasks : {most, least}) {
    if (tasks % segments.size == 0) continue;
    field.fail(std::to_string(tasks) + " tasks cannot be cut into segments of " +
                   std::to_string(segments.size),
               "choose a size that divides the number of tasks");
    return;
  }
}

// Wishes of which one leaves the other nothing to say, or excludes it.
void check_together(const Field& field, const TopologyWish& wish) {
  const std::string within = wish.segments ? wish.segments->within : "";
  const auto same = [](const std::string& a, const std::string& b) { return !a.empty() && a == b; };
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    field.fail(what, hint);
  };
  if (same(wish.require, wish.prefer))
    refuse("require and prefer name the same level", "keep one of them");
  if (same(wish.require, wish.spread) || same(wish.prefer, wish.spread))
    refuse("the job cannot be in one " + wish.spread + " and spread over several",
           "spread over a narrower level, or remove one of them");
  if (!wish.spread.empty() && wish.segments)
    refuse("spread and segments exclude each other", "remove one of them");
  if (same(wish.require, within))
    refuse("a job in one " + within + " has all its segments there", "remove segments");
  const bool more = !wish.prefer.empty() || !wish.spread.empty() || wish.segments;
  if (wish.require == kNodeLevel && more)
    refuse("a job on one node has no other topology", "remove what stands beside require: node");
}

}  // namespace

std::vector<DomainStep> read_domains(const Field& field) {
  std::vector<DomainStep> domains;
  if (!field.is_list()) {
    field.fail_kind("a list", "such as [{zone: a}, {rack: r3}]");
    return domains;
  }
  if (field.size() > kMaxDomainDepth)
    field.fail(std::to_string(field.size()) + " domains are too deep",
               "give at most " + std::to_string(kMaxDomainDepth));
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field item = field.item(i);
    DomainStep step = read_step(item);
    if (step.name.empty()) item.fail("the domain has no name", "such as {rack: r3}");
    const bool again = !step.level.empty() &&
                       std::any_of(domains.begin(), domains.end(),
                                   [&](const auto& wider) { return wider.level == step.level; });
    if (again)
      item.fail("the path has two domains of level " + quote(step.level),
                "give each level of the path its own name");
    domains.push_back(std::move(step));
  }
  return domains;
}

TopologyWish read_topology(const Field& field, const std::vector<Role>& roles) {
  TopologyWish wish;
  if (!check_map(field, kTopologyKeys)) return wish;
  if (const auto require = field.find("require")) wish.require = read_level(*require);
  if (const auto prefer = field.find("prefer")) wish.prefer = read_level(*prefer);
  if (const auto spread = field.find("spread")) wish.spread = read_level(*spread);
  if (const auto segments = field.find("segments")) {
    wish.segments = read_segments(*segments);
    check_parts(*segments, *wish.segments, roles);
  }
  if (wish.empty())
    field.fail("the topology says nothing", "such as {prefer: rack}, or remove the key");
  check_together(field, wish);
  return wish;
}

}  // namespace gridfold
