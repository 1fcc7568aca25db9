#include "apps/gridfold/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/nearest.h"
#include "base/quote.h"

namespace gridfold {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kKeys = {"state"sv,
                              "listen"sv,
                              "policy"sv,
                              "node"sv,
                              "devices"sv,
                              "plugins"sv,
                              "queues"sv,
                              "reconcile_interval"sv,
                              "policy_settings"sv,
                              "usage_half_life"sv,
                              "links"sv,
                              "backfill"sv,
                              "default_run"sv,
                              "run_times"sv,
                              "consolidate"sv,
                              "backfill_order"sv,
                              "fillers"sv,
                              "fillers_guaranteed"sv,
                              "maintenance"sv,
                              "schedule"sv,
                              "gang_repair"sv,
                              "work_units"sv,
                              "manage_partitions"sv};
constexpr std::array kWorkUnitKeys = {"source"sv, "rates"sv};
constexpr std::array kScheduleKeys = {"name"sv, "cron"sv, "zone"sv, "tenant"sv, "job"sv};
constexpr std::array kWindowKeys = {"name"sv,  "nodes"sv, "domains"sv, "labels"sv, "from"sv,
                                    "until"sv, "cron"sv,  "zone"sv,    "for"sv};
constexpr std::array kQueueKeys = {
    "name"sv,        "priority"sv, "open"sv,         "cpu"sv,         "memory"sv,     "devices"sv,
    "each_tenant"sv, "weight"sv,   "running_jobs"sv, "longest_run"sv, "guaranteed"sv, "preempts"sv,
};
constexpr std::array kGuaranteeKeys = {"cpu"sv, "memory"sv, "devices"sv};
constexpr std::array kTenantKeys = {"cpu"sv, "memory"sv, "devices"sv, "running_jobs"sv};
constexpr std::array kLinkKeys = {"machine"sv, "network"sv, "card"sv,   "nvlink"sv,
                                  "pcie"sv,    "numa"sv,    "socket"sv, "host_network"sv};
constexpr std::size_t kMaxFileBytes = 1u << 20;

Error at(const toml::source_region& source, std::string field, std::string message,
         std::string hint = {}) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  error.position = {static_cast<int>(source.begin.line), static_cast<int>(source.begin.column)};
  return error;
}

Result<void> check_keys(const toml::table& table, std::span<const std::string_view> known,
                        const std::string& prefix) {
  for (const auto& [key, value] : table) {
    const auto name = key.str();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string hint = "known keys:";
    for (const auto word : known) hint.append(1, ' ').append(word);
    if (const auto meant = nearest(name, known); !meant.empty())
      hint = "did you mean " + std::string(meant) + "?";
    return at(key.source(), prefix + std::string(name), "there is no such key", hint);
  }
  return {};
}

// Reads the value under `key`, if it is there, by a parser of text. A plain
// number is as good as its text.
template <class T, class Parse>
Result<void> read(const toml::table& table, std::string_view key, const std::string& prefix,
                  Parse parse, T& into) {
  const auto* node = table.get(key);
  if (!node) return {};
  std::optional<std::string> text;
  if (const auto string = node->value_exact<std::string>()) text = *string;
  if (const auto number = node->value_exact<std::int64_t>()) text = std::to_string(*number);
  const auto field = prefix + std::string(key);
  if (!text) return at(node->source(), field, "the value is not text");
  auto parsed = parse(*text);
  if (!parsed) return at(node->source(), field, parsed.error().message, parsed.error().hint);
  into = std::move(*parsed);
  return {};
}

Result<std::string> any_text(const std::string& text) { return text; }

Result<void> read_exact(const toml::table& table, std::string_view key, const std::string& prefix,
                        std::int32_t& into) {
  const auto* node = table.get(key);
  if (!node) return {};
  const auto number = node->value_exact<std::int64_t>();
  if (!number || *number < INT32_MIN || *number > INT32_MAX)
    return at(node->source(), prefix + std::string(key), "the value is not a 32-bit number");
  into = static_cast<std::int32_t>(*number);
  return {};
}

