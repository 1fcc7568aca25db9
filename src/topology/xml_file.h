// An XML file, read within bounds: the border against hostile input for the
// readers of topology files.
//
//   auto file = XmlFile::parse("dgx.xml", bytes);
//   file->root().name()      // "topology"
//
// Size, elements and depth are bounded. Entities of one's own are refused (an
// entity bomb needs them), nothing is ever fetched, and text that is not UTF-8 is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace gridfold {

inline constexpr std::size_t kMaxTopologyBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxXmlElements = 200'000;
inline constexpr int kMaxXmlDepth = 128;

class XmlFile {
 public:
  // Errors: kInvalid, kLimit. They name the file and where in it.
  static Result<XmlFile> parse(std::string_view name, std::string_view bytes);

  const std::string& name() const { return name_; }
  pugi::xml_node root() const { return document_.document_element(); }

  // kInvalid at the node's place: "NAME: message".
  Error error_at(pugi::xml_node node, std::string message, std::string hint) const;
  // Puts the file's name and the node's place to another's error.
  Error placed(Error error, pugi::xml_node node) const;

  // The attribute's value. kInvalid when it is missing.
  Result<std::string_view> text(pugi::xml_node node, const char* attribute) const;
  // A whole number within [low, high]; unknown when the attribute is missing.
  Result<Known<std::int64_t>> number(pugi::xml_node node, const char* attribute, std::int64_t low,
                                     std::int64_t high) const;
  // The same, where it must be there.
  Result<std::int64_t> required_number(pugi::xml_node node, const char* attribute, std::int64_t low,
                                       std::int64_t high) const;

 private:
  std::string name_;
  std::string bytes_;
  pugi::xml_document document_;
};

}  // namespace gridfold
