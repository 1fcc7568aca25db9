// Chooses the planted bug that is live in this process; "" is none.
#pragma once

#include <string>

namespace gridfold {
void plant(std::string name);
}  // namespace gridfold