Result<void> read_exact(const toml::table& table, std::string_view key, const std::string& prefix,
                        bool& into) {
  const auto* node = table.get(key);
  if (!node) return {};
  const auto flag = node->value_exact<bool>();
  if (!flag)
    return at(node->source(), prefix + std::string(key), "the value is neither true nor false");
  into = *flag;
  return {};
}

Result<void> read_devices(const toml::table& table, const std::string& prefix,
                          DeviceAmounts& devices) {
  const auto* node = table.get("devices");
  if (!node) return {};
  const auto* classes = node->as_table();
  if (!classes)
    return at(node->source(), prefix + "devices", "the value is not a table",
              "write devices = { gpu = \"8\" }");
  for (const auto& [key, value] : *classes) {
    MilliCores thousandths;  // devices are counted like cores: 1.5 is 1500
    const auto done = read(*classes, key.str(), prefix + "devices.", parse_cores, thousandths);
    if (!done) return done;
    devices[std::string(key.str())] = thousandths.value;
  }
  return {};
}

Result<void> read_limit(const toml::table& table, const std::string& prefix, QueueLimit& limit) {
  if (auto done = read(table, "cpu", prefix, parse_cores, limit.cpu); !done) return done;
  if (auto done = read(table, "memory", prefix, parse_bytes, limit.memory); !done) return done;
  if (table.contains("running_jobs")) {
    std::int32_t jobs = 0;
    if (auto done = read_exact(table, "running_jobs", prefix, jobs); !done) return done;
    if (jobs < 0)
      return at(table.get("running_jobs")->source(), prefix + "running_jobs",
                "the number is below zero", "leave the key out for no limit");
    limit.running_jobs = std::int64_t{jobs};
  }
  return read_devices(table, prefix, limit.devices);
}

// The table under `key` of the queue, with these keys; null when it is not there.
Result<const toml::table*> sub_table(const toml::table& table, std::string_view key,
                                     const std::string& prefix,
                                     std::span<const std::string_view> known) {
  const auto* node = table.get(key);
  if (!node) return static_cast<const toml::table*>(nullptr);
  const auto field = prefix + std::string(key);
  const auto* inner = node->as_table();
  if (!inner) return at(node->source(), field, "the value is not a table");
  if (auto checked = check_keys(*inner, known, field + "."); !checked) return checked.error();
  return inner;
}

Result<QueueSpec> read_queue(const toml::table& table, const std::string& prefix) {
  QueueSpec queue;
  queue.name.clear();
  if (auto checked = check_keys(table, kQueueKeys, prefix); !checked) return checked.error();
  if (auto done = read(table, "name", prefix, any_text, queue.name); !done) return done.error();
  if (queue.name.empty()) return at(table.source(), prefix + "name", "the queue has no name");
  if (auto done = read_exact(table, "priority", prefix, queue.priority); !done) return done.error();
  if (auto done = read_exact(table, "open", prefix, queue.open); !done) return done.error();
  if (auto done = read_exact(table, "preempts", prefix, queue.preempts); !done) return done.error();
  if (auto done = read_exact(table, "weight", prefix, queue.weight); !done) return done.error();
  if (table.contains("weight") && queue.weight < 1)
    return at(table.get("weight")->source(), prefix + "weight", "the weight is below 1");
  if (auto done = read(table, "longest_run", prefix, parse_duration, queue.longest_run); !done)
    return done.error();
  if (auto done = read_limit(table, prefix, queue.limit); !done) return done.error();
  auto tenant = sub_table(table, "each_tenant", prefix, kTenantKeys);
  if (!tenant) return tenant.error();
  if (*tenant) {
    if (auto done = read_limit(**tenant, prefix + "each_tenant.", queue.each_tenant); !done)
      return done.error();
  }
  auto right = sub_table(table, "guaranteed", prefix, kGuaranteeKeys);
  if (!right) return right.error();
  if (*right) {
    const auto inner = prefix + "guaranteed.";
    QueueGuarantee& guaranteed = queue.guaranteed;
    if (auto done = read(**right, "cpu", inner, parse_cores, guaranteed.cpu); !done)
      return done.error();
    if (auto done = read(**right, "memory", inner, parse_bytes, guaranteed.memory); !done)
      return done.error();
    if (auto done = read_devices(**right, inner, guaranteed.devices); !done) return done.error();
  }
  return queue;
}

