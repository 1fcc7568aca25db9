#include "engine/backfill_options.h"

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"none", "easy", "conservative"};
constexpr std::array<std::string_view, 2> kOrders = {"arrival", "shortest"};

}  // namespace

std::string_view to_string(BackfillMode mode) { return name_of(kModes, mode); }
std::optional<BackfillMode> parse_backfill_mode(std::string_view text) {
  return value_of<BackfillMode>(kModes, text);
}

std::string_view to_string(BackfillOrder order) { return name_of(kOrders, order); }
std::optional<BackfillOrder> parse_backfill_order(std::string_view text) {
  return value_of<BackfillOrder>(kOrders, text);
}

}  // namespace gridfold
