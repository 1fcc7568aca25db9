// What a placed job's exchanges are expected to take, in the reader's language.
#pragma once

#include <string>

#include "apps/gridfold/reason_text.h"
#include "client/views.h"

namespace gridfold {

// One line, which begins with two spaces.
std::string communication_text(const CommunicationView& communication, Language language);

}  // namespace gridfold
