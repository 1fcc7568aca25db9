#include "wire/role_reader.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "base/quote.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"
#include "wire/request_reader.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxRoles = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_role_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && (is_letter(text[0]) || is_digit(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

bool is_variable_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
}

// 8, or {min: 4, max: 8}, or more of an elastic count.
void read_count(const Field& field, Role& role) {
  const auto read = [](const Field& number) {
    return static_cast<std::int32_t>(read_integer(number, 1, kMaxTasksPerJob));
  };
  if (!field.is_map()) {
    role.count = read(field);
    role.min = role.count;
    return;
  }
  if (!check_map(field, kCountKeys)) return;
  const auto min = field.find("min");
  const auto max = field.find("max");
  if (!min || !max) {
    field.fail("an elastic count needs min and max", "write {min: 4, max: 8}");
    return;
  }
  role.min = read(*min);
  role.count = read(*max);
  if (role.min > role.count)
    field.fail(
        "min " + std::to_string(role.min) + " is more than max " + std::to_string(role.count),
        "swap or correct them");
  if (const auto multiple = field.find("multiple_of")) role.multiple_of = read(*multiple);
  for (const std::int32_t bound : {role.min, role.count}) {
    if (bound % role.multiple_of != 0)
      field.fail(std::to_string(bound) + " is no multiple of " + std::to_string(role.multiple_of),
                 "make min and max multiples of multiple_of");
  }
  const auto preferred = field.find("preferred");
  if (!preferred) return;
  role.preferred = read(*preferred);
  if (role.preferred < role.min || role.preferred > role.count ||
      role.preferred % role.multiple_of != 0)
    preferred->fail(std::to_string(role.preferred) + " is no number of tasks that it may have",
                    "give a multiple of multiple_of from min to max");
}

// Text runs in a shell; a list is the program and its arguments.
std::vector<std::string> read_command(const Field& field) {
  if (!field.is_list()) {
    std::string text = read_text(field);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      field.fail("the command is empty", "write the program to run");
    return {"/bin/sh", "-c", std::move(text)};
  }
  std::vector<std::string> command = read_list_or_one(field, read_scalar);
  if (!command.empty() && command[0].empty())
    field.item(0).fail("the program is empty", "write the program to run");
  return command;
}

// The keys that a role and the short form of a job share.
Role read_work(const Field& field, JobForm form) {
  Role role;
  if (const auto count = field.find("count")) read_count(*count, role);
  if (const auto each = field.find("each")) {
    role.each = read_request(*each, form);
  } else {
    role.each = {kDefaultCpu, kDefaultMemory, {}};
  }
  const auto run = field.find("run");
  if (!run) {
    field.fail("run is missing", "add the command, such as run: python3 train.py");
    return role;
  }
  role.command = read_command(*run);
  return role;
}

Role read_role(const Field& field, JobForm form) {
  if (!check_map(field, kRoleKeys, kLaterJobKeys, hint_for_need)) return {};
  Role role = read_work(field, form);
  const auto name = field.find("name");
  if (!name) {
    field.fail("the role's name is missing", "add name, such as worker");
    return role;
  }
  role.name = read_text(*name);
  if (!is_role_name(role.name))
    name->fail(quote(role.name) + " is not a name of a role",
               "use letters, digits, - and _, at most 63, and begin with a letter or digit");
  if (const auto env = field.find("env")) role.env = read_env(*env);
  if (const auto after = field.find("start_after"))
    role.start_after = read_list_or_one(*after, read_text);
  return role;
}

