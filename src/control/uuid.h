// UUIDv7 (RFC 9562 §5.7): 48 bits of milliseconds, the rest random.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace gridfold {

std::string make_uuid7(Instant now, std::uint64_t random_high, std::uint64_t random_low);

}  // namespace gridfold
