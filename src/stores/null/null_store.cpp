#include "stores/null/null_store.h"

#include <limits>

namespace gridfold {

Result<std::vector<Change>> NullStore::changes_after(Revision, std::size_t) {
  return not_found("this store keeps nothing, and no changes either");
}

StoreLimits NullStore::limits() const {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  return {.operations = kNone, .bytes = kNone};
}

}  // namespace gridfold
