#include "simulator/run_settings.h"

#include <limits>

#include "base/decimal.h"
#include "base/quote.h"
#include "simulator/nearest_hint.h"

namespace gridfold {
namespace {

constexpr std::string_view kPolicyPrefix = "policy.";
constexpr std::string_view kWorldPrefix = "world.";

Error bad_value(std::string_view key, std::string_view text, std::string_view allowed) {
  Error error = invalid(quote(text) + " is not a value of this setting");
  error.field = std::string(key);
  error.hint = "give " + std::string(allowed);
  return error;
}

// "1.3" is 1300; at most 1000.
Result<std::int64_t> thousandths(std::string_view text) {
  auto decimal = take_decimal(text);
  if (!decimal) return decimal.error();
  const Scaled scaled = scale(*decimal, 1000);
  if (!text.empty() || scaled.fault != ScaleFault::kNone || scaled.value > 1'000'000) {
    return invalid("not a number of thousandths");
  }
  return scaled.value;
}

enum Modes : unsigned { kInTimes = 1, kInLoad = 2, kInSaturation = 4, kInAll = 7, kInWorlds = 8 };

// `apply` returns false when the value is not allowed.
struct Setting {
  std::string_view key;
  std::string_view values;
  std::string_view meaning;
  unsigned modes;
  bool (*apply)(std::string_view text, RunSettings& settings);
};

bool set_load(std::string_view text, RunSettings& settings) {
  const auto value = thousandths(text);
  if (!value || *value == 0) return false;
  settings.load = static_cast<double>(*value) / 1000;
  return true;
}
bool set_jobs(std::string_view text, RunSettings& settings) {
  const auto value = parse_count(text);
  if (!value || *value == 0) return false;
  settings.jobs = *value;
  return true;
}
bool set_duration(std::string_view text, Duration& place) {
  const auto value = parse_duration(text);
  if (value) place = *value;
  return value.has_value();
}
bool set_longest(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.longest_duration) && settings.longest_duration > Duration{};
}
bool set_holding_mean(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.holding_mean) && settings.holding_mean > Duration{};
}
bool set_when_full(std::string_view text, RunSettings& settings) {
  for (const auto when_full : {WhenFull::kWait, WhenFull::kLeave}) {
    if (text != to_string(when_full)) continue;
    settings.when_full = when_full;
    return true;
  }
  return false;
}
bool set_mix_weights(std::string_view text, RunSettings& settings) {
  settings.shuffled_mix = text == "shuffled";
  return text == "listed" || text == "shuffled";
}
bool set_then(std::string_view text, RunSettings& settings) {
  settings.then = text;
  return !text.empty();
}
bool set_arrived(std::string_view text, RunSettings& settings) {
  const auto value = thousandths(text);
  if (!value || *value == 0) return false;
  settings.arrived_thousandths = *value;
  return true;
}
bool set_warm_up(std::string_view text, RunSettings& settings) {
  const auto value = thousandths(text);
  if (!value || *value >= 1000) return false;
  settings.warm_up_thousandths = *value;
  return true;
}
bool set_tie_break(std::string_view text, RunSettings& settings) {
  for (const auto tie_break : {TieBreak::kLowestName, TieBreak::kRandom, TieBreak::kSeededOrder}) {
    if (text != to_string(tie_break)) continue;
    settings.tie_break = tie_break;
    return true;
  }
  return false;
}
bool set_mix(std::string_view text, RunSettings& settings) {
  if (text == "trace") settings.mix = MixSource::kTrace;
  if (text == "learned") settings.mix = MixSource::kLearned;
  return text == "trace" || text == "learned";
}
bool set_start_latency(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.latencies.start_latency);
}
bool set_clean_latency(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.latencies.clean_latency);
}
bool set_world(std::string_view text, RunSettings& settings) {
  settings.world = text;
  return !text.empty();
}
bool set_tables(std::string_view text, RunSettings& settings) {
  settings.tables = text;
  return !text.empty();
}
bool set_policy_time(std::string_view text, RunSettings& settings) {
  settings.policy_time = text == "free" ? Thinking::kFree : Thinking::kCharged;
  return text == "free" || text == "charged";
}
bool set_backfill(std::string_view text, RunSettings& settings) {
  const auto mode = parse_backfill_mode(text);
  if (mode) settings.backfill.mode = *mode;
  return mode.has_value();
}
bool set_backfill_order(std::string_view text, RunSettings& settings) {
  const auto order = parse_backfill_order(text);
  if (order) settings.backfill.order = *order;
  return order.has_value();
}
bool set_reservations(std::string_view text, RunSettings& settings) {
  const auto value = parse_count(text);
  if (!value || *value == 0) return false;
  settings.backfill.max_reservations = static_cast<std::size_t>(*value);
  return true;
}
bool set_default_run(std::string_view text, RunSettings& settings) {
  Duration run;
  if (!set_duration(text, run) || run == Duration{}) return false;
  settings.backfill.default_run = run;
  return true;
}
bool set_limits(std::string_view text, RunSettings& settings) {
  for (const auto limits : {LimitSource::kNone, LimitSource::kRounded}) {
    if (text != to_string(limits)) continue;
    settings.limits = limits;
    return true;
  }
  return false;
}
bool set_run_times(std::string_view text, RunSettings& settings) {
  for (const auto source :
       {RunTimeSource::kLimits, RunTimeSource::kLearned, RunTimeSource::kTrue}) {
    if (text != to_string(source)) continue;
    settings.run_times = source;
    return true;
  }
  return false;
}
bool set_consolidate(std::string_view text, RunSettings& settings) {
  settings.consolidation.consolidate = text == "on" ? Consolidate::kOn : Consolidate::kOff;
  return text == "on" || text == "off";
}
bool set_moves_an_hour(std::string_view text, RunSettings& settings) {
  const auto value = parse_count(text);
  if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max()) return false;
  settings.consolidation.moves_an_hour = static_cast<std::int32_t>(*value);
  settings.consolidation.moved_per_cent_an_hour = 0;
  return true;
}
bool set_account(std::string_view text, RunSettings& settings) {
  settings.account = text == "on";
  return text == "on" || text == "off";
}
bool set_doctor(std::string_view text, RunSettings& settings) {
  settings.doctor = text == "on";
  return text == "on" || text == "off";
}
bool set_estimates(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.estimates) && settings.estimates > Duration{};
}
bool set_mode(std::string_view text, RunSettings& settings) {
  for (const auto mode : {RunMode::kTimes, RunMode::kLoad, RunMode::kSaturation}) {
    if (text != to_string(mode)) continue;
    settings.mode = mode;
    return true;
  }
  return false;
}