Result<LinkKind> parse_network(const std::string& text) {
  const auto kind = parse_link_kind(text);
  if (kind && is_network(*kind)) return *kind;
  Error error = invalid(quote(text) + " is not a network");
  error.hint = "write roce, infiniband or ethernet";
  return error;
}

Result<Known<BitsPerSecond>> parse_bandwidth(const std::string& text) {
  const auto bandwidth = parse_bits_per_second(text);
  if (!bandwidth) return bandwidth.error();
  return Known<BitsPerSecond>(*bandwidth);
}

Result<void> read_links(const toml::table& root, std::optional<MachineLinksConfig>& links) {
  const auto* node = root.get("links");
  if (!node) return {};
  const auto* table = node->as_table();
  if (!table) return at(node->source(), "links", "the value is not a table", "write [links]");
  if (auto checked = check_keys(*table, kLinkKeys, "links."); !checked) return checked;
  links.emplace();
  LinkFacts& facts = links->facts;
  if (auto done = read(*table, "machine", "links.", any_text, links->machine); !done) return done;
  if (auto done = read(*table, "network", "links.", parse_network, facts.network); !done)
    return done;
  if (auto done = read(
          *table, "card", "links.",
          [](const std::string& text) { return parse_bits_per_second(text); }, facts.card);
      !done)
    return done;
  for (const auto& [key, into] :
       {std::pair{"nvlink"sv, &facts.nvlink}, std::pair{"pcie"sv, &facts.pcie},
        std::pair{"numa"sv, &facts.numa}, std::pair{"socket"sv, &facts.socket},
        std::pair{"host_network"sv, &facts.host_network}})
    if (auto done = read(*table, key, "links.", parse_bandwidth, *into); !done) return done;
  for (const auto key : {"machine"sv, "network"sv, "card"sv, "pcie"sv})
    if (!table->contains(key))
      return at(table->source(), "links." + std::string(key), "the key is missing",
                "the links of a machine need machine, network, card and pcie");
  return {};
}

Result<void> read_policy_settings(const toml::table& root,
                                  std::map<std::string, std::string>& settings) {
  const auto* node = root.get("policy_settings");
  if (!node) return {};
  const auto* table = node->as_table();
  if (!table)
    return at(node->source(), "policy_settings", "the value is not a table",
              "write policy_settings = { round = \"10s\" }");
  for (const auto& [key, value] : *table) {
    const auto done =
        read(*table, key.str(), "policy_settings.", any_text, settings[std::string(key.str())]);
    if (!done) return done;
  }
  return {};
}

// What devices of a model are worth beside others, where queues take turns.
Result<void> read_work_units(const toml::table& root, WorkUnits& units) {
  const auto* node = root.get("work_units");
  if (!node) return {};
  const auto* table = node->as_table();
  if (!table)
    return at(node->source(), "work_units", "the value is not a table",
              "write [work_units] with source and rates");
  if (auto done = check_keys(*table, kWorkUnitKeys, "work_units."); !done) return done;
  if (auto done = read(*table, "source", "work_units.", any_text, units.source); !done) return done;
  if (units.source.empty())
    return at(node->source(), "work_units.source", "it is not said where the rates are from",
              "say what was measured, in words");
  const auto* given = table->get("rates");
  const auto* rates = given ? given->as_table() : nullptr;
  if (!rates || rates->empty())
    return at(given ? given->source() : node->source(), "work_units.rates", "there is no rate",
              "write rates = { \"A100-SXM4-80GB\" = \"3.1\" }");
  for (const auto& [key, value] : *rates) {
    MilliCores thousandths;  // written like cores: 3.1 is 3100
    const auto done = read(*rates, key.str(), "work_units.rates.", parse_cores, thousandths);
    if (!done) return done;
    if (thousandths.value <= 0)
      return at(value.source(), "work_units.rates." + std::string(key.str()),
                "a device that gets nothing done has no worth", "give a rate above 0");
    units.by_model[std::string(key.str())] = thousandths.value;
  }
  return {};
}

