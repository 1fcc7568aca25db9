#include "policies/dot_product.h"

#include "policies/room.h"

namespace gridfold {

Result<DotProductOptions> read_dot_product_options(const PolicyOptions& options) {
  SettingsReader settings("dot_product", options.settings);
  DotProductOptions own;
  own.rounding = read_rounding(settings, "dot_product.rounding");
  own.largest_cores = settings.number("dot_product.largest_cores", own.largest_cores, 1, 4096);
  own.largest_devices = settings.number("dot_product.largest_devices", own.largest_devices, 1, 64);
  if (auto error = settings.finish()) return *error;
  return own;
}

// The product of two parts in thousandths has a scale of 10^6; half of it, in
// percent, is product / (2 * 10^4 * cores^2 * devices^2). With 4,096 cores and
// 64 devices at most, nothing here leaves 63 bits.
Choice DotProduct::choose(const NodeRoom& node, const Request& request) const {
  const std::int64_t cores = options_.largest_cores * options_.largest_cores;
  const std::int64_t devices = options_.largest_devices * options_.largest_devices;
  const std::int64_t product =
      node.cpu * request.cpu * devices + free_share(node) * asked_share(request) * cores;
  const std::int64_t score = options_.rounding == Rounding::kExact
                                 ? -product
                                 : 100 - divide_up(product, 20000 * cores * devices);
  return {score, first_fit_devices(node, request)};
}

}  // namespace gridfold
