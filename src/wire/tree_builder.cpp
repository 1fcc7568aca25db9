#include "wire/tree_builder.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"

namespace gridfold {
namespace {

using Kind = DocumentNode::Kind;

std::size_t cost_of_text(const DocumentNode& node) { return 1 + node.text.size() / 64; }

std::size_t cost_of(const DocumentNode& node) {
  std::size_t cost = cost_of_text(node);
  for (const auto& entry : node.entries) cost += cost_of(entry.value) + entry.key.size() / 64;
  return cost;
}

int depth_of(const DocumentNode& node) {
  int deepest = 0;
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return node.is_scalar() ? 0 : deepest + 1;
}

}  // namespace

bool TreeBuilder::fail(std::string message, std::string hint, TextPosition position,
                       ErrorKind kind) {
  if (!error_) error_ = Error{kind, std::move(message), {}, std::move(hint), position};
  return false;
}

bool TreeBuilder::spend(std::size_t nodes, TextPosition position) {
  spent_ += nodes;
  if (spent_ <= kMaxDocumentNodes) return true;
  return fail(
      "the text holds more than " + std::to_string(kMaxDocumentNodes) + " values, aliases expanded",
      "split it into several files", position, ErrorKind::kLimit);
}

bool TreeBuilder::charge(const DocumentNode& node) { return spend(cost_of(node), node.position); }

bool TreeBuilder::expects_key() const {
  return !open_.empty() && open_.back().kind == Kind::kMap && !keys_.back();
}

bool TreeBuilder::key(std::string text, TextPosition position) {
  if (!spend(1 + text.size() / 64, position)) return false;
  keys_.back() = DocumentEntry{std::move(text), position, {}};
  return true;
}

bool TreeBuilder::scalar(DocumentNode node) {
  return spend(cost_of_text(node), node.position) && place(std::move(node));
}

bool TreeBuilder::subtree(const DocumentNode& node) {
  if (static_cast<int>(open_.size()) + depth_of(node) > kMaxDocumentDepth)
    return fail("the text is nested more than " + std::to_string(kMaxDocumentDepth) + " deep",
                "write it flatter", node.position, ErrorKind::kLimit);
  return charge(node) && place(node);
}

bool TreeBuilder::begin(Kind kind, TextPosition position) {
  if (static_cast<int>(open_.size()) >= kMaxDocumentDepth)
    return fail("the text is nested more than " + std::to_string(kMaxDocumentDepth) + " deep",
                "write it flatter", position, ErrorKind::kLimit);
  if (!spend(1, position)) return false;
  DocumentNode node;
  node.kind = kind;
  node.position = position;
  open_.push_back(std::move(node));
  keys_.emplace_back();
  return true;
}

bool TreeBuilder::end() {
  DocumentNode node = std::move(open_.back());
  open_.pop_back();
  keys_.pop_back();
  if (node.kind == Kind::kMap && !check_keys(node)) return false;
  return place(std::move(node));
}

bool TreeBuilder::place(DocumentNode node) {
  if (open_.empty()) {
    root_ = std::move(node);
    last_ = &root_;
    return true;
  }
  DocumentEntry entry;
  if (keys_.back()) entry = *std::exchange(keys_.back(), std::nullopt);
  // An empty YAML value has no place but its key's.
  if (node.kind == Kind::kNull && entry.key_position.line > 0) node.position = entry.key_position;
  entry.value = std::move(node);
  auto& entries = open_.back().entries;
  entries.push_back(std::move(entry));
  last_ = &entries.back().value;
  return true;
}

bool TreeBuilder::check_keys(const DocumentNode& map) {
  std::vector<const DocumentEntry*> sorted;
  sorted.reserve(map.entries.size());
  for (const auto& entry : map.entries) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->key < b->key; });
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                        [](auto* a, auto* b) { return a->key == b->key; });
  if (twice == sorted.end()) return true;
  const DocumentEntry& first = **twice;
  const DocumentEntry& second = **(twice + 1);
  return fail("the key " + quote(first.key) + " is given twice, first on line " +
                  std::to_string(first.key_position.line),
              "keep one of them", second.key_position);
}

DocumentNode TreeBuilder::take_root() {
  last_ = nullptr;
  return std::exchange(root_, {});
}

}  // namespace gridfold
