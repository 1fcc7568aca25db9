// What stopping a job would lose, in one unit for all: thousandths of a device
// times milliseconds. An estimate, from what the record knows:
//
//   lost = weight * (work not saved + saving + restart + waiting to start again)
//
// Work not saved: since the last save that the job reported in this run; else,
// with a `checkpoint.interval`, since the last whole interval of the run; else
// since its start. Saving: as learned from its reports, else `checkpoint.cost`,
// else nothing. Waiting: as long as it waited on the average before each of its
// starts so far. A job that was evicted lately and has not made that good yet
// counts what it lost then once more.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "model/record.h"

namespace gridfold {

// Devices count whole or in part; what asks for none counts its cores, 64 to a
// device. At least 1.
std::int64_t weight_of(const TaskRequest& each);

// Run time of the present run that would have to be done again; 0 when it has
// not started.
Duration unsaved_work(const JobRecord& record, Instant now);

// Of stopping it whole, `weight` being that of the tasks that hold something.
std::int64_t lost_by_stopping(const JobRecord& record, std::int64_t weight, Instant now,
                              const EvictionOptions& options);

// As if what a victim loses were its age: of the order "youngest first".
std::int64_t lost_by_age(const JobRecord& record, Instant now);

// Of moving it: it starts again at once.
std::int64_t lost_by_moving(const JobRecord& record, std::int64_t weight, Instant now,
                            const EvictionOptions& options);

// Of stopping one task beyond the gang's minimum: the others go on with its
// work, and only its own place has to start again.
std::int64_t lost_by_shedding(std::int64_t weight, const EvictionOptions& options);

// Until when a job that was evicted before has the right to go on; a time that
// has passed if it has none.
Instant safe_until(const JobRecord& record, const EvictionOptions& options);

}  // namespace gridfold
