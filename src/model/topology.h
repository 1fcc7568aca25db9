// Where nodes lie, and what a job asks of it. A level is a word of the site's
// own ("zone", "spine", "rack"); kNodeLevel is the one that every node has.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gridfold {

inline constexpr std::string_view kNodeLevel = "node";

// One part of a node's path: rack "r3". Without a level it is a domain all the
// same, but no job can ask for it by its level.
struct DomainStep {
  std::string level;
  std::string name;

  DomainStep() = default;
  DomainStep(std::string n) : name(std::move(n)) {}
  DomainStep(const char* n) : name(n) {}
  DomainStep(std::string l, std::string n) : level(std::move(l)), name(std::move(n)) {}
  friend auto operator<=>(const DomainStep&, const DomainStep&) = default;
};

// Letters, digits, - and _, at most 63, beginning with a letter.
bool is_level_name(std::string_view text);

// A job in equal parts, each within one domain of the level: tasks 0 to size-1,
// size to 2*size-1, …, counted over all roles.
struct Segments {
  std::int32_t size = 0;
  std::string within;
  friend auto operator<=>(const Segments&, const Segments&) = default;
};

// Holds for all tasks of the job together; an empty level is no wish.
struct TopologyWish {
  std::string require;  // all within one domain of this level, or not at all
  std::string prefer;   // likewise, else the next wider level, and so on
  std::string spread;   // as few as possible in the fullest domain of this level
  std::optional<Segments> segments;
  friend auto operator<=>(const TopologyWish&, const TopologyWish&) = default;

  bool empty() const { return require.empty() && prefer.empty() && spread.empty() && !segments; }
};

}  // namespace gridfold
