#include "model/node_limits.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 8> kNodeLimits = {
    "too_small", "down", "drained", "maintenance", "reserved", "in_use", "domain", "has_room"};

}  // namespace

std::string_view to_string(NodeLimit limit) { return name_of(kNodeLimits, limit); }

}  // namespace gridfold
