// What queues name and no node has, for people.
#pragma once

#include <string>

#include "apps/gridfold/reason_text.h"
#include "model/unknown_devices.h"

namespace gridfold {

// "queue a names gpu:H10O, which no node has: it has no effect (did you mean …?)".
std::string unknown_device_text(const UnknownDevice& unknown, Language language);

}  // namespace gridfold
