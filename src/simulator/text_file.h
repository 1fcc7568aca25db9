// Reads a whole file of text, unpacked when it is gzip'ed.
#pragma once

#include <string>

#include "base/result.h"

namespace gridfold {

// At most 1 GiB of text. Errors: kNotFound, kLimit, kCorrupt (a damaged or cut
// gzip file), kInternal.
Result<std::string> read_text_file(const std::string& path);

}  // namespace gridfold
