// Reads a CSV table of the shared data, gzip'ed or not, row by row.
#pragma once

#include <zlib.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gridfold {

// Path in the shared data, or empty where they are not: GRIDFOLD_SHARED_DATA
// names their folder, else ../shared/data beside the checkout is tried.
inline std::string shared_data(const std::string& name) {
  const char* const set = std::getenv("GRIDFOLD_SHARED_DATA");
  const std::string folder =
      set != nullptr ? set : std::string(GRIDFOLD_SOURCE_DIR) + "/../shared/data";
  const std::string path = folder + "/" + name;
  return std::filesystem::exists(path) ? path : std::string();
}

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else if (c != '\r' && c != '\n') {
      cells.back() += c;
    }
  }
  return cells;
}

// No cell of these tables holds a comma or a quote.
inline std::vector<Row> read_rows(const std::string& path) {
  std::vector<Row> rows;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return rows;
  char buffer[4096];
  std::vector<std::string> names;
  while (gzgets(file, buffer, sizeof buffer) != nullptr) {
    const auto cells = cells_of(buffer);
    if (names.empty()) {
      names = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i) row[names[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  gzclose(file);
  return rows;
}

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace gridfold