bool set_rights(std::string_view text, RunSettings& settings) {
  settings.rights = text == "all" ? RightsFilter::kAll : RightsFilter::kWithRights;
  return text == "all" || text == "guaranteed";
}
bool set_gpus(std::string_view text, std::int32_t& place) {
  const auto value = parse_count(text);
  if (!value || *value == 0 || *value > 4096) return false;
  place = static_cast<std::int32_t>(*value);
  return true;
}
bool set_largest(std::string_view text, RunSettings& settings) {
  return set_gpus(text, settings.largest_gpus);
}
bool set_fillers(std::string_view text, RunSettings& settings) {
  settings.fillers.workload = text;
  return !text.empty();
}
bool set_fillers_load(std::string_view text, RunSettings& settings) {
  const auto value = thousandths(text);
  if (!value || *value == 0) return false;
  settings.fillers.load = static_cast<double>(*value) / 1000;
  return true;
}
bool set_fillers_gpus(std::string_view text, RunSettings& settings) {
  return set_gpus(text, settings.fillers.gpus);
}
bool set_fillers_interval(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.fillers.interval) && settings.fillers.interval > Duration{};
}
bool set_fillers_cost(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.fillers.cost);
}
bool set_fillers_save(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.fillers.save);
}
bool set_fillers_restart(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.fillers.restart);
}
bool set_fillers_guaranteed(std::string_view text, RunSettings& settings) {
  return set_duration(text, settings.filler_options.guaranteed) &&
         settings.filler_options.guaranteed > Duration{};
}
bool set_fillers_admission(std::string_view text, RunSettings& settings) {
  const auto admission = parse_filler_admission(text);
  if (admission) settings.filler_options.admission = *admission;
  return admission.has_value();
}
bool set_fillers_victims(std::string_view text, RunSettings& settings) {
  const auto victims = parse_victim_order(text);
  if (victims) settings.filler_options.victims = *victims;
  return victims.has_value();
}

