#include "policies/registry.h"

#include <array>
#include <functional>

#include "policies/best_fit.h"
#include "policies/dot_product.h"
#include "policies/edf.h"
#include "policies/elasticflow.h"
#include "policies/equal_shares.h"
#include "policies/fgd.h"
#include "policies/fifo.h"
#include "policies/gavel.h"
#include "policies/gpu_clustering.h"
#include "policies/gpu_packing.h"
#include "policies/gridfold.h"
#include "policies/gridfold_rounds.h"
#include "policies/optimus.h"
#include "policies/pollux.h"
#include "policies/random.h"
#include "policies/settings.h"
#include "policies/sia.h"
#include "policies/tiresias.h"

namespace gridfold {
namespace {

using Made = Result<Policies>;

// Reads the policy's own options and makes it from them.
template <class Policy, class ReadOptions>
Made make(ReadOptions read, const PolicyOptions& options) {
  auto own = read(options);
  if (!own) return own.error();
  return Policies(std::make_unique<Policy>(*own));
}

// A policy of rounds; jobs that it does not take are placed by best fit.
template <class Policy, class ReadOptions>
Made make_rounds(ReadOptions read, const PolicyOptions& options) {
  auto own = read(options);
  if (!own) return own.error();
  return Policies(std::make_unique<BestFit>(BestFitOptions{}), std::make_unique<Policy>(*own));
}

Made make_fgd(const PolicyOptions& options) {
  auto own = read_fgd_options(options);
  if (!own) return own.error();
  return Policies(std::make_unique<Fgd>(*own, options.known_mix));
}

Made make_best_fit(const PolicyOptions& options) {
  return make<BestFit>(read_best_fit_options, options);
}

Made make_dot_product(const PolicyOptions& options) {
  return make<DotProduct>(read_dot_product_options, options);
}

Made make_gpu_packing(const PolicyOptions& options) {
  if (auto error = SettingsReader("gpu_packing", options.settings).finish()) return *error;
  return Policies(std::make_unique<GpuPacking>());
}

Made make_gpu_clustering(const PolicyOptions& options) {
  return make<GpuClustering>(read_gpu_clustering_options, options);
}

// Placement has the settings that begin with its name, rounds have the others.
Made make_gridfold(const PolicyOptions& options) {
  PolicyOptions of_rounds = options;
  PolicyOptions of_placement = options;
  const auto is_placement = [](const auto& s) { return s.first.starts_with("gridfold."); };
  std::erase_if(of_rounds.settings, is_placement);
  std::erase_if(of_placement.settings, std::not_fn(is_placement));
  auto placement = read_gridfold_options(of_placement);
  if (!placement) return placement.error();
  auto rounds = read_gridfold_rounds_options(of_rounds);
  if (!rounds) return rounds.error();
  return Policies(std::make_unique<Gridfold>(*placement),
                  std::make_unique<GridfoldRounds>(*rounds));
}

Made make_optimus(const PolicyOptions& options) {
  return make_rounds<Optimus>(read_optimus_options, options);
}

Made make_pollux(const PolicyOptions& options) {
  return make_rounds<Pollux>(read_pollux_options, options);
}

Made make_gavel(const PolicyOptions& options) {
  return make_rounds<Gavel>(read_gavel_options, options);
}

Made make_sia(const PolicyOptions& options) { return make_rounds<Sia>(read_sia_options, options); }

Made make_tiresias(const PolicyOptions& options) {
  return make_rounds<Tiresias>(read_tiresias_options, options);
}

Made make_edf(const PolicyOptions& options) { return make_rounds<Edf>(read_edf_options, options); }

Made make_elasticflow(const PolicyOptions& options) {
  return make_rounds<ElasticFlow>(read_elasticflow_options, options);
}

Made make_equal_shares(const PolicyOptions& options) {
  return make_rounds<EqualShares>(read_equal_shares_options, options);
}

Made make_fifo(const PolicyOptions& options) {
  return make_rounds<Fifo>(read_fifo_options, options);
}

Made make_random(const PolicyOptions& options) {
  return make<RandomFit>(read_random_options, options);
}

struct Entry {
  std::string_view name;
  Made (*make)(const PolicyOptions&);
};

// One line a policy.
constexpr std::array kPolicies = {
    Entry{"best_fit", make_best_fit},
    Entry{"dot_product", make_dot_product},
    Entry{"edf", make_edf},
    Entry{"elasticflow", make_elasticflow},
    Entry{"equal_shares", make_equal_shares},
    Entry{"fgd", make_fgd},
    Entry{"fifo", make_fifo},
    Entry{"gavel", make_gavel},
    Entry{"gpu_clustering", make_gpu_clustering},
    Entry{"gpu_packing", make_gpu_packing},
    Entry{"gridfold", make_gridfold},
    Entry{"optimus", make_optimus},
    Entry{"pollux", make_pollux},
    Entry{"random", make_random},
    Entry{"sia", make_sia},
    Entry{"tiresias", make_tiresias},
};

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) names.push_back(entry.name);
  return names;
}

Made make_policy(std::string_view name, const PolicyOptions& options) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) return entry.make(options);
  }
  const std::vector<std::string_view> names = policy_names();
  Error error = invalid("there is no policy '" + std::string(name) + "'");
  error.field = "policy";
  error.hint = "did you mean '" + std::string(nearest_name(name, names)) + "'? there are:";
  for (const std::string_view known : names) error.hint += " " + std::string(known);
  return error;
}

}  // namespace gridfold
