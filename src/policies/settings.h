// Settings of one policy, read from text into its options struct.
//
//   SettingsReader settings("fgd", options.settings);
//   own.coverage = settings.number("fgd.coverage", 95, 1, 100);
//   if (auto error = settings.finish()) return *error;
//
// The first trouble is kept and returned by finish(), which also refuses every
// key that was never asked for and names the nearest one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace gridfold {

class SettingsReader {
 public:
  SettingsReader(std::string_view policy, const std::map<std::string, std::string>& settings);

  // A whole number within [low, high].
  std::int64_t number(std::string_view key, std::int64_t otherwise, std::int64_t low,
                      std::int64_t high);
  // A duration above 0.
  Duration duration(std::string_view key, Duration otherwise);
  // The index of the value among `names`; the first is the default.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names);

  std::optional<Error> finish() const;

 private:
  const std::string* find(std::string_view key);
  void fail(std::string_view key, std::string message, std::string hint);

  std::string policy_;
  const std::map<std::string, std::string>& settings_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

// Rounding of scores, a setting of several policies: to whole numbers from 0
// to 100 as the published program does, or not at all.
enum class Rounding : std::uint8_t { kPublished, kExact };
Rounding read_rounding(SettingsReader& settings, std::string_view key);

// The name with the fewest edits to `word`; empty when there are no names.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

}  // namespace gridfold
