// The contract of all backends, held by this one: with cgroups, and without.
#include "tests/contracts/backend_contract.h"

#include "backends/local/local_harness.h"

namespace gridfold::contract {
namespace {

std::unique_ptr<BackendHarness> with_cgroups() { return std::make_unique<local::LocalHarness>(); }

std::unique_ptr<BackendHarness> without_cgroups() {
  return std::make_unique<local::LocalHarness>(
      [](local::LocalOptions& options) { options.cgroups = local::CgroupUse::kNever; });
}

INSTANTIATE_TEST_SUITE_P(Local, BackendContract,
                         ::testing::Values(BackendMaker{"cgroups", with_cgroups},
                                           BackendMaker{"no_cgroups", without_cgroups}),
                         [](const auto& made) { return std::string(made.param.name); });

}  // namespace
}  // namespace gridfold::contract