constexpr Setting kSettings[] = {
    {"mode", "times, load or saturation",
     "how jobs arrive: at the trace's own times (the default), at a load, or until the GPUs are "
     "full",
     kInAll, set_mode},
    {"load", "a number such as 0.95", "devices offered / devices of the cluster; means mode=load",
     kInLoad, set_load},
    {"jobs", "a whole number from 1 on", "jobs drawn (default: until the run is steady)", kInLoad,
     set_jobs},
    {"longest_duration", "a duration such as 48h", "durations are cut to it (default 48h)", kInLoad,
     set_longest},
    {"holding_mean", "a duration such as 1h",
     "durations are drawn exponentially with this mean (default: the list's own)", kInLoad,
     set_holding_mean},
    {"when_full", "wait or leave",
     "what a job does that cannot start when it arrives (default wait)", kInLoad, set_when_full},
    {"mix_weights", "listed or shuffled",
     "shuffled: each kind of task comes more or less often by a factor drawn from Exp(1)",
     kInLoad | kInSaturation, set_mix_weights},
    {"warm_up", "a share such as 0.2, below 1",
     "first share of the jobs that is not counted (default 0.2 at a load, else 0)",
     kInTimes | kInLoad, set_warm_up},
    {"arrived", "a number such as 1.3",
     "GPUs asked for / GPUs of the cluster at the end (default 1.3)", kInSaturation, set_arrived},
    {"then", "a workload", "the second half of the arrivals comes from this list", kInSaturation,
     set_then},
    {"tie_break", "lowest_name, random or seeded_order",
     "among nodes of the best score (default lowest_name)", kInAll | kInWorlds, set_tie_break},
    {"mix", "trace or learned",
     "whether the policy is told the mix of tasks (default trace in saturation, else learned)",
     kInAll, set_mix},
    {"start_latency", "a duration such as 2s", "from the order to the running task (default 0s)",
     kInTimes | kInLoad | kInWorlds, set_start_latency},
    {"clean_latency", "a duration such as 2s",
     "from a task's end until its room is free (default 0s)", kInTimes | kInLoad | kInWorlds,
     set_clean_latency},
    {"world", "a training world", "its jobs train by measurements and may change their size",
     kInWorlds, set_world},
    {"tables", "a folder", "the world's measurements", kInWorlds, set_tables},
    {"policy_time", "free or charged",
     "whether a round's plan is there at once or after a nanosecond a step (default free)",
     kInWorlds, set_policy_time},
    {"backfill", "none, easy or conservative",
     "whether jobs that wait are promised room: none, the first of them, all (default none)",
     kInTimes | kInLoad, set_backfill},
    {"backfill_order", "arrival or shortest",
     "who fills gaps first among jobs that are promised nothing (default arrival)",
     kInTimes | kInLoad, set_backfill_order},
    {"reservations", "a whole number from 1 on",
     "jobs that are promised room at once (default 1 in easy mode, 1000 in conservative mode)",
     kInTimes | kInLoad, set_reservations},
    {"default_run", "a duration such as 24h",
     "how long jobs without a limit are taken to run, in plans (default for ever)",
     kInTimes | kInLoad, set_default_run},
    {"limits", "none or rounded",
     "time limits of jobs: none, or as users ask for them (default none)", kInTimes | kInLoad,
     set_limits},
    {"run_times", "limits, learned or true",
     "what plans go by: limits (the default), what earlier runs tell, or the truth",
     kInTimes | kInLoad, set_run_times},
    {"rights", "all or guaranteed",
     "guaranteed: without jobs that an openb list calls best effort (default all)", kInLoad,
     set_rights},
    {"largest_gpus", "a whole number from 1 on", "jobs that ask for more are left out", kInLoad,
     set_largest},
    {"fillers", "a workload", "its small jobs come as fillers beside the others", kInLoad,
     set_fillers},
    {"fillers_load", "a number such as 0.2",
     "devices offered by fillers / devices of the cluster (default 0.2)", kInLoad,
     set_fillers_load},
    {"fillers_gpus", "a whole number from 1 on", "jobs of more are no fillers (default 1)", kInLoad,
     set_fillers_gpus},
    {"fillers_interval", "a duration such as 10m",
     "a filler saves whenever it has worked for so long (default 10m)", kInLoad,
     set_fillers_interval},
    {"fillers_cost", "a duration such as 5s", "saving stops a filler for so long (default 5s)",
     kInLoad, set_fillers_cost},
    {"fillers_save", "a duration such as 5s",
     "asked to leave, a filler saves for so long; 0s: it leaves at once (the default)", kInLoad,
     set_fillers_save},
    {"fillers_restart", "a duration such as 30s",
     "from a filler's start, but the first, to where it was (default 30s)", kInLoad,
     set_fillers_restart},
    {"fillers_guaranteed", "a duration such as 1h",
     "how long a filler that is let in is to run undisturbed (default 10m)", kInLoad,
     set_fillers_guaranteed},
    {"fillers_admission", "none, any or forecast",
     "fillers start when there is room, or when as much will be idle for their guaranteed time "
     "(default any)",
     kInLoad, set_fillers_admission},
    {"fillers_victims", "least_lost or youngest",
     "which fillers are stopped for work with rights to its place (default least_lost)", kInLoad,
     set_fillers_victims},
    {"consolidate", "on or off",
     "on: jobs can be moved, so that blocked ones find room in one place (default off)", kInAll,
     set_consolidate},
    {"moves_an_hour", "a whole number from 1 on",
     "jobs moved at most (default: 2 % of those that run)", kInAll, set_moves_an_hour},
    {"account", "on or off",
     "on: where the device-time went, supplied to useful, and each loss with its cause (default "
     "off)",
     kInTimes | kInLoad, set_account},
    {"doctor", "on or off",
     "on: why devices did less than they could, and what would have given it back, by some dozen "
     "replays of the run (default off)",
     kInTimes | kInLoad, set_doctor},
    {"estimates", "a duration such as 1h",
     "the starts of waiting jobs are estimated so often, and the estimates judged (default never)",
     kInTimes | kInLoad, set_estimates},
};

