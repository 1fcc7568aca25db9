// Names of an enum's values, in one table read both ways:
//
//   constexpr std::array<std::string_view, 3> kNames = {"train", "infer", "filler"};
//   name_of(kNames, value);                       // "infer"
//   value_of<WorkloadClass>(kNames, "infer");     // kInfer
//
// Entry i names the value i; values count up from 0.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <optional>
#include <string_view>

namespace gridfold {

template <class Enum, std::size_t N>
constexpr std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  assert(static_cast<std::size_t>(value) < N);
  return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t N>
constexpr std::optional<Enum> value_of(const std::array<std::string_view, N>& names,
                                       std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace gridfold
