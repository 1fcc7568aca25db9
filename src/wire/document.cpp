#include "wire/document.h"

#include "base/utf8.h"
#include "wire/read_json.h"
#include "wire/read_yaml.h"

namespace gridfold {
namespace {

TextPosition position_of(std::string_view text, std::size_t offset) {
  TextPosition position{1, 1};
  for (const char c : text.substr(0, offset)) {
    position.column = c == '\n' ? 1 : position.column + 1;
    position.line += c == '\n';
  }
  return position;
}

}  // namespace

const DocumentNode* DocumentNode::find(std::string_view key) const {
  if (kind != Kind::kMap) return nullptr;
  for (const auto& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

std::string_view describe(DocumentNode::Kind kind) {
  switch (kind) {
    case DocumentNode::Kind::kNull: return "empty";
    case DocumentNode::Kind::kBool: return "true or false";
    case DocumentNode::Kind::kNumber: return "a number";
    case DocumentNode::Kind::kString: return "text";
    case DocumentNode::Kind::kList: return "a list";
    case DocumentNode::Kind::kMap: return "a map";
  }
  return "empty";
}

Result<std::vector<DocumentNode>> read_documents(std::string_view text, DocumentFormat format) {
  const std::size_t limit = format == DocumentFormat::kYaml ? kMaxYamlBytes : kMaxJsonBytes;
  if (text.size() > limit)
    return Error{ErrorKind::kLimit,
                 "the text has " + std::to_string(text.size()) + " bytes, more than " +
                     std::to_string(limit),
                 {},
                 "split it into several files"};
  if (const auto offset = first_invalid_utf8(text); offset != std::string_view::npos) {
    Error error = invalid("the text is not UTF-8");
    error.hint = "save the file as UTF-8";
    error.position = position_of(text, offset);
    return error;
  }
  return format == DocumentFormat::kYaml ? read_yaml(text) : read_json(text);
}

}  // namespace gridfold
