// What a policy of rounds tells DeadlineShares of a job: by a world's true
// tables, or by what it has learned itself.
#pragma once

#include "base/time.h"
#include "base/units.h"
#include "engine/round_policy.h"
#include "policies/deadline_shares.h"
#include "policies/goodput_book.h"
#include "policies/training_truth.h"

namespace gridfold {

// On nodes of so many devices. Without rates: the tables say nothing of it. A job
// that declares no deadline has all the time there is.
DeadlineJob true_deadline_job(const RoundJob& job, Instant now, std::int32_t node_devices,
                              const TrainingTruth& truth);

// By the model fitted to its reports, up to `most_tasks`, with so many steps of
// its initial batch left. Without rates: nothing is fitted.
DeadlineJob fitted_deadline_job(const RoundJob& job, Instant now, std::int32_t node_devices,
                                const GoodputPage& page, std::int32_t most_tasks, double left);

}  // namespace gridfold
