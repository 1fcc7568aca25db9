// What kinds of links there are, by what travels over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gridfold {

// From the nearest to the farthest.
enum class LinkKind : std::uint8_t {
  kNvlink,      // or another vendor's links between devices
  kPcie,        // a device to its PCIe switch
  kNuma,        // a PCIe switch to the processor socket it hangs on
  kSocket,      // between the sockets of a node
  kRoce,        // a network card to the switch of its rail, by what it speaks
  kInfiniband,  // likewise
  kEthernet,    // likewise, without remote memory access: TCP
  kLeaf,        // a node to its rack's switch, or that switch to those above
  kSpine,       // a spine's switches to those above
  kWan,         // between sites
};
inline constexpr std::size_t kLinkKinds = 10;
std::string_view to_string(LinkKind kind);  // "nvlink", …
std::optional<LinkKind> parse_link_kind(std::string_view text);

// What a network card may speak.
constexpr bool is_network(LinkKind kind) {
  return kind == LinkKind::kRoce || kind == LinkKind::kInfiniband || kind == LinkKind::kEthernet;
}

}  // namespace gridfold
