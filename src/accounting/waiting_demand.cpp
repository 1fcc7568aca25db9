#include "accounting/waiting_demand.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr int kMostAsked = 16;     // of jobs that are not alike
constexpr int kMostLooked = 1024;  // of all

bool names_models(const JobSpec& spec) {
  for (const Role& role : spec.roles) {
    for (const DeviceRequest& group : role.each.devices)
      if (!group.models.empty()) return true;
  }
  return false;
}

Part cause_of_room(const Reason& reason, const JobSpec& spec) {
  const std::string_view resource = reason.text("resource");
  if (resource == "cpu" || resource == "memory") return Part::kStranded;
  if (reason.number("free") >= reason.number("need")) return Part::kShape;
  if (names_models(spec)) return Part::kWrongKind;
  return spec.task_count() > 1 ? Part::kGangWait : Part::kShape;
}

}  // namespace

Part cause_of(const Reason& reason, const JobSpec& spec) {
  switch (reason.code) {
    case ReasonCode::kInsufficientFree: return cause_of_room(reason, spec);
    case ReasonCode::kFragmented: return Part::kShape;
    case ReasonCode::kGangIncomplete: return Part::kGangWait;
    case ReasonCode::kExceedsCluster:
    case ReasonCode::kNoMatchingNode:
    case ReasonCode::kUnsatisfiableTopology: return Part::kWrongKind;
    case ReasonCode::kExceedsQuotaMax:
    case ReasonCode::kQueueClosed:
    case ReasonCode::kQuotaInUse:
    case ReasonCode::kExceedsTenantQuotaMax:
    case ReasonCode::kTenantQuotaInUse: return Part::kQuota;
    case ReasonCode::kPreemptionPending:
    case ReasonCode::kReservedFor:
    case ReasonCode::kReserved:
    case ReasonCode::kWouldDelayReservation:
    case ReasonCode::kVictimsSafe: return Part::kReserved;
    default: return Part::kTurn;
  }
}

void WaitingDemand::add(const JobRecord& job, DeviceBooks& books) {
  Job entry{job.spec, demand_of(*job.spec, books)};
  if (entry.demand.empty()) return;
  totals_.resize(std::max(totals_.size(), books.classes().size()));
  const Key key{-std::int64_t{job.spec->priority}, job.id};
  const auto [at, added] = jobs_.emplace(key, std::move(entry));
  if (!added) return;
  for (const ClassAmount& amount : at->second.demand)
    totals_[amount.device_class] += amount.thousandths;
}

void WaitingDemand::remove(JobId job, std::int32_t priority) {
  const auto at = jobs_.find({-std::int64_t{priority}, job});
  if (at == jobs_.end()) return;
  for (const ClassAmount& amount : at->second.demand) {
    totals_[amount.device_class] -= amount.thousandths;
    // Whoever waits next is asked.
    if (totals_[amount.device_class] == 0 && amount.device_class < blocked_.size())
      blocked_[amount.device_class].clear();
  }
  jobs_.erase(at);
}

std::int64_t WaitingDemand::total(ClassIndex index) const {
  return index < totals_.size() ? totals_[index] : 0;
}

bool WaitingDemand::has_to_ask(const DeviceBooks& books) const {
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    const bool unknown = i >= blocked_.size() || blocked_[i].empty();
    if (unknown && totals_[i] > 0 && books.amounts(static_cast<ClassIndex>(i)).free > 0)
      return true;
  }
  return false;
}

void WaitingDemand::ask(const Engine& engine, const DeviceBooks& books) {
  blocked_.assign(books.classes().size(), {});
  std::map<const JobSpec*, Part> known;
  std::vector<std::int64_t> covered(books.classes().size());
  int looked = 0;
  for (const auto& [key, job] : jobs_) {
    if (++looked > kMostLooked) break;
    // Only what is free has to be explained.
    const bool useful = std::any_of(job.demand.begin(), job.demand.end(), [&](ClassAmount a) {
      return covered[a.device_class] < books.amounts(a.device_class).free;
    });
    if (!useful) continue;
    auto cause = known.find(job.spec.get());
    if (cause == known.end()) {
      if (static_cast<int>(known.size()) == kMostAsked) continue;
      const auto reason = engine.main_reason(key.second);
      cause =
          known.emplace(job.spec.get(), reason ? cause_of(*reason, *job.spec) : Part::kTurn).first;
    }
    for (const ClassAmount& amount : job.demand) {
      auto& causes = blocked_[amount.device_class];
      if (!causes.empty() && causes.back().first == cause->second) {
        causes.back().second += amount.thousandths;
      } else {
        causes.emplace_back(cause->second, amount.thousandths);
      }
      covered[amount.device_class] += amount.thousandths;
    }
  }
}

}  // namespace gridfold
