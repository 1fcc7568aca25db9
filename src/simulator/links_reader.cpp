#include "simulator/links_reader.h"

#include <array>

#include "topology/site_fabric.h"

namespace gridfold {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kLinkKeys = {"cards"sv, "nvlink"sv, "pcie"sv,
                                  "numa"sv,  "socket"sv, "host_network"sv};
constexpr std::array kCardKeys = {"kind"sv, "rail"sv, "bandwidth"sv, "count"sv};
constexpr std::array kLevelKeys = {"bandwidth"sv, "oversubscription"sv, "latency"sv, "nvlink"sv,
                                   "rails"sv,     "between_rails"sv};
constexpr std::array kNetworks = {"roce"sv, "infiniband"sv, "ethernet"sv};
constexpr std::int64_t kMostCards = 64;

Known<BitsPerSecond> read_bandwidth(const Field& parent, std::string_view key) {
  const auto field = parent.find(key);
  if (!field) return Unknown{};
  return read_quantity(*field, parse_bits_per_second);
}

// Cards of `count` have rails in a row, from `rail` on.
void read_cards(const Field& field, std::vector<NetworkCard>& cards) {
  if (!field.is_list())
    return field.fail_kind("a list", "such as [{kind: roce, bandwidth: 200Gbps, count: 8}]");
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field item = field.item(i);
    if (!check_map(item, kCardKeys)) return;
    const auto kind = item.find("kind");
    const auto bandwidth = item.find("bandwidth");
    if (!kind || !bandwidth)
      return item.fail("a card needs kind and bandwidth",
                       "such as {kind: infiniband, bandwidth: 400Gbps}");
    NetworkCard card;
    card.kind = *parse_link_kind(kNetworks[read_word(*kind, kNetworks)]);
    card.bandwidth = read_quantity(*bandwidth, parse_bits_per_second);
    const auto count = item.find("count");
    const std::int64_t copies = count ? read_integer(*count, 1, kMostCards) : 1;
    const auto rail = item.find("rail");
    const std::int64_t first =
        rail ? read_integer(*rail, 0, kMostCards - 1) : static_cast<std::int64_t>(cards.size());
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      card.rail = static_cast<std::int32_t>(first + copy);
      cards.push_back(card);
    }
  }
}

}  // namespace

void read_node_links(const Field& field, NodeSpec& node) {
  if (!check_map(field, kLinkKeys)) return;
  NodeLinks links;
  if (const auto cards = field.find("cards")) read_cards(*cards, links.cards);
  links.nvlink = read_bandwidth(field, "nvlink");
  links.pcie = read_bandwidth(field, "pcie");
  links.numa = read_bandwidth(field, "numa");
  links.socket = read_bandwidth(field, "socket");
  links.host_network = read_bandwidth(field, "host_network");
  node.links = SharedLinks(std::move(links));
  const auto wiring = wiring_of(node);
  if (!wiring) field.fail(wiring.error().message, wiring.error().hint);
}

std::vector<LevelLinks> read_levels(const Field& field) {
  std::vector<LevelLinks> levels;
  if (!field.is_map()) {
    field.fail_kind("a map", "such as {rack: {bandwidth: 800Gbps}}");
    return levels;
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field item = field.item(i);
    if (!check_map(item, kLevelKeys)) return levels;
    LevelLinks level;
    level.level = field.node().entries[i].key;
    level.bandwidth = read_bandwidth(item, "bandwidth");
    level.nvlink = read_bandwidth(item, "nvlink");
    level.between_rails = read_bandwidth(item, "between_rails");
    // Thousandths, as cores are counted.
    if (const auto ratio = item.find("oversubscription"))
      level.oversubscription = read_quantity(*ratio, parse_cores).value;
    if (const auto latency = item.find("latency"))
      level.latency = read_duration(*latency, {}, Duration::seconds(10));
    if (const auto rails = item.find("rails")) level.rails = read_bool(*rails);
    const auto checked = check_levels({&level, 1});
    if (!checked) item.fail(checked.error().message, checked.error().hint);
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace gridfold
