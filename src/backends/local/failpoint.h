// Named places at which a test lets the shim die, as kill -9 would. Compiled
// in, off unless a name is armed; the names are those of docs on reliability.
#pragma once

#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

namespace gridfold::local {

inline std::string& armed_failpoint() {
  static std::string name;
  return name;
}

inline void failpoint(std::string_view name) {
  if (armed_failpoint() == name) ::kill(::getpid(), SIGKILL);
}

}  // namespace gridfold::local
