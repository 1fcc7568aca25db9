// When a waiting job will start and what would let it start now, as sentences in
// the reader's language.
#pragma once

#include <string>

#include "apps/gridfold/reason_text.h"
#include "client/views.h"

namespace gridfold {

// Each line begins with two spaces; empty where nothing is known.
std::string start_text(const ExplainView& explain, Instant now, Language language);

}  // namespace gridfold
