#include "wire/read_json.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "wire/tree_builder.h"

namespace gridfold {
namespace {

using Kind = DocumentNode::Kind;

// The parser copies its iterators; all copies share this place in the text, so
// that the events can look at how far it has read.
struct Cursor {
  const char* at = nullptr;
  const char* end = nullptr;
};
class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CursorIterator() = default;
  explicit CursorIterator(Cursor* cursor) : cursor_(cursor) {}
  reference operator*() const { return *cursor_->at; }
  CursorIterator& operator++() {
    ++cursor_->at;
    return *this;
  }
  // Equal when both are at the end; nobody compares other places.
  bool operator==(const CursorIterator& other) const { return done() == other.done(); }
  bool operator!=(const CursorIterator& other) const { return !(*this == other); }

 private:
  bool done() const { return cursor_ == nullptr || cursor_->at == cursor_->end; }
  Cursor* cursor_ = nullptr;
};

class JsonEvents {
 public:
  JsonEvents(std::string_view text, const Cursor& cursor)
      : text_(text), cursor_(cursor), line_start_(text.data()), token_end_(text.data()) {}

  bool null() { return scalar(Kind::kNull, {}, false); }
  bool boolean(bool value) { return scalar(Kind::kBool, value ? "true" : "false", false); }
  bool number_integer(std::int64_t) { return number(); }
  bool number_unsigned(std::uint64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
  bool string(std::string& value) { return scalar(Kind::kString, std::move(value), true); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // not in JSON
  bool start_object(std::size_t) { return builder_.begin(Kind::kMap, next_token()); }
  bool start_array(std::size_t) { return builder_.begin(Kind::kList, next_token()); }
  bool key(std::string& text) {
    const TextPosition position = next_token();
    return builder_.key(std::move(text), position);
  }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& trouble) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax
    // error while …": the last part is for people.
    std::string message = trouble.what();
    if (const auto colon = message.find(": "); colon != std::string::npos)
      message.erase(0, colon + 2);
    token_start_ = cursor_.at == text_.data() ? cursor_.at : cursor_.at - 1;
    return builder_.fail("this is not JSON: " + message, "correct it here or just before",
                         position_of(token_start_));
  }

  TreeBuilder& builder() { return builder_; }

 private:
  bool end() {
    next_token();
    return builder_.end();
  }
  bool number() {
    const TextPosition position = next_token();
    const char* end = token_start_;
    while (end != cursor_.end &&
           std::string_view("+-.eE0123456789").find(*end) != std::string_view::npos)
      ++end;
    return emit(Kind::kNumber, std::string(token_start_, end), false, position);
  }
  bool scalar(Kind kind, std::string text, bool quoted) {
    const TextPosition position = next_token();
    return emit(kind, std::move(text), quoted, position);
  }
  bool emit(Kind kind, std::string text, bool quoted, TextPosition position) {
    DocumentNode node;
    node.kind = kind;
    node.quoted = quoted;
    node.position = position;
    node.text = std::move(text);
    return builder_.scalar(std::move(node));
  }

  // The parser has just finished a token. It began where the separators after
  // the token before it end; a number's end may have been read over by one
  // character, which is a separator or the bracket that comes next.
  TextPosition next_token() {
    const char* at = token_end_;
    while (at != cursor_.end &&
           std::string_view(" \t\r\n,:\xEF\xBB\xBF").find(*at) != std::string_view::npos)
      ++at;
    token_start_ = at;
    token_end_ = cursor_.at;
    return position_of(at);
  }
  TextPosition position_of(const char* at) {
    for (; scanned_ < at - text_.data(); ++scanned_) {
      if (text_[static_cast<std::size_t>(scanned_)] != '\n') continue;
      ++line_;
      line_start_ = text_.data() + scanned_ + 1;
    }
    return {line_, static_cast<int>(at - line_start_) + 1};
  }

  std::string_view text_;
  const Cursor& cursor_;
  TreeBuilder builder_;
  int line_ = 1;
  const char* line_start_;
  std::ptrdiff_t scanned_ = 0;
  const char* token_start_ = nullptr;
  const char* token_end_;
};

}  // namespace

Result<std::vector<DocumentNode>> read_json(std::string_view text) {
  if (text.empty()) return invalid("the text is empty");
  Cursor cursor{text.data(), text.data() + text.size()};
  JsonEvents events(text, cursor);
  const bool ok = nlohmann::json::sax_parse(CursorIterator(&cursor), CursorIterator(), &events);
  if (events.builder().error()) return *events.builder().error();
  if (!ok) return invalid("this is not JSON");
  std::vector<DocumentNode> documents;
  documents.push_back(events.builder().take_root());
  return documents;
}

}  // namespace gridfold
