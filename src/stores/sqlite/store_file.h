// What lies at a store's path before SQLite touches it. SQLite would take an
// empty file for a new database and drop its log; a store never does.
#pragma once

#include <string>

#include "base/result.h"

namespace gridfold {

enum class StoreFileState {
  kAbsent,      // neither file nor log
  kUnfinished,  // creation was cut off: no commit was ever acknowledged
  kComplete,    // has the header of a Gridfold store
};

// kCorrupt: empty, shorter than a header, not SQLite, or a log without its
// database. kInvalid: a database of another program.
Result<StoreFileState> inspect_store_file(const std::string& path, const std::string& vfs);

// While the file `path`-new exists, the store is unfinished.
Result<void> mark_unfinished(const std::string& path, const std::string& vfs);
Result<void> mark_finished(const std::string& path, const std::string& vfs);

}  // namespace gridfold
