#include "policies/fgd.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "engine/device_fit.h"

namespace gridfold {
namespace {

constexpr std::int64_t kLongestPlanGap = 2048;

// ln(s / (100 - s)) for s = 51 … 99, in 10^-9: where the sigmoid reaches s %.
constexpr std::array<std::int64_t, 49> kLogit = {
    40005335,   80042708,   120144312,  160342650,  200670695,  241162057,  281851152,
    322773392,  363965377,  405465108,  447312218,  489548225,  532216814,  575364145,
    619039208,  663294217,  708185058,  753771802,  800119300,  847297860,  895384047,
    944461609,  994622575,  1045968555, 1098612289, 1152679510, 1208311206, 1265666373,
    1324925415, 1386294361, 1450010176, 1516347489, 1585627264, 1658228077, 1734601055,
    1815289967, 1900958761, 1992430165, 2090741097, 2197224577, 2313634929, 2442347035,
    2586689344, 2751535313, 2944438979, 3178053830, 3476098690, 3891820298, 4595119850,
};

constexpr std::int64_t logit(std::size_t percent) {
  if (percent == 50) return 0;
  return percent > 50 ? kLogit[percent - 51] : -kLogit[49 - percent];
}

// A node's devices as the tables see them, and what becomes of them.
class Board {
 public:
  Board(const Fragmentation& tables, const NodeRoom& node) : tables_(tables) {
    for (const DeviceRoom& device : node.devices) {
      shares_[count_] = usable_share(device);
      slots_[count_] = slot_of(tables.pool(device.device_class, device.model));
      if (shares_[count_] == 1000) ++whole_[slots_[count_]];
      ++count_;
    }
  }

  // U of the node with CPU for this step.
  std::int64_t usable(std::size_t step) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i)
      sum += tables_.single(pools_[slots_[i]], step, shares_[i]);
    for (std::size_t s = 0; s < slot_count_; ++s) sum += tables_.gang(pools_[s], step, whole_[s]);
    return sum;
  }

  // What usable(step) changes by when so much of the device is taken.
  std::int64_t change(std::size_t step, std::size_t device, std::int32_t share) const {
    const std::uint32_t slot = slots_[device];
    const std::uint32_t pool = pools_[slot];
    const std::int32_t now = shares_[device];
    std::int64_t sum =
        tables_.single(pool, step, std::max(now - share, 0)) - tables_.single(pool, step, now);
    if (now == 1000 && share > 0) {
      sum += tables_.gang(pool, step, whole_[slot] - 1) - tables_.gang(pool, step, whole_[slot]);
    }
    return sum;
  }

  void take(std::size_t device, std::int32_t share) {
    if (shares_[device] == 1000 && share > 0) --whole_[slots_[device]];
    shares_[device] = std::max(shares_[device] - share, 0);
  }

 private:
  // A device held for its memory only is whole to nobody.
  static std::int32_t usable_share(const DeviceRoom& device) {
    if (!device.usable || device.table != 0) return 0;
    return device.holders > 0 ? std::min(device.free_share, 999) : device.free_share;
  }

  std::uint32_t slot_of(std::uint32_t pool) {
    for (std::uint32_t s = 0; s < slot_count_; ++s) {
      if (pools_[s] == pool) return s;
    }
    pools_[slot_count_] = pool;
    whole_[slot_count_] = 0;
    return slot_count_++;
  }

  const Fragmentation& tables_;
  std::size_t count_ = 0;
  std::uint32_t slot_count_ = 0;
  std::array<std::int32_t, kMaxDevicesPerNode> shares_;
  std::array<std::uint32_t, kMaxDevicesPerNode> slots_;
  std::array<std::uint32_t, kMaxDevicesPerNode> pools_;  // by slot
  std::array<std::int32_t, kMaxDevicesPerNode> whole_;   // by slot: wholly free devices
};

}  // namespace

Result<FgdOptions> read_fgd_options(const PolicyOptions& options) {
  SettingsReader settings("fgd", options.settings);
  FgdOptions own;
  own.rounding = read_rounding(settings, "fgd.rounding");
  own.coverage_percent = settings.number("fgd.coverage_percent", own.coverage_percent, 1, 100);
  own.max_kinds = settings.number("fgd.max_kinds", own.max_kinds, 1, 4096);
  if (auto error = settings.finish()) return *error;
  return own;
}

void Fgd::prepare(Cluster& cluster) {
  for (const MixEntry& entry : known_mix_) mix_.add(cluster.compile(entry.request), entry.count);
  plan();
}

bool Fgd::observe(const Request& request) {
  if (!known_mix_.empty()) return false;
  mix_.add(request, 1);
  if (++arrivals_ < next_plan_) return false;
  next_plan_ += std::min(next_plan_, kLongestPlanGap);
  plan();
  return true;
}

void Fgd::plan() {
  fragmentation_ = Fragmentation(
      mix_.typical(options_.coverage_percent, static_cast<std::size_t>(options_.max_kinds)));
  // gain / (1000 * weight) >= logit, with the logit in 10^-9.
  for (std::size_t s = 1; s < 100; ++s) {
    const __int128 exact = static_cast<__int128>(logit(s)) * fragmentation_.weight();
    const __int128 million = 1000000;
    const __int128 up = exact >= 0 ? (exact + million - 1) / million : -(-exact / million);
    thresholds_[s - 1] = static_cast<std::int64_t>(up);
  }
}

// The published program passes the gain, in devices, through a sigmoid and
// keeps whole percents: the number of thresholds that the gain reaches.
std::int64_t Fgd::rounded(std::int64_t gain) const {
  if (options_.rounding == Rounding::kExact) return gain;
  return std::upper_bound(thresholds_.begin(), thresholds_.end(), gain) - thresholds_.begin();
}

// The score is F(before) - F(after) = W * taken - (U(before) - U(after)).
Choice Fgd::choose(const NodeRoom& node, const Request& request) const {
  Board board(fragmentation_, node);
  const std::size_t step_before = fragmentation_.cpu_step(node.cpu);
  const std::size_t step_after = fragmentation_.cpu_step(node.cpu - request.cpu);
  std::int64_t gain = board.usable(step_after) - board.usable(step_before);
  std::uint64_t chosen = 0;
  for (const DeviceNeed& need : request.devices) {
    if (is_choice_ruled(node, need)) {
      const std::uint64_t ruled = choose_devices(node, need, chosen);
      for (std::uint64_t left = ruled; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        gain += fragmentation_.weight() * need.share + board.change(step_after, i, need.share);
        board.take(i, need.share);
      }
      chosen |= ruled;
      continue;
    }
    for (std::int32_t unit = 0; unit < need.count; ++unit) {
      std::size_t best = kMaxDevicesPerNode;
      std::int64_t best_gain = 0;
      std::int64_t best_score = 0;
      for (const std::size_t i : order_of_devices(node, need, chosen)) {
        const std::int64_t here =
            gain + fragmentation_.weight() * need.share + board.change(step_after, i, need.share);
        const std::int64_t score = rounded(here);
        if (best != kMaxDevicesPerNode && score <= best_score) continue;
        best = i;
        best_gain = here;
        best_score = score;
        if (need.is_whole()) break;  // whole devices: the first that fit
      }
      assert(best < kMaxDevicesPerNode);  // choose() is asked only where the task fits
      chosen |= std::uint64_t{1} << best;
      board.take(best, need.share);
      gain = best_gain;
    }
  }
  return {rounded(gain) - partition_loss(node, request, chosen), chosen};
}

}  // namespace gridfold
