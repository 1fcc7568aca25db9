// How often each kind of request comes: counted from the arrivals or known
// beforehand, and the typical part of it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/cluster.h"

namespace gridfold {

// A kind of request. Memory is left out: it does not decide where devices are
// left over, and would split one kind into many.
struct RequestKind {
  struct Need {
    std::int32_t share = 0;
    std::int32_t count = 0;
    std::uint16_t device_class = 0;
    std::vector<std::uint16_t> models;
    friend auto operator<=>(const Need&, const Need&) = default;
  };
  std::int64_t cpu = 0;
  std::vector<Need> needs;
  friend auto operator<=>(const RequestKind&, const RequestKind&) = default;
};

RequestKind kind_of(const Request& request);

struct WeightedKind {
  RequestKind kind;
  std::int64_t count = 0;
};

class RequestMix {
 public:
  void add(const Request& request, std::int64_t count);
  // The commonest kinds, most frequent first, until they make up
  // `coverage_percent` of all tasks, at most `limit` of them.
  std::vector<WeightedKind> typical(std::int64_t coverage_percent, std::size_t limit) const;

 private:
  std::map<RequestKind, std::int64_t> counts_;
  // By request id: its entry in counts_, which never moves.
  std::vector<std::int64_t*> by_id_;
  std::int64_t total_ = 0;
};

}  // namespace gridfold
