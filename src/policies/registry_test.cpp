#include "policies/registry.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

class NoTruth final : public TrainingTruth {
 public:
  Known<double> step_seconds(const JobSpec&, std::span<const std::int32_t>, const std::string&,
                             std::int64_t) const override {
    return {};
  }
  Known<double> remaining_steps(const JobSpec&, double) const override { return {}; }
};

TEST(RegistryTest, MakesEveryPolicyByItsName) {
  for (const std::string_view name : policy_names()) {
    const auto policy = make_policy(name, {.truth = std::make_shared<NoTruth>()});
    ASSERT_TRUE(policy) << name;
    EXPECT_EQ(policy->rounds ? policy->rounds->name() : policy->placement->name(), name);
  }
  EXPECT_EQ(policy_names().size(), 16u);
}

TEST(RegistryTest, UnknownPolicyNamesTheNearest) {
  const auto policy = make_policy("bestfit", {});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(policy.error().hint.find("did you mean 'best_fit'"), std::string::npos);
}

TEST(RegistryTest, AnOracleNeedsAWorldThatTellsTheTruth) {
  const auto policy = make_policy("optimus", {});
  ASSERT_FALSE(policy);
  EXPECT_NE(policy.error().hint.find("world=pollux"), std::string::npos);
}

TEST(RegistryTest, RoundsHaveALength) {
  const auto policy = make_policy("fifo", {.settings = {{"round", "360s"}}});
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->rounds->round(), Duration::seconds(360));
  EXPECT_FALSE(make_policy("fifo", {.settings = {{"round", "0s"}}}));
}

TEST(RegistryTest, UnknownSettingNamesTheNearest) {
  const auto policy = make_policy("fgd", {.settings = {{"fgd.roundin", "exact"}}});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(policy.error().field, "fgd.roundin");
  EXPECT_NE(policy.error().hint.find("did you mean 'fgd.rounding'"), std::string::npos);
}

TEST(RegistryTest, SettingOfAnotherPolicyIsRefused) {
  const auto policy = make_policy("gpu_packing", {.settings = {{"fgd.rounding", "exact"}}});
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().field, "fgd.rounding");
}

TEST(RegistryTest, WrongValuesSayWhatIsAllowed) {
  const auto rounding = make_policy("fgd", {.settings = {{"fgd.rounding", "nearest"}}});
  ASSERT_FALSE(rounding);
  EXPECT_EQ(rounding.error().hint, "give one of: published, exact");
  for (const char* text : {"", "0", "101", "9x", "-5", "99999999999999999999"}) {
    const auto policy = make_policy("fgd", {.settings = {{"fgd.coverage_percent", text}}});
    ASSERT_FALSE(policy) << text;
    EXPECT_EQ(policy.error().hint, "give a number from 1 to 100");
  }
}

TEST(RegistryTest, SettingsReachThePolicy) {
  EXPECT_TRUE(make_policy("best_fit", {.settings = {{"best_fit.rounding", "exact"},
                                                    {"best_fit.largest_cores", "256"}}}));
  EXPECT_TRUE(make_policy("random", {.settings = {{"random.seed", "3"}}}));
}

}  // namespace
}  // namespace gridfold
