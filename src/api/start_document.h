// What is said about the start of a job that waits: when, what would let it
// start now, and who is in its way.
#pragma once

#include "base/json_writer.h"
#include "control/change_finder.h"
#include "control/control_loop.h"
#include "control/start_estimates.h"

namespace gridfold {

// "start_estimate": of the last table; `known` false where the job is not in it.
void write_start_estimate(JsonWriter& json, const StartEstimates& estimates, JobId job,
                          Instant now);
// "evictions": who is being stopped for it, or may be later; absent: nobody.
void write_evictions(JsonWriter& json, const Engine& engine, const std::vector<Reason>& reasons);
// "changes", with their age.
void write_changes(JsonWriter& json, const ChangeAnswer& answer, const JobSpec& spec, Instant now);

}  // namespace gridfold
