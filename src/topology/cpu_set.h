// A set of processors (or of NUMA nodes) by the operating system's numbers, as
// topology files write them.
//
//   CpuSet::from_mask("0x00000303,,0x00000003")->to_text()   // "0-1,64-65,72-73"
//   CpuSet::from_list("0-15,32-47")->count()                 // 32
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gridfold {

// Numbers are below this.
inline constexpr std::int32_t kMaxCpuNumber = 65'536;

class CpuSet {
 public:
  // Words of 32 bits in hexadecimal, the highest first, commas between them; an
  // empty word is zero and "0x" may stand before each. The errors' messages are
  // bare reasons ("it has a word that is not hexadecimal").
  static Result<CpuSet> from_mask(std::string_view text);
  // "0-15,32-47".
  static Result<CpuSet> from_list(std::string_view text);

  void insert(std::int32_t first, std::int32_t last);
  void insert(const CpuSet& other);

  bool empty() const { return ranges_.empty(); }
  std::int64_t count() const;
  bool contains(std::int32_t number) const;
  std::string to_text() const;  // as from_list() reads it; "" when empty

  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  struct Range {
    std::int32_t first = 0;
    std::int32_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  void insert_word(std::int32_t base, std::uint32_t bits);
  void melt();

  // Invariant: ascending, with a gap between neighbours.
  std::vector<Range> ranges_;
};

}  // namespace gridfold
