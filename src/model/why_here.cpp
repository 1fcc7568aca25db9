#include "model/why_here.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 13> kDecidedBy = {
    "unknown",      "only_one",  "score",          "name",    "seeded_order", "draw",
    "whole_domain", "room_made", "fewest_domains", "evenest", "least_left",   "cost", "plan"};

}  // namespace

std::string_view to_string(DecidedBy by) { return name_of(kDecidedBy, by); }
std::optional<DecidedBy> parse_decided_by(std::string_view text) {
  return value_of<DecidedBy>(kDecidedBy, text);
}

}  // namespace gridfold
