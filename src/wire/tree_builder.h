// Builds a DocumentNode from a parser's events and keeps the limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/document.h"

namespace gridfold {

// Each call returns false when the parser must stop; error() then says why.
// Calls nest as in the text: begin, (key, value)*, end.
class TreeBuilder {
 public:
  bool key(std::string text, TextPosition position);
  bool scalar(DocumentNode node);
  // A finished tree as one value: what an alias stands for.
  bool subtree(const DocumentNode& node);
  bool begin(DocumentNode::Kind kind, TextPosition position);
  bool end();

  // The next value is a map's key.
  bool expects_key() const;
  // Takes `node` out of the budget of values once more: a copy is kept.
  bool charge(const DocumentNode& node);
  bool fail(std::string message, std::string hint, TextPosition position,
            ErrorKind kind = ErrorKind::kInvalid);

  const std::optional<Error>& error() const { return error_; }
  // The last value that was finished. Valid until the next call.
  const DocumentNode& last() const { return *last_; }
  // The tree; the builder is then ready for the next document.
  DocumentNode take_root();

 private:
  bool spend(std::size_t nodes, TextPosition position);
  bool place(DocumentNode node);
  bool check_keys(const DocumentNode& map);

  std::vector<DocumentNode> open_;                  // from the root to the innermost
  std::vector<std::optional<DocumentEntry>> keys_;  // beside open_: a key that waits for its value
  DocumentNode root_;
  const DocumentNode* last_ = nullptr;
  std::size_t spent_ = 0;
  std::optional<Error> error_;
};

}  // namespace gridfold
