// In which of the two formats a body of ours is written, by its content type.
#pragma once

#include <optional>
#include <string_view>

#include "api/problem.h"
#include "wire/document.h"

namespace gridfold {

// Empty: neither; answer with unsupported_media_type.
std::optional<DocumentFormat> body_format(std::string_view content_type);
Problem unsupported_media_type(std::string_view content_type);

}  // namespace gridfold
