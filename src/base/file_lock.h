// One process at a time, as long as it lives.
#pragma once

namespace gridfold {

// Locks the open file until its descriptor is closed; false: errno says why not,
// EWOULDBLOCK that another process holds it. Waits for up to a second: a process
// that was killed just as it started a child leaves its locks to that child
// until the child has closed what it inherited.
bool lock_file(int descriptor);

}  // namespace gridfold
