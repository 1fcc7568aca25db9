#include "policies/best_fit.h"

#include "policies/room.h"

namespace gridfold {

Result<BestFitOptions> read_best_fit_options(const PolicyOptions& options) {
  SettingsReader settings("best_fit", options.settings);
  BestFitOptions own;
  own.rounding = read_rounding(settings, "best_fit.rounding");
  own.largest_cores = settings.number("best_fit.largest_cores", own.largest_cores, 1, 4096);
  own.largest_devices = settings.number("best_fit.largest_devices", own.largest_devices, 1, 64);
  if (auto error = settings.finish()) return *error;
  return own;
}

// left = cpu / largest cpu + devices / largest devices, both in thousandths,
// so half of it, in percent, is rest / (20 * cores * devices).
Choice BestFit::choose(const NodeRoom& node, const Request& request) const {
  const std::int64_t cores = options_.largest_cores;
  const std::int64_t devices = options_.largest_devices;
  const std::int64_t rest =
      (node.cpu - request.cpu) * devices + (free_share(node) - asked_share(request)) * cores;
  const std::int64_t score =
      options_.rounding == Rounding::kExact ? -rest : 100 - divide_up(rest, 20 * cores * devices);
  return {score, first_fit_devices(node, request)};
}

}  // namespace gridfold