// Each role that is named is there, and none waits for itself in the end.
void check_start_order(const Field& list, const std::vector<Role>& roles) {
  std::vector<std::string_view> names;
  for (const Role& role : roles) names.push_back(role.name);
  std::set<std::string_view> started;
  bool known = true;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    for (const std::string& name : roles[i].start_after) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const std::string_view meant = nearest(name, names);
      list.item(i)
          .find("start_after")
          ->fail(quote(name) + " is no role of this job",
                 meant.empty() ? "name a role that stands under roles"
                               : "did you mean " + std::string(meant) + "?");
      known = false;
    }
  }
  if (!known) return;
  // Whoever waits only for roles that start, starts, until nobody is added.
  const auto can_start = [&](const Role& role) {
    return std::all_of(role.start_after.begin(), role.start_after.end(),
                       [&](const std::string& name) { return started.count(name) != 0; });
  };
  for (std::size_t before = SIZE_MAX; before != started.size();) {
    before = started.size();
    for (const Role& role : roles) {
      if (can_start(role)) started.insert(role.name);
    }
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (started.count(roles[i].name) != 0) continue;
    list.item(i)
        .find("start_after")
        ->fail("the role " + quote(roles[i].name) +
                   " would never start: the roles wait for each other",
               "take one of them out of start_after");
    return;
  }
}

std::vector<Role> read_role_list(const Field& list, JobForm form) {
  if (!list.is_list()) {
    list.fail_kind("a list", "such as [{name: worker, run: ./train}]");
    return {};
  }
  if (list.size() == 0 || list.size() > kMaxRoles) {
    list.fail(std::to_string(list.size()) + " roles are out of range",
              "give 1 to " + std::to_string(kMaxRoles));
    return {};
  }
  std::vector<Role> roles;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field field = list.item(i);
    roles.push_back(read_role(field, form));
    if (!names.insert(roles.back().name).second)
      field.fail("two roles are named " + quote(roles.back().name), "give them different names");
  }
  if (names.size() == roles.size()) check_start_order(list, roles);
  return roles;
}

// Case F16: the sums over all tasks must be numbers, too.
void check_totals(const Field& field, const std::vector<Role>& roles) {
  std::int64_t tasks = 0;
  std::optional<MilliCores> cpu(0);
  std::optional<Bytes> memory(0);
  for (const auto& role : roles) {
    tasks += role.count;
    const auto role_cpu = checked_multiply(role.each.cpu, role.count);
    const auto role_memory = checked_multiply(role.each.memory, role.count);
    cpu = cpu && role_cpu ? checked_add(*cpu, *role_cpu) : std::nullopt;
    memory = memory && role_memory ? checked_add(*memory, *role_memory) : std::nullopt;
  }
  if (tasks > kMaxTasksPerJob)
    field.fail("the job has " + std::to_string(tasks) + " tasks",
               "a job may have " + std::to_string(kMaxTasksPerJob));
  if (!cpu || !memory)
    field.fail(std::string("the ") + (cpu ? "memory" : "cpu") +
                   " of all tasks together is more "
                   "than can be counted",
               "ask for less, or for fewer tasks");
}

}  // namespace

std::string hint_for_need(std::string_view key) {
  if (key == "topology") return "topology holds for the whole job; write it beside roles";
  if (std::find(kEachKeys.begin(), kEachKeys.end(), key) == kEachKeys.end()) return {};
  return "what a task needs stands under each: {" + std::string(key) + ": …}";
}

std::map<std::string, std::string> read_env(const Field& env) {
  std::map<std::string, std::string> variables;
  if (!env.is_map()) {
    env.fail_kind("a map", "such as {NAME: value}");
    return variables;
  }
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string& name = env.node().entries[i].key;
    const Field value = env.item(i);
    if (!is_variable_name(name))
      value.fail(quote(name) + " is not a name of a variable",
                 "use letters, digits and _, and do not begin with a digit");
    variables[name] = read_scalar(value);
  }
  return variables;
}

std::vector<Role> read_roles(const Field& job, JobForm form) {
  const auto list = job.find("roles");
  std::vector<Role> roles;
  if (!list) {
    roles.push_back(read_work(job, form));
  } else {
    for (const auto* key : {"run", "count", "each"})
      if (const auto beside = job.find(key))
        beside->fail(std::string(key) + " stands beside roles", "move it into a role");
    roles = read_role_list(*list, form);
  }
  check_totals(list ? *list : job, roles);
  return roles;
}

}  // namespace gridfold
