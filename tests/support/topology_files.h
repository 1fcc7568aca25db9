// Topology files for the tests: those of the project, and the public ones where
// they lie beside it.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "topology/machine_topology_file.h"

namespace gridfold {

// Unpacked when it is packed.
inline std::string file_bytes(const std::string& path) {
  std::string bytes;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot read " << path;
    return bytes;
  }
  char chunk[1 << 16];
  for (int got = 0; (got = gzread(file, chunk, sizeof chunk)) > 0;)
    bytes.append(chunk, static_cast<std::size_t>(got));
  gzclose(file);
  return bytes;
}

// tests/data/topology/NAME.
inline std::string topology_bytes(const std::string& name) {
  return file_bytes(std::string(GRIDFOLD_SOURCE_DIR) + "/tests/data/topology/" + name);
}

// The folder of the shared topology files, or empty where they are not:
// GRIDFOLD_SHARED_DATA names the one above it, else ../shared/data is tried.
inline std::string shared_topologies() {
  const char* set = std::getenv("GRIDFOLD_SHARED_DATA");
  const std::string folder =
      (set != nullptr ? set : std::string(GRIDFOLD_SOURCE_DIR) + "/../shared/data") + "/topo/";
  std::error_code ignored;
  return std::filesystem::exists(folder, ignored) ? folder : std::string();
}

inline MachineTopology machine_in(const std::string& name, const std::string& bytes) {
  auto machine = read_machine_topology(name, bytes);
  EXPECT_TRUE(machine) << machine.error().describe();
  return machine ? std::move(*machine) : MachineTopology();
}
inline MachineTopology test_machine(const std::string& name) {
  return machine_in(name, topology_bytes(name));
}

}  // namespace gridfold
