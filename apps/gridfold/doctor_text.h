// A diagnosis for people.
#pragma once

#include <string>

#include "apps/gridfold/cli.h"
#include "client/views.h"

namespace gridfold {

// Each finding with its numbers and commands, the worst first; what could not be
// known at the end.
std::string doctor_text(const DiagnosisView& diagnosis, Language language);

}  // namespace gridfold
