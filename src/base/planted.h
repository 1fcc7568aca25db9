// Bugs planted on purpose, to show that `sim verify` finds such bugs. They
// exist in one test binary only (tests/planted), which is compiled with
// GRIDFOLD_PLANTED; everywhere else the condition is `false` and neither the
// branch nor its name is compiled.
//
//   if (GRIDFOLD_PLANTED_BUG(ack_before_commit)) …
#pragma once

#ifdef GRIDFOLD_PLANTED

#include <string_view>

namespace gridfold {
// Whether the bug of this name is the one chosen.
bool planted(std::string_view name);
}  // namespace gridfold

#define GRIDFOLD_PLANTED_BUG(name) (::gridfold::planted(#name))

#else

#define GRIDFOLD_PLANTED_BUG(name) false

#endif
