#include "simulator/verify/shrink.h"

#include <numeric>

namespace gridfold::verify {
namespace {

constexpr int kMostRuns = 300;

class Shrinker {
 public:
  Shrinker(const RunRequest& request, const Failure& failure) : request_(request), best_(failure) {}

  Failure run() {
    if (best_.violation.invariant == "I12") return best_;  // one run does not show it
    std::vector<std::uint32_t> all(draw_world(request_.seed).actions.size());
    std::iota(all.begin(), all.end(), 0u);
    static_cast<void>(fails(all, Calm::kYes));
    std::vector<std::uint32_t> kept = all;
    for (std::size_t chunk = (kept.size() + 1) / 2; chunk > 0 && !kept.empty();) {
      bool any = false;
      for (std::size_t at = 0; at < kept.size();) {
        std::vector<std::uint32_t> fewer(kept.begin(), kept.begin() + static_cast<long>(at));
        const std::size_t end = std::min(kept.size(), at + chunk);
        fewer.insert(fewer.end(), kept.begin() + static_cast<long>(end), kept.end());
        if (fails(fewer, best_.calm)) {
          kept = std::move(fewer);
          any = true;
        } else {
          at += chunk;
        }
        if (runs_ >= kMostRuns) return best_;
      }
      if (chunk == 1 && !any) break;
      chunk = chunk > 1 ? (chunk + 1) / 2 : 1;
    }
    return best_;
  }

 private:
  bool fails(const std::vector<std::uint32_t>& only, Calm calm) {
    ++runs_;
    RunRequest request = request_;
    request.only = only;
    request.calm = calm;
    const RunResult result = run_seed(request);
    if (!result.violation || result.violation->invariant != best_.violation.invariant) return false;
    best_ = Failure{request.seed, *result.violation, result.events, only, calm};
    return true;
  }

  const RunRequest& request_;
  Failure best_;
  int runs_ = 0;
};

}  // namespace

Failure shrink(const RunRequest& request, const Failure& failure) {
  return Shrinker(request, failure).run();
}

}  // namespace gridfold::verify
