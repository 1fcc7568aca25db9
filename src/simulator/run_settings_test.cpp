#include "simulator/run_settings.h"

#include <gtest/gtest.h>

#include "simulator/run_command.h"

namespace gridfold {
namespace {

using Values = std::map<std::string, std::string>;

std::string error_of(const Values& values) {
  const auto settings = parse_run_settings(values);
  return settings ? "accepted" : settings.error().describe();
}

TEST(RunSettings, DefaultsFollowTheMode) {
  const auto times = parse_run_settings({});
  ASSERT_TRUE(times);
  EXPECT_EQ(times->mode, RunMode::kTimes);
  EXPECT_EQ(times->mix, MixSource::kLearned);
  EXPECT_EQ(times->warm_up_thousandths, 0);
  const auto load = parse_run_settings({{"load", "0.95"}});
  ASSERT_TRUE(load);
  EXPECT_EQ(load->mode, RunMode::kLoad);
  EXPECT_EQ(load->warm_up_thousandths, 200);
  const auto full = parse_run_settings({{"mode", "saturation"}, {"arrived", "1.3"}});
  ASSERT_TRUE(full);
  EXPECT_EQ(full->mix, MixSource::kTrace);
  EXPECT_EQ(full->arrived_thousandths, 1300);
}

TEST(RunSettings, AreRead) {
  const auto settings = parse_run_settings({{"load", "1.1"},
                                            {"tie_break", "random"},
                                            {"mix", "trace"},
                                            {"jobs", "100"},
                                            {"longest_duration", "2h"},
                                            {"warm_up", "0.5"},
                                            {"start_latency", "2s"},
                                            {"policy.window", "64"}});
  ASSERT_TRUE(settings) << settings.error().describe();
  EXPECT_DOUBLE_EQ(settings->load, 1.1);
  EXPECT_EQ(settings->tie_break, TieBreak::kRandom);
  EXPECT_EQ(settings->jobs, 100);
  EXPECT_EQ(settings->longest_duration, Duration::hours(2));
  EXPECT_EQ(settings->warm_up_thousandths, 500);
  EXPECT_EQ(settings->latencies.start_latency, Duration::seconds(2));
  EXPECT_EQ(settings->policy, (Values{{"window", "64"}}));
}

TEST(RunSettings, ExperimentsAreRead) {
  const auto churn = parse_run_settings({{"load", "0.8"},
                                         {"holding_mean", "1h"},
                                         {"when_full", "leave"},
                                         {"mix_weights", "shuffled"}});
  ASSERT_TRUE(churn) << churn.error().describe();
  EXPECT_EQ(churn->holding_mean, Duration::hours(1));
  EXPECT_EQ(churn->when_full, WhenFull::kLeave);
  EXPECT_TRUE(churn->shuffled_mix);
  const auto drift = parse_run_settings({{"mode", "saturation"}, {"then", "cpu250"}});
  ASSERT_TRUE(drift) << drift.error().describe();
  EXPECT_EQ(drift->then, "cpu250");
  EXPECT_EQ(error_of({{"load", "1"}, {"when_full", "go"}}),
            "when_full: \"go\" is not a value of this setting (give wait or leave)");
  EXPECT_EQ(error_of({{"load", "1"}, {"holding_mean", "0s"}}),
            "holding_mean: \"0s\" is not a value of this setting (give a duration such as 1h)");
}

TEST(RunSettings, MistakesAreNamed) {
  EXPECT_EQ(error_of({{"arived", "1.3"}}),
            "arived: there is no setting \"arived\" (use mode, load, jobs, longest_duration, "
            "holding_mean, when_full, mix_weights, warm_up, arrived, then, tie_break, mix, "
            "start_latency, clean_latency, world, tables, policy_time, backfill, "
            "backfill_order, reservations, default_run, limits, run_times, rights, largest_gpus, "
            "fillers, fillers_load, fillers_gpus, fillers_interval, fillers_cost, fillers_save, "
            "fillers_restart, fillers_guaranteed, fillers_admission, fillers_victims, consolidate, "
            "moves_an_hour, account, doctor, estimates, policy.KEY "
            "or world.KEY, or "
            "did you mean 'arrived')");
  EXPECT_EQ(error_of({{"mode", "full"}}),
            "mode: \"full\" is not a value of this setting (give times, load or saturation)");
  EXPECT_EQ(error_of({{"arrived", "1.3"}}),
            "arrived: has no meaning in mode times (leave it out, or choose another mode)");
  EXPECT_EQ(error_of({{"mode", "saturation"}, {"load", "0.9"}}),
            "load: has no meaning in mode saturation (leave it out, or choose another mode)");
  EXPECT_EQ(error_of({{"load", "fast"}}),
            "load: \"fast\" is not a value of this setting (give a number such as 0.95)");
  EXPECT_NE(error_of({{"load", "0"}}), "accepted");
  EXPECT_NE(error_of({{"load", "1.00001"}}), "accepted");
  EXPECT_NE(error_of({{"warm_up", "1"}}), "accepted");
  EXPECT_NE(error_of({{"tie_break", "any"}}), "accepted");
}

TEST(Seeds, AreOneOrARange) {
  EXPECT_EQ(parse_seeds("7")->first, 7u);
  EXPECT_EQ(parse_seeds("7")->last, 7u);
  EXPECT_EQ(parse_seeds("1..10")->last, 10u);
  for (const char* text : {"", "x", "1..", "..2", "3..1", "1...3", "-1", "1..20000"}) {
    EXPECT_FALSE(parse_seeds(text)) << text;
  }
}

}  // namespace
}  // namespace gridfold
