// The JSON documents of the API, written from records. Field names and units
// are fixed by docs/openapi.json.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "engine/engine.h"
#include "model/record.h"
#include "model/unknown_devices.h"

namespace gridfold {

// Lists leave out the spec (it may hold staged files) and the tasks.
enum class JobDetail : std::uint8_t { kBasic, kFull };

// A pending job's reason is the engine's, with the numbers of this moment.
void write_job(JsonWriter& json, const JobRecord& job, const Engine& engine, Instant now,
               JobDetail detail);
void write_reason(JsonWriter& json, const Reason& reason);
void write_device_identity(JsonWriter& json, std::size_t index, const DeviceSpec& device);
// As "unknown_devices"; nothing where there are none.
void write_unknown_devices(JsonWriter& json, const std::vector<UnknownDevice>& unknown);
void write_optional_time(JsonWriter& json, std::string_view key, Instant time);

}  // namespace gridfold
