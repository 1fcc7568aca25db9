// The outcome of a run as one HTML page that needs nothing beside it: figures,
// plots (SVG) and, with each plot, its numbers as CSV.
#pragma once

#include <span>
#include <string>

#include "simulator/run_json.h"

namespace gridfold {

// At least one result. Utilisation and waiting times are those of the first
// run; what saturation runs record is the mean over all.
std::string html_report(const RunDescription& description, std::span<const SeedResult> results);

}  // namespace gridfold
