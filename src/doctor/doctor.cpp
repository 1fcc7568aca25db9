#include "doctor/doctor.h"

#include <algorithm>
#include <array>

#include "doctor/remedies.h"

namespace gridfold {
namespace {

// More are not tried one by one for whether they are needed.
constexpr std::size_t kMostPruned = 8;

class Examination {
 public:
  Examination(const Day& day, const ReplayOptions& options)
      : day_(day), options_(options), as_it_was_(replay(day, with_causes(options))) {
    found_.from = day.from;
    found_.to = day.to;
    found_.balance = as_it_was_.balance;
    found_.jobs = static_cast<std::int64_t>(day.jobs.size());
    found_.guessed = std::count_if(day.jobs.begin(), day.jobs.end(),
                                   [](const DayJob& job) { return job.guessed; });
    found_.complete = as_it_was_.complete;
  }

  Diagnosis examine() {
    for (std::size_t i = 0; i + 1 < kCauses; ++i) look_for(static_cast<Cause>(i));
    found_.together = all_together();
    const bool enough = found_.together >= part(kTooMuchToBuy);
    if (!enough) look_for_more_devices();
    // Of what gives back as much, what is looked for first.
    std::stable_sort(
        found_.findings.begin(), found_.findings.end(),
        [](const Finding& a, const Finding& b) { return a.given_back > b.given_back; });
    return std::move(found_);
  }

 private:
  static ReplayOptions with_causes(ReplayOptions options) {
    options.causes = true;
    return options;
  }
  DeviceTime part(std::int64_t millionths) const {
    return as_it_was_.balance.supplied * millionths / kWholeShare;
  }
  DayBalance balance_with(const std::vector<Fix>& fixes) {
    const DayReplay tried = replay(with(day_, fixes), options_);
    found_.complete &= tried.complete;
    return tried.balance;
  }
  DeviceTime given_back_by(const std::vector<Fix>& fixes) {
    return as_it_was_.balance.lost() - balance_with(fixes).lost();
  }

  void look_for(Cause cause) {
    Finding best{cause, {}, 0, seen_of(cause, as_it_was_)};
    for (std::vector<Fix>& fixes : remedies(cause, day_, as_it_was_)) {
      if (fixes.empty()) continue;
      const DeviceTime given_back = given_back_by(fixes);
      // A list that gives back little more than a shorter one is not worth it.
      if (given_back <= best.given_back + part(kLeastShare) / 10) continue;
      best.fixes = std::move(fixes);
      best.given_back = given_back;
    }
    if (best.given_back < part(kLeastShare) || best.given_back == 0) return;
    leave_out_needless(best);
    found_.findings.push_back(std::move(best));
  }

  void leave_out_needless(Finding& finding) {
    if (finding.fixes.size() > kMostPruned) return;
    for (std::size_t i = 0; i < finding.fixes.size() && finding.fixes.size() > 1;) {
      std::vector<Fix> others = finding.fixes;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const DeviceTime given_back = given_back_by(others);
      if (given_back * 50 < finding.given_back * 49) {
        ++i;
        continue;
      }
      finding.fixes = std::move(others);
      finding.given_back = given_back;
    }
  }

  DeviceTime all_together() {
    std::vector<Fix> all;
    DeviceTime most = 0;
    for (const Finding& finding : found_.findings) {
      all.insert(all.end(), finding.fixes.begin(), finding.fixes.end());
      most = std::max(most, finding.given_back);
    }
    return found_.findings.size() < 2 ? most : std::max(most, given_back_by(all));
  }

  // The fewest that do nearly as much as the most of them.
  void look_for_more_devices() {
    if (as_it_was_.balance.unmet == 0) return;
    std::vector<Finding> tried;
    for (std::vector<Fix>& fixes : remedies(Cause::kTooFew, day_, as_it_was_)) {
      const DeviceTime more = balance_with(fixes).busy - as_it_was_.balance.busy;
      tried.push_back(
          {Cause::kTooFew, std::move(fixes), more, seen_of(Cause::kTooFew, as_it_was_)});
    }
    for (Finding& finding : tried) {
      if (finding.given_back < part(kLeastBought)) continue;
      if (finding.given_back * 10 < tried.back().given_back * 9) continue;
      found_.findings.push_back(std::move(finding));
      return;
    }
  }

  const Day& day_;
  const ReplayOptions& options_;
  DayReplay as_it_was_;
  Diagnosis found_;
};

}  // namespace

std::string_view to_string(Cause cause) {
  static constexpr std::array<std::string_view, kCauses> kNames = {
      "not_pooled",    "wrong_shape", "static_holding", "input_bound",
      "network_bound", "gang_wait",   "faults",         "too_few"};
  return kNames[static_cast<std::size_t>(cause)];
}

Diagnosis diagnose(const Day& day, const ReplayOptions& options) {
  return Examination(day, options).examine();
}

}  // namespace gridfold
