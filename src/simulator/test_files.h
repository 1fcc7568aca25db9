// Where the tests find traces: small ones by hand, the openb lists that the
// project holds, and the larger public ones where they lie beside it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "simulator/text_file.h"

namespace gridfold {

inline std::string test_data(const std::string& name) {
  return std::string(GRIDFOLD_SOURCE_DIR) + "/tests/data/" + name;
}

inline std::string test_text(const std::string& name) {
  auto text = read_text_file(test_data(name));
  EXPECT_TRUE(text) << text.error().describe();
  return text.value_or("");
}

// Path in the shared data, or empty where they are not: GRIDFOLD_SHARED_DATA
// names their folder, else ../shared/data beside the checkout is tried.
inline std::string shared_data(const std::string& name) {
  const char* set = std::getenv("GRIDFOLD_SHARED_DATA");
  const std::string folder =
      set != nullptr ? set : std::string(GRIDFOLD_SOURCE_DIR) + "/../shared/data";
  std::error_code ignored;
  const std::string path = folder + "/" + name;
  return std::filesystem::exists(path, ignored) ? path : std::string();
}

}  // namespace gridfold