const Setting* find_setting(std::string_view key) {
  for (const auto& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

Error unknown_key(std::string_view key) {
  std::vector<std::string_view> known;
  std::string list;
  for (const auto& setting : kSettings) {
    known.push_back(setting.key);
    list += std::string(setting.key) + ", ";
  }
  Error error = invalid("there is no setting " + quote(key));
  error.field = std::string(key);
  error.hint = "use " + list + "policy.KEY or world.KEY" + nearest_hint(key, known);
  return error;
}

unsigned bit_of(RunMode mode) { return 1u << static_cast<unsigned>(mode); }

Result<RunMode> mode_of(const std::map<std::string, std::string>& values) {
  RunSettings settings;
  const auto given = values.find("mode");
  if (given == values.end()) {
    return values.count("load") > 0 ? RunMode::kLoad : RunMode::kTimes;
  }
  if (!set_mode(given->second, settings)) {
    return bad_value("mode", given->second, find_setting("mode")->values);
  }
  return settings.mode;
}

}  // namespace

std::string_view to_string(RunMode mode) {
  switch (mode) {
    case RunMode::kTimes: return "times";
    case RunMode::kLoad: return "load";
    case RunMode::kSaturation: return "saturation";
  }
  return "";
}

std::string_view to_string(LimitSource limits) {
  return limits == LimitSource::kNone ? "none" : "rounded";
}

std::string_view to_string(RunTimeSource run_times) {
  switch (run_times) {
    case RunTimeSource::kLimits: return "limits";
    case RunTimeSource::kLearned: return "learned";
    case RunTimeSource::kTrue: return "true";
  }
  return "";
}

std::string_view to_string(WhenFull when_full) {
  return when_full == WhenFull::kWait ? "wait" : "leave";
}

std::string_view to_string(TieBreak tie_break) {
  switch (tie_break) {
    case TieBreak::kLowestName: return "lowest_name";
    case TieBreak::kRandom: return "random";
    case TieBreak::kSeededOrder: return "seeded_order";
  }
  return "";
}

Result<RunSettings> parse_run_settings(const std::map<std::string, std::string>& values) {
  const auto mode = mode_of(values);
  if (!mode) return mode.error();
  RunSettings settings;
  settings.mode = *mode;
  const bool in_world = values.count("world") > 0;
  settings.mix = *mode == RunMode::kSaturation ? MixSource::kTrace : MixSource::kLearned;
  settings.warm_up_thousandths = *mode == RunMode::kLoad ? 200 : 0;
  for (const auto& [key, value] : values) {
    if (key.starts_with(kPolicyPrefix)) {
      settings.policy[key.substr(kPolicyPrefix.size())] = value;
      continue;
    }
    if (in_world && key.starts_with(kWorldPrefix)) {
      settings.of_world[key.substr(kWorldPrefix.size())] = value;
      continue;
    }
    const Setting* setting = find_setting(key);
    if (setting == nullptr) return unknown_key(key);
    if ((setting->modes & (in_world ? unsigned{kInWorlds} : bit_of(*mode))) == 0) {
      Error error = invalid(in_world ? "has no meaning in a training world"
                                     : "has no meaning in mode " + std::string(to_string(*mode)));
      error.field = key;
      error.hint = setting->modes == kInWorlds ? "leave it out, or give a world"
                                               : "leave it out, or choose another mode";
      return error;
    }
    if (!setting->apply(value, settings)) return bad_value(key, value, setting->values);
  }
  return settings;
}

std::vector<SettingHelp> run_setting_help() {
  std::vector<SettingHelp> help;
  for (const auto& setting : kSettings)
    help.push_back({setting.key, setting.values, setting.meaning});
  return help;
}

}  // namespace gridfold
