// The answer to a what-if question as a table of both sides, with sentences
// below it, in the reader's language.
#pragma once

#include <string>

#include "apps/gridfold/reason_text.h"
#include "client/views.h"

namespace gridfold {

enum class TableHeaders : std::uint8_t { kShown, kLeftOut };

std::string what_if_text(const WhatIfView& answer, Language language, TableHeaders headers);

}  // namespace gridfold
