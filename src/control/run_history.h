// The jobs that have ended, as the store keeps them, for what is learned from
// them (HistoryRestored) and for who asks.
#pragma once

#include <vector>

#include "base/result.h"
#include "control/records.h"
#include "control/store.h"
#include "model/record.h"

namespace gridfold {

// Older ones tell less, and a start is not to wait long for them.
inline constexpr std::size_t kMostEndedJobs = 20'000;

// One entry beneath history/job/.
Result<JobRecord> read_ended_job(const KeyValue& entry, const records::FindNode& find_node);

// The newest of them by number, at most so many, in the order of their ends. Where
// they ran is not told.
Result<std::vector<JobRecord>> read_ended_jobs(Store& store, std::size_t most = kMostEndedJobs);

}  // namespace gridfold