Result<void> read_queues(const toml::table& root, std::vector<QueueSpec>& queues) {
  const auto* node = root.get("queues");
  if (!node) return {};
  const auto* list = node->as_array();
  if (!list) return at(node->source(), "queues", "the value is not a list", "write [[queues]]");
  queues.clear();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto prefix = "queues[" + std::to_string(i) + "].";
    const auto* table = list->get(i)->as_table();
    if (!table) return at(list->get(i)->source(), prefix, "the queue is not a table");
    auto queue = read_queue(*table, prefix);
    if (!queue) return queue.error();
    for (const auto& other : queues)
      if (other.name == queue->name)
        return at(table->source(), prefix + "name",
                  "the queue " + quote(queue->name) + " is given twice");
    queues.push_back(std::move(*queue));
  }
  if (queues.empty()) return at(node->source(), "queues", "there is no queue");
  if (const auto broken = broken_guarantee(queues))
    return at(list->get(broken->queue)->source(),
              "queues[" + std::to_string(broken->queue) + "].guaranteed", broken->message,
              "lower the guarantee or raise the limit");
  return {};
}

// A list of texts; empty where there is none.
Result<std::vector<std::string>> read_texts(const toml::table& table, std::string_view key,
                                            const std::string& prefix) {
  std::vector<std::string> texts;
  const auto* node = table.get(key);
  if (!node) return texts;
  const auto* list = node->as_array();
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    if (const auto text = list->get(i)->value_exact<std::string>()) texts.push_back(*text);
  }
  if (!list || texts.size() != list->size())
    return at(node->source(), prefix + std::string(key), "the value is not a list of texts",
              "write " + std::string(key) + " = [\"…\"]");
  return texts;
}

Result<NodeSelector> read_selector(const toml::table& table, const std::string& prefix) {
  NodeSelector where;
  auto nodes = read_texts(table, "nodes", prefix);
  if (!nodes) return nodes.error();
  where.nodes = std::move(*nodes);
  const auto domains = read_texts(table, "domains", prefix);
  if (!domains) return domains.error();
  for (const std::string& domain : *domains) {
    const auto colon = domain.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == domain.size())
      return at(table.get("domains")->source(), prefix + "domains",
                quote(domain) + " is not a level and a name", "write \"rack:r1\"");
    where.domains.emplace_back(domain.substr(0, colon), domain.substr(colon + 1));
  }
  const auto* labels = table.get("labels");
  if (!labels) return where;
  if (!labels->is_table())
    return at(labels->source(), prefix + "labels", "the value is not a table",
              "write labels = { disk = \"old\" }");
  for (const auto& [key, value] : *labels->as_table()) {
    const auto done = read(*labels->as_table(), key.str(), prefix + "labels.", any_text,
                           where.labels[std::string(key.str())]);
    if (!done) return done.error();
  }
  return where;
}

// By `cron` and `zone`, which are there.
Result<LocalRule> read_rule(const toml::table& table, const std::string& prefix) {
  std::string cron;
  std::string zone;
  if (auto done = read(table, "cron", prefix, any_text, cron); !done) return done.error();
  if (auto done = read(table, "zone", prefix, any_text, zone); !done) return done.error();
  auto rule = LocalRule::parse(cron, zone);
  if (rule) return rule;
  return at(table.get(rule.error().field == "zone" ? "zone" : "cron")->source(),
            prefix + rule.error().field, rule.error().message, rule.error().hint);
}

