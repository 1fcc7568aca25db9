// What may help against each cause: from the evidence of a day to fixes worth
// trying. A list of fixes is tried as one; of several lists the best counts.
#pragma once

#include <cstdint>
#include <vector>

#include "doctor/doctor.h"

namespace gridfold {

using Remedies = std::vector<std::vector<Fix>>;

// `seen` is what the replay of the day as it was came to, with causes.
Remedies remedies(Cause cause, const Day& day, const DayReplay& seen);

// Device-time that the account lays to the cause.
DeviceTime seen_of(Cause cause, const DayReplay& seen);

// Thousandths of devices of the class that the day's nodes have.
std::int64_t capacity(const Day& day, const std::string& device_class);

}  // namespace gridfold
