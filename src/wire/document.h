// A neutral tree read from YAML or JSON, with the place of every value, so that
// one reader understands both and can say where an error lies.
//
//   auto documents = read_documents("name: a\nrun: [sleep, 5]", DocumentFormat::kYaml);
//   documents->front().find("run")->entries[1].value.text   // "5", a number
//
// The border against hostile input: size, depth, aliases and nodes are bounded,
// duplicate keys are refused, and no exception of a parser leaves this file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gridfold {

struct DocumentEntry;

struct DocumentNode {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kList, kMap };

  Kind kind = Kind::kNull;
  // The text stood in quotes (or in a YAML block): it is text and nothing else.
  // All JSON strings are quoted.
  bool quoted = false;
  TextPosition position;
  std::string text;  // of a scalar; a number as it was written, a bool "true" or "false"
  std::vector<DocumentEntry> entries;  // of a list (keys empty) or a map, in the order written

  bool is_scalar() const { return kind < Kind::kList; }
  // The value under `key` of a map, or null.
  const DocumentNode* find(std::string_view key) const;
};

struct DocumentEntry {
  std::string key;
  TextPosition key_position;
  DocumentNode value;
};

// "text", "a list", …: for messages.
std::string_view describe(DocumentNode::Kind kind);

enum class DocumentFormat : std::uint8_t { kYaml, kJson };

inline constexpr std::size_t kMaxYamlBytes = 1 << 20;
inline constexpr std::size_t kMaxJsonBytes = 4 << 20;
inline constexpr int kMaxDocumentDepth = 64;
inline constexpr int kMaxAliases = 100;  // and as many anchors
// Values after aliases are expanded; 64 bytes of text count as one more.
inline constexpr std::size_t kMaxDocumentNodes = 500'000;

// The documents of a text, at least one: YAML may hold several, JSON one. A
// YAML document without content is passed over.
//
// YAML: plain `true` and `false` are bools, plain JSON numbers are numbers;
// every other plain scalar is text that is not `quoted`. Tags other than !!str
// and keys that are not scalars are refused.
Result<std::vector<DocumentNode>> read_documents(std::string_view text, DocumentFormat format);

}  // namespace gridfold