// Once, by `from` and `until`, or by a rule, with `cron`, `zone` and `for`.
Result<WindowRule> read_window(const toml::table& table, const std::string& prefix) {
  if (auto known = check_keys(table, kWindowKeys, prefix); !known) return known.error();
  WindowRule window;
  if (auto done = read(table, "name", prefix, any_text, window.name); !done) return done.error();
  if (window.name.empty())
    return at(table.source(), prefix + "name", "the window has no name", "write name = \"…\"");
  auto where = read_selector(table, prefix);
  if (!where) return where.error();
  window.where = std::move(*where);
  const bool by_rule = table.contains("cron");
  for (const std::string_view key : {"from", "until", "cron", "zone", "for"}) {
    const bool of_rule = key == "cron" || key == "zone" || key == "for";
    if (of_rule == by_rule && !table.contains(key))
      return at(table.source(), prefix + std::string(key), "the key is missing",
                "give from and until, or cron, zone and for");
    if (of_rule != by_rule && table.contains(key))
      return at(table.get(key)->source(), prefix + std::string(key),
                by_rule ? "a window by a rule has no such key" : "the key needs a cron rule",
                "give from and until, or cron, zone and for");
  }
  if (auto done = read(table, "from", prefix, parse_rfc3339, window.from); !done)
    return done.error();
  if (auto done = read(table, "until", prefix, parse_rfc3339, window.until); !done)
    return done.error();
  if (auto done = read(table, "for", prefix, parse_duration, window.length); !done)
    return done.error();
  if (by_rule) {
    auto rule = read_rule(table, prefix);
    if (!rule) return rule.error();
    window.rule = std::move(*rule);
  }
  if (const auto fine = WindowCalendar::check(window); !fine)
    return at(table.source(), prefix + fine.error().field, fine.error().message, fine.error().hint);
  return window;
}

Result<void> read_maintenance(const toml::table& root, std::vector<WindowRule>& windows) {
  const auto* node = root.get("maintenance");
  if (!node) return {};
  const auto* list = node->as_array();
  if (!list)
    return at(node->source(), "maintenance", "the value is not a list", "write [[maintenance]]");
  windows.clear();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto prefix = "maintenance[" + std::to_string(i) + "].";
    const auto* table = list->get(i)->as_table();
    if (!table) return at(list->get(i)->source(), prefix, "the window is not a table");
    auto window = read_window(*table, prefix);
    if (!window) return window.error();
    windows.push_back(std::move(*window));
  }
  return {};
}

Result<ScheduleConfig> read_scheduled(const toml::table& table, const std::string& prefix) {
  if (auto known = check_keys(table, kScheduleKeys, prefix); !known) return known.error();
  for (const std::string_view key : {"name", "cron", "zone", "job"}) {
    if (!table.contains(key))
      return at(table.source(), prefix + std::string(key), "the key is missing",
                "give name, cron, zone and job, the path of a job file");
  }
  ScheduleConfig schedule;
  auto rule = read_rule(table, prefix);
  if (!rule) return rule.error();
  schedule.rule = std::move(*rule);
  for (const auto& [key, into] :
       {std::pair{"name"sv, &schedule.name}, std::pair{"tenant"sv, &schedule.tenant},
        std::pair{"job"sv, &schedule.job}})
    if (auto done = read(table, key, prefix, any_text, *into); !done) return done.error();
  return schedule;
}

Result<void> read_schedule(const toml::table& root, std::vector<ScheduleConfig>& schedule) {
  const auto* node = root.get("schedule");
  if (!node) return {};
  const auto* list = node->as_array();
  if (!list) return at(node->source(), "schedule", "the value is not a list", "write [[schedule]]");
  schedule.clear();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto prefix = "schedule[" + std::to_string(i) + "].";
    const auto* table = list->get(i)->as_table();
    if (!table) return at(list->get(i)->source(), prefix, "the entry is not a table");
    auto scheduled = read_scheduled(*table, prefix);
    if (!scheduled) return scheduled.error();
    for (const auto& other : schedule)
      if (other.name == scheduled->name)
        return at(table->source(), prefix + "name",
                  "the name " + quote(scheduled->name) + " is given twice");
    schedule.push_back(std::move(*scheduled));
  }
  return {};
}

Result<BackfillMode> read_mode(const std::string& text) {
  if (const auto mode = parse_backfill_mode(text)) return *mode;
  Error error = invalid(quote(text) + " is no way to backfill");
  error.hint = "give none, easy or conservative";
  return error;
}

Result<BackfillOrder> read_order(const std::string& text) {
  if (const auto order = parse_backfill_order(text)) return *order;
  Error error = invalid(quote(text) + " is no order to backfill in");
  error.hint = "give arrival or shortest";
  return error;
}

