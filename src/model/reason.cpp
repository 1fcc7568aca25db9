#include "model/reason.h"

#include "base/enum_names.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 53> kCodes = {"ExceedsCluster",
                                                     "NoMatchingNode",
                                                     "ExceedsQuotaMax",
                                                     "QueueClosed",
                                                     "InsufficientFree",
                                                     "QuotaInUse",
                                                     "Fragmented",
                                                     "GangIncomplete",
                                                     "BehindInQueue",
                                                     "DependencyPending",
                                                     "Held",
                                                     "NodeDraining",
                                                     "PreemptionPending",
                                                     "BackoffAfterFailure",
                                                     "ReservedFor",
                                                     "NotYetConsidered",
                                                     "Placed",
                                                     "Started",
                                                     "Completed",
                                                     "TaskFailed",
                                                     "LaunchFailed",
                                                     "NodeLost",
                                                     "OutOfMemory",
                                                     "TimeLimit",
                                                     "CancelledBy",
                                                     "Preempted",
                                                     "Requeued",
                                                     "DependencyNeverMet",
                                                     "LaunchFailures",
                                                     "DrainedBy",
                                                     "DeviceDirty",
                                                     "UnsatisfiableTopology",
                                                     "WaitsForRound",
                                                     "Resized",
                                                     "RoundMissed",
                                                     "ExceedsTenantQuotaMax",
                                                     "TenantQuotaInUse",
                                                     "QueueTurn",
                                                     "Reserved",
                                                     "WouldDelayReservation",
                                                     "Moved",
                                                     "Shed",
                                                     "VictimsSafe",
                                                     "HeldBack",
                                                     "Reclaimed",
                                                     "Maintenance",
                                                     "WaitsForRepair",
                                                     "RepairGivenUp",
                                                     "WaitsForRole",
                                                     "RoleDown",
                                                     "WaitsForBoot",
                                                     "BootFailed",
                                                     "ArrayLimit"};
static_assert(kCodes.size() == static_cast<std::size_t>(ReasonCode::kArrayLimit) + 1);

const Reason::Param* find(const Reason& reason, std::string_view name) {
  for (const auto& param : reason.params)
    if (param.first == name) return &param;
  return nullptr;
}

}  // namespace

std::string_view to_string(ReasonCode code) { return name_of(kCodes, code); }
std::optional<ReasonCode> parse_reason_code(std::string_view text) {
  return value_of<ReasonCode>(kCodes, text);
}

bool is_never(ReasonCode code) {
  return code <= ReasonCode::kQueueClosed || code == ReasonCode::kUnsatisfiableTopology ||
         code == ReasonCode::kExceedsTenantQuotaMax;
}

std::int64_t Reason::number(std::string_view name, std::int64_t fallback) const {
  const Param* param = find(*this, name);
  const auto* number = param ? std::get_if<std::int64_t>(&param->second) : nullptr;
  return number ? *number : fallback;
}

std::string_view Reason::text(std::string_view name) const {
  const Param* param = find(*this, name);
  const auto* text = param ? std::get_if<std::string>(&param->second) : nullptr;
  return text ? std::string_view(*text) : std::string_view();
}

std::string to_json(const Reason& reason) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("code").string(to_string(reason.code)).key("params").begin_object();
  for (const auto& [name, value] : reason.params) {
    json.key(name);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      json.number(*number);
    } else {
      json.string(std::get<std::string>(value));
    }
  }
  json.end_object().end_object();
  return out;
}

}  // namespace gridfold
