// YAML to trees, by way of yaml-cpp's event parser. See document.h.
#pragma once

#include <string_view>
#include <vector>

#include "wire/document.h"

namespace gridfold {

// `text` is UTF-8 within the limit of bytes.
Result<std::vector<DocumentNode>> read_yaml(std::string_view text);

}  // namespace gridfold
