#include "api/body_format.h"

#include "base/quote.h"

namespace gridfold {

Problem unsupported_media_type(std::string_view content_type) {
  Problem problem{415, "UnsupportedMediaType", "The body's content type is not read here",
                  content_type.empty() ? "the request has no Content-Type"
                                       : "nothing is read from " + quote(content_type)};
  problem.hint = "send application/json or application/yaml";
  return problem;
}

std::optional<DocumentFormat> body_format(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  if (content_type == "application/json") return DocumentFormat::kJson;
  for (const std::string_view yaml : {"application/yaml", "application/x-yaml", "text/yaml"})
    if (content_type == yaml) return DocumentFormat::kYaml;
  return std::nullopt;
}

}  // namespace gridfold
