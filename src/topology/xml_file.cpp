#include "topology/xml_file.h"

#include <algorithm>
#include <charconv>

#include "base/quote.h"
#include "base/utf8.h"

namespace gridfold {
namespace {

TextPosition position_at(std::string_view text, std::ptrdiff_t offset) {
  TextPosition position{1, 1};
  const auto end =
      std::min(text.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  for (const char c : text.substr(0, end)) {
    position.column = c == '\n' ? 1 : position.column + 1;
    position.line += c == '\n';
  }
  return position;
}

Error refusal(std::string_view name, std::string message, std::string hint,
              ErrorKind kind = ErrorKind::kInvalid) {
  return {kind, std::string(name) + ": " + std::move(message), {}, std::move(hint)};
}

// What must hold before the parser may see it: its memory follows from these.
Result<void> check_bytes(std::string_view name, std::string_view bytes) {
  if (const auto offset = first_invalid_utf8(bytes); offset != std::string_view::npos) {
    auto error = refusal(name, "the text is not UTF-8", "convert it, such as with iconv -t UTF-8");
    error.position = position_at(bytes, static_cast<std::ptrdiff_t>(offset));
    return error;
  }
  if (bytes.find('\0') != std::string_view::npos)
    return refusal(name, "the text has a zero byte", "export the file again");
  const auto tags = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '<'));
  if (tags > 2 * kMaxXmlElements)
    return refusal(name, "more than " + std::to_string(kMaxXmlElements) + " elements",
                   "give the file of one machine", ErrorKind::kLimit);
  return {};
}

// Without recursion, since the depth is not known yet.
Result<void> check_tree(const XmlFile& file, const pugi::xml_document& document) {
  int depth = 0;
  for (pugi::xml_node node = document.first_child(); node;) {
    if (node.type() == pugi::node_doctype &&
        std::string_view(node.value()).find('[') != std::string_view::npos)
      return file.error_at(node, "it defines its own entities (a DOCTYPE with [...])",
                           "remove that part; no tool that exports topologies writes one");
    if (node.type() == pugi::node_element && node.parent() == document &&
        node != document.document_element())
      return file.error_at(node, "a second root element", "export the file again");
    if (node.first_child()) {
      if (++depth > kMaxXmlDepth) {
        auto error = file.error_at(
            node, "elements nested more than " + std::to_string(kMaxXmlDepth) + " deep",
            "give a file that a topology tool has written");
        error.kind = ErrorKind::kLimit;
        return error;
      }
      node = node.first_child();
      continue;
    }
    while (node && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (node) node = node.next_sibling();
  }
  return {};
}

}  // namespace

Result<XmlFile> XmlFile::parse(std::string_view name, std::string_view bytes) {
  if (bytes.size() > kMaxTopologyBytes)
    return refusal(name, "more than " + to_text(Bytes(kMaxTopologyBytes)) + "B of text",
                   "give the file of one machine", ErrorKind::kLimit);
  if (auto checked = check_bytes(name, bytes); !checked) return checked.error();
  XmlFile file;
  file.name_ = name;
  file.bytes_ = bytes;
  const auto parsed =
      file.document_.load_buffer(file.bytes_.data(), file.bytes_.size(),
                                 pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed) {
    auto error =
        refusal(name, std::string("cut off, or not well-formed XML: ") + parsed.description(),
                "export the file again, or check it with xmllint");
    error.position = position_at(file.bytes_, parsed.offset);
    return error;
  }
  if (auto checked = check_tree(file, file.document_); !checked) return checked.error();
  return file;
}

Error XmlFile::error_at(pugi::xml_node node, std::string message, std::string hint) const {
  return placed({ErrorKind::kInvalid, std::move(message), {}, std::move(hint)}, node);
}

Error XmlFile::placed(Error error, pugi::xml_node node) const {
  error = error.with_context(name_);
  error.position = position_at(bytes_, node.offset_debug());
  return error;
}

Result<std::string_view> XmlFile::text(pugi::xml_node node, const char* attribute) const {
  if (const auto found = node.attribute(attribute)) return std::string_view(found.value());
  return error_at(node, "<" + std::string(node.name()) + "> has no " + attribute,
                  "export the file again");
}

Result<Known<std::int64_t>> XmlFile::number(pugi::xml_node node, const char* attribute,
                                            std::int64_t low, std::int64_t high) const {
  const auto found = node.attribute(attribute);
  if (!found) return Known<std::int64_t>();
  const std::string_view text = found.value();
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < low || value > high)
    return error_at(node,
                    std::string(attribute) + "=" + quote(text) + " of <" + node.name() +
                        "> is not a whole number",
                    "write one from " + std::to_string(low) + " to " + std::to_string(high));
  return Known<std::int64_t>(value);
}

Result<std::int64_t> XmlFile::required_number(pugi::xml_node node, const char* attribute,
                                              std::int64_t low, std::int64_t high) const {
  const auto value = number(node, attribute, low, high);
  if (!value) return value.error();
  if (!value->is_known()) return text(node, attribute).error();
  return value->value();
}

}  // namespace gridfold
