// A job's class, and where it comes from.
#pragma once

#include <string>

#include "apps/gridfold/reason_text.h"
#include "client/views.h"

namespace gridfold {

// "train", or "train (from: 8 devices, no ports)" where its user named none.
std::string class_text(const JobView& job, Language language);

}  // namespace gridfold
