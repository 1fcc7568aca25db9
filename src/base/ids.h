// Typed ids: a JobId cannot be passed where a NodeId is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace gridfold {

// An integer with a name. The zero value is a valid id unless the owner says
// otherwise; `none()` is never given out.
template <class Tag, class Rep>
struct Id {
  Rep value = 0;

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  static constexpr Id none() { return Id(static_cast<Rep>(-1)); }
  constexpr bool is_none() const { return value == static_cast<Rep>(-1); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A job's number: assigned in order of submission, never used twice. Ties in
// the queue are broken by it.
using JobId = Id<struct JobTag, std::uint64_t>;
// A node's dense index in the engine; names live in the model. Order of
// registration.
using NodeId = Id<struct NodeTag, std::uint32_t>;
// A queue's dense index.
using QueueId = Id<struct QueueTag, std::uint32_t>;

// One task of one job: index counts over all roles of the job, from 0.
struct TaskId {
  JobId job;
  std::uint32_t index = 0;
  friend constexpr auto operator<=>(const TaskId&, const TaskId&) = default;
};

}  // namespace gridfold

template <class Tag, class Rep>
struct std::hash<gridfold::Id<Tag, Rep>> {
  std::size_t operator()(gridfold::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};

template <>
struct std::hash<gridfold::TaskId> {
  std::size_t operator()(const gridfold::TaskId& id) const noexcept {
    return std::hash<std::uint64_t>{}(id.job.value * 0x9E3779B97F4A7C15ull + id.index);
  }
};
