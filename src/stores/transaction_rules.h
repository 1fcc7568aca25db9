// The rules of the store port that do not depend on where the data lives, so
// that every store accepts and refuses the same transactions with the same
// words.
#pragma once

#include <string_view>

#include "control/store.h"

namespace gridfold {

// kInvalid: a key that is empty, holds a NUL or is not UTF-8; a key that is
// written twice (which write wins would be a guess). kLimit: over `limits`.
Result<void> check_transaction(const Transaction& transaction, const StoreLimits& limits);

// The store's revision of `compare.key` is `found`, not what was expected.
Error compare_failed(const Compare& compare, Revision found);

// Whether a log whose oldest complete revision is `first_kept` can answer
// changes_after(from) at revision `current`. kNotFound: "gone, relist".
Result<void> check_changes_kept(Revision from, Revision first_kept, Revision current);

// kInvalid for a page of no entries: a pager would take it for the end.
Result<void> check_page_size(std::size_t count);

}  // namespace gridfold
