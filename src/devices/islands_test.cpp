#include "devices/islands.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

LinkedDevice linked(const std::string& uid, const std::vector<std::string>& peers,
                    const std::string& plugin = "p") {
  std::vector<DeviceLink> links;
  for (const auto& peer : peers) links.push_back({DeviceLink::Kind::kVendor, peer, 1, Unknown{}});
  return {uid, plugin, links};
}

TEST(Islands, LinksJoinPairsAndSwitchesAWholeFabric) {
  EXPECT_EQ(islands_of({linked("a", {"c"}), linked("b", {"d"}), linked("c", {"a"}), linked("d", {}),
                        linked("e", {})}),
            (std::vector<std::int32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(islands_of({linked("a", {""}), linked("b", {"", ""}), linked("c", {""}, "q")}),
            (std::vector<std::int32_t>{0, 0, 1}));
}

TEST(Islands, UnknownLinksAreAnUnknownIsland) {
  EXPECT_EQ(islands_of({linked("a", {"b"}), {"b", "p", Unknown{}}, linked("c", {"elsewhere"})}),
            (std::vector<std::int32_t>{0, -1, 1}));
}

TEST(Islands, PcieIsNoDirectLink) {
  LinkedDevice a = linked("a", {});
  a.links = std::vector<DeviceLink>{{DeviceLink::Kind::kPcie, "b", 1, Unknown{}}};
  EXPECT_EQ(islands_of({a, linked("b", {})}), (std::vector<std::int32_t>{0, 1}));
}

}  // namespace
}  // namespace gridfold
