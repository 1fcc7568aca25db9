// The settings of a run, as given by `--set key=value`. One table declares
// them; parsing, help and errors come from it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "simulator/fillers.h"
#include "simulator/simulated_cluster.h"
#include "simulator/virtual_executor.h"

namespace gridfold {

enum class RunMode : std::uint8_t {
  kTimes,       // the trace's own times
  kLoad,        // Poisson arrivals at a load
  kSaturation,  // until the cluster is full
};
std::string_view to_string(RunMode mode);
std::string_view to_string(TieBreak tie_break);

// What becomes of a job that cannot start when it arrives.
enum class WhenFull : std::uint8_t { kWait, kLeave };
std::string_view to_string(WhenFull when_full);

// What a policy knows of the tasks that will come.
enum class MixSource : std::uint8_t { kTrace, kLearned };

// What jobs say about how long they may run: nothing, or what users would ask
// for (user_limits.h).
enum class LimitSource : std::uint8_t { kNone, kRounded };
// What planning goes by.
enum class RunTimeSource : std::uint8_t { kLimits, kLearned, kTrue };
std::string_view to_string(LimitSource limits);
std::string_view to_string(RunTimeSource run_times);

// Of a list that tells jobs without rights to their place: all, or the others.
enum class RightsFilter : std::uint8_t { kAll, kWithRights };

struct RunSettings {
  RunMode mode = RunMode::kTimes;
  double load = 0.95;
  std::int64_t jobs = 0;  // 0: as many as are needed
  Duration longest_duration = Duration::hours(48);
  Duration holding_mean{};  // above 0: durations are drawn with this mean
  WhenFull when_full = WhenFull::kWait;
  bool shuffled_mix = false;  // see workload_variant.h
  std::int64_t arrived_thousandths = 1300;
  std::string then;  // the workload of the second half; empty: none
  std::int64_t warm_up_thousandths = 0;
  TieBreak tie_break = TieBreak::kLowestName;
  MixSource mix = MixSource::kLearned;
  SimulatedClusterOptions latencies;
  std::string world;  // a training world (see training_worlds.h); empty: a plain trace
  std::string tables;
  Thinking policy_time = Thinking::kFree;       // of a training world's policy
  std::map<std::string, std::string> of_world;  // keys that begin with "world."
  BackfillOptions backfill;
  LimitSource limits = LimitSource::kNone;
  RunTimeSource run_times = RunTimeSource::kLimits;
  RightsFilter rights = RightsFilter::kAll;
  std::int32_t largest_gpus = 0;  // jobs of more are left out; 0: none is
  FillerSettings fillers;
  FillerOptions filler_options;
  // With consolidation every job can save its work, and so be moved.
  ConsolidationOptions consolidation;
  bool account = false;  // of where the device-time went
  bool doctor = false;   // why it was not more
  // From one table of estimated starts to the next; 0: none are made.
  Duration estimates{};
  // Settings of the policy: keys that begin with "policy.", without that.
  std::map<std::string, std::string> policy;
};

// Values by key. What is not given has the default of the mode: in saturation
// mix=trace, at a load warm_up=0.2. Errors kInvalid: an unknown key names the
// nearest, a bad value says what is allowed, and so does a key that has no
// meaning in the mode.
Result<RunSettings> parse_run_settings(const std::map<std::string, std::string>& values);

struct SettingHelp {
  std::string_view key;
  std::string_view values;
  std::string_view meaning;
};
std::vector<SettingHelp> run_setting_help();

}  // namespace gridfold