Result<bool> read_run_times(const std::string& text) {
  if (text == "learned" || text == "limits") return text == "learned";
  Error error = invalid(quote(text) + " is not known");
  error.hint = "give limits or learned";
  return error;
}

Result<FillerAdmission> read_admission(const std::string& text) {
  if (const auto admission = parse_filler_admission(text)) return *admission;
  Error error = invalid(quote(text) + " is no way to let fillers in");
  error.hint = "give none, any or forecast";
  return error;
}

Result<void> read_fillers(const toml::table& root, DaemonConfig& config) {
  if (auto done = read(root, "fillers", "", read_admission, config.fillers.admission); !done)
    return done;
  Duration guaranteed = config.fillers.guaranteed;
  if (auto done = read(root, "fillers_guaranteed", "", parse_duration, guaranteed); !done)
    return done;
  if (guaranteed <= Duration{}) {
    Error error = invalid("0s is no time for a filler to run");
    error.field = "fillers_guaranteed";
    error.hint = "give a duration above 0s, such as 1h";
    return error;
  }
  config.fillers.guaranteed = guaranteed;
  return {};
}

Result<void> read_backfill(const toml::table& root, DaemonConfig& config) {
  if (auto done = read(root, "backfill", "", read_mode, config.backfill.mode); !done) return done;
  if (auto done = read(root, "backfill_order", "", read_order, config.backfill.order); !done)
    return done;
  if (auto done = read(root, "run_times", "", read_run_times, config.learned_run_times); !done)
    return done;
  Duration run;
  if (auto done = read(root, "default_run", "", parse_duration, run); !done) return done;
  if (run > Duration{}) config.backfill.default_run = run;
  return {};
}

}  // namespace

Result<void> read_config_text(std::string_view text, DaemonConfig& config) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& trouble) {
    return at(trouble.source(), "", std::string(trouble.description()));
  }
  if (auto done = check_keys(root, kKeys, ""); !done) return done;
  for (const auto& [key, into] :
       {std::pair{"state"sv, &config.state}, std::pair{"listen"sv, &config.listen},
        std::pair{"policy"sv, &config.policy}, std::pair{"node"sv, &config.node_name},
        std::pair{"devices"sv, &config.devices}, std::pair{"plugins"sv, &config.plugins}})
    if (auto done = read(root, key, "", any_text, *into); !done) return done;
  if (auto done = read_exact(root, "consolidate", "", config.consolidate); !done) return done;
  if (auto done = read_exact(root, "manage_partitions", "", config.manage_partitions); !done)
    return done;
  if (auto done = read(root, "reconcile_interval", "", parse_duration, config.reconcile_interval);
      !done)
    return done;
  if (auto done = read_links(root, config.links); !done) return done;
  if (auto done = read_policy_settings(root, config.policy_settings); !done) return done;
  if (auto done = read(root, "usage_half_life", "", parse_duration, config.queues.usage_half_life);
      !done)
    return done;
  if (auto done = read_work_units(root, config.queues.work_units); !done) return done;
  if (auto done = read_backfill(root, config); !done) return done;
  if (auto done = read_fillers(root, config); !done) return done;
  if (auto done = read_maintenance(root, config.maintenance); !done) return done;
  if (auto done = read_schedule(root, config.schedule); !done) return done;
  if (auto done = read(root, "gang_repair", "", parse_duration, config.gang_repair); !done)
    return done;
  return read_queues(root, config.queues.queues);
}

Result<std::string> config_file_text(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file) return from_errno(errno, "open " + path);
  std::string text;
  char buffer[16384];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) {
    text.append(buffer, got);
    if (text.size() > kMaxFileBytes) break;
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return internal("read " + path + " failed");
  if (text.size() > kMaxFileBytes) return Error{ErrorKind::kLimit, path + " is larger than 1 MiB"};
  return text;
}

Result<void> read_config_file(const std::string& path, DaemonConfig& config) {
  const auto text = config_file_text(path);
  if (!text) return text.error();
  auto done = read_config_text(*text, config);
  if (!done) return done.error().with_context(path);
  return {};
}

}  // namespace gridfold
