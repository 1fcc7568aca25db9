// The account as JSON, for `sim run` and the API alike; hours as numbers.
#pragma once

#include "accounting/effective_account.h"
#include "base/json_writer.h"

namespace gridfold {

// {"supplied_device_hours": …, "pooled_…": …, "allocated_…": …, "busy_…": null,
//  "useful_…": …, "in_progress_…": …, "useful_ratio": …, "losses_device_hours":
//  {"not_pooled": {cause: …}, "idle": {…}, "allocated_not_useful": {…}}}
void write_effective(JsonWriter& json, const EffectiveTotals& totals);

}  // namespace gridfold
