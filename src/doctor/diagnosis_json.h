// A diagnosis as JSON, for `sim run` and the API alike; hours as numbers.
#pragma once

#include "base/json_writer.h"
#include "doctor/doctor.h"

namespace gridfold {

// {"since": …, "until": …, "device_hours": {…}, "findings": [{"cause": …,
//  "given_back_device_hours": …, "fixes": [{"kind": …, "command": …}]}], …}; see
// docs/formats.md.
void write_diagnosis(JsonWriter& json, const DoctorReport& diagnosis);

}  // namespace gridfold
