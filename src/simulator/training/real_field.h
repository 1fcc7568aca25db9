// A decimal number in a field of a table.
#pragma once

#include "base/result.h"
#include "simulator/csv_table.h"

namespace gridfold {

// Finite and not below zero, such as "0.4553"; the error names file, line and column.
Result<double> real_field(const CsvTable& table, std::size_t column);
// And above zero.
Result<double> positive_field(const CsvTable& table, std::size_t column);

}  // namespace gridfold
