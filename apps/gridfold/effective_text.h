// The account of device-time as a table for people.
#pragma once

#include <string>

#include "apps/gridfold/cli.h"
#include "client/views.h"

namespace gridfold {

// A line a figure, losses beneath what they are taken from; those of nothing
// are left out.
std::string effective_text(const EffectiveReportView& report, Language language);

}  // namespace gridfold
