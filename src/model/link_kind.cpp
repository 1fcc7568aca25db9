#include "model/link_kind.h"

#include <array>

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, kLinkKinds> kNames = {
    "nvlink", "pcie", "numa", "socket", "roce", "infiniband", "ethernet", "leaf", "spine", "wan"};

}  // namespace

std::string_view to_string(LinkKind kind) { return name_of(kNames, kind); }
std::optional<LinkKind> parse_link_kind(std::string_view text) {
  return value_of<LinkKind>(kNames, text);
}

}  // namespace gridfold
