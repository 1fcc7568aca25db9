#include "wire/read_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <utility>

#include "base/quote.h"
#include "wire/tree_builder.h"

namespace gridfold {
namespace {

using Kind = DocumentNode::Kind;

// Leaves yaml-cpp's parser, which knows no other way to stop.
struct StopParsing {};

TextPosition position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

bool digits_at(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at > start;
}

// JSON's grammar of numbers: -? digits (. digits)? ([eE] [+-]? digits)?
bool is_number(std::string_view text) {
  std::size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  if (!digits_at(text, at)) return false;
  if (at < text.size() && text[at] == '.' && !digits_at(text, ++at)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits_at(text, at)) return false;
  }
  return at == text.size();
}

class YamlEvents : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override { anchored_.clear(); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (builder_.expects_key()) stop("a key is missing", "write `key: value`", position_of(mark));
    DocumentNode node;
    node.position = position_of(mark);
    keep(builder_.scalar(std::move(node)));
    remember(anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    DocumentNode node;
    node.position = position_of(mark);
    node.text = value;
    // yaml-cpp's tags for scalars without one: "?" plain, "!" quoted.
    node.quoted = tag != "?";
    check_tag(tag, "tag:yaml.org,2002:str", node.position);
    if (builder_.expects_key()) {
      if (tag == "?" && value == "<<")
        stop("merge keys (<<) are not supported", "write the keys out", node.position);
      keep(builder_.key(value, node.position));
      if (anchor != YAML::NullAnchor)
        stop("a key must not have an anchor", "remove it", node.position);
      return;
    }
    node.kind = node.quoted                           ? Kind::kString
                : value == "true" || value == "false" ? Kind::kBool
                : is_number(value)                    ? Kind::kNumber
                                                      : Kind::kString;
    keep(builder_.scalar(std::move(node)));
    remember(anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const TextPosition position = position_of(mark);
    if (builder_.expects_key()) stop("a key must not be an alias", "write the key out", position);
    if (++aliases_ > kMaxAliases)
      stop("the text has more than " + std::to_string(kMaxAliases) + " aliases",
           "write the values out", position, ErrorKind::kLimit);
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end())
      stop("the alias stands inside the value it names", "write the value out", position);
    keep(builder_.subtree(found->second));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Kind::kList, mark, tag, "tag:yaml.org,2002:seq", anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(Kind::kMap, mark, tag, "tag:yaml.org,2002:map", anchor);
  }
  void OnMapEnd() override { end(); }

  TreeBuilder& builder() { return builder_; }

 private:
  [[noreturn]] void stop(std::string message, std::string hint, TextPosition position,
                         ErrorKind kind = ErrorKind::kInvalid) {
    builder_.fail(std::move(message), std::move(hint), position, kind);
    throw StopParsing{};
  }
  static void keep(bool going) {
    if (!going) throw StopParsing{};
  }

  void check_tag(const std::string& tag, std::string_view allowed, TextPosition position) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == allowed) return;
    stop("the tag " + quote(tag) + " is not supported", "remove it", position);
  }
  void begin(Kind kind, const YAML::Mark& mark, const std::string& tag, std::string_view allowed,
             YAML::anchor_t anchor) {
    const TextPosition position = position_of(mark);
    check_tag(tag, allowed, position);
    if (builder_.expects_key())
      stop("a key must be text, not " + std::string(describe(kind)),
           "put it in quotes if braces or brackets belong to it", position);
    keep(builder_.begin(kind, position));
    open_anchors_.push_back(anchor);
  }
  void end() {
    keep(builder_.end());
    remember(open_anchors_.back());
    open_anchors_.pop_back();
  }
  void remember(YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    const DocumentNode& node = builder_.last();
    if (++anchors_ > kMaxAliases)
      stop("the text has more than " + std::to_string(kMaxAliases) + " anchors",
           "write the values out", node.position, ErrorKind::kLimit);
    keep(builder_.charge(node));
    anchored_[anchor] = node;
  }

  TreeBuilder builder_;
  std::map<YAML::anchor_t, DocumentNode> anchored_;
  std::vector<YAML::anchor_t> open_anchors_;
  int aliases_ = 0;
  int anchors_ = 0;
};

}  // namespace

Result<std::vector<DocumentNode>> read_yaml(std::string_view text) {
  std::vector<DocumentNode> documents;
  YamlEvents events;
  try {
    // yaml-cpp 0.7 takes a quote that is never closed for closed at a final
    // line end, and a last key without a colon for a key; a comment after it
    // brings both to light.
    std::istringstream stream{std::string(text) + (text.ends_with('\n') ? "#" : "")};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
      DocumentNode root = events.builder().take_root();
      if (root.kind != Kind::kNull) documents.push_back(std::move(root));
    }
  } catch (const StopParsing&) {
    return *events.builder().error();
  } catch (const YAML::Exception& trouble) {
    Error error = invalid("this is not YAML: " + trouble.msg);
    error.hint = "correct it here or just before; indentation and quotes are the usual causes";
    if (!trouble.mark.is_null()) error.position = position_of(trouble.mark);
    return error;
  } catch (const std::exception& trouble) {
    return invalid(std::string("this is not YAML: ") + trouble.what());
  }
  if (documents.empty()) {
    Error error = invalid("the text is empty");
    error.hint = "write at least `name: …` and `run: …`";
    return error;
  }
  return documents;
}

}  // namespace gridfold
