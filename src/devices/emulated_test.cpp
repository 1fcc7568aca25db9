#include "devices/emulated.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

std::string refusal(std::string_view text) {
  const auto devices = parse_emulated_devices(text, built_in_facts());
  return devices ? "accepted" : devices.error().describe();
}

TEST(Emulated, DevicesTakeTheirMemoryFromTheFacts) {
  const auto devices =
      parse_emulated_devices("gpu:H100-SXM5-80GB=2,npu:Ascend-910A=1", built_in_facts());
  ASSERT_TRUE(devices) << devices.error().describe();
  ASSERT_EQ(devices->size(), 3u);
  for (const auto& device : *devices) EXPECT_EQ(device.origin, DeviceOrigin::kEmulated);
  EXPECT_EQ((*devices)[1].model, "H100-SXM5-80GB");
  EXPECT_EQ((*devices)[1].memory.value(), Bytes(80ll << 30));
  EXPECT_EQ((*devices)[1].uid, "emulated-1");
  EXPECT_EQ((*devices)[2].device_class, "npu");
  EXPECT_EQ((*devices)[2].uid, "emulated-2");
}

TEST(Emulated, AStatedMemoryGoesBeforeTheFacts) {
  const auto devices = parse_emulated_devices("fpga:U280@8GiB=1,gpu:T4@15GiB=1", built_in_facts());
  ASSERT_TRUE(devices) << devices.error().describe();
  EXPECT_EQ((*devices)[0].model, "U280");
  EXPECT_EQ((*devices)[0].memory.value(), Bytes(8ll << 30));
  EXPECT_EQ((*devices)[1].memory.value(), Bytes(15ll << 30));
}

TEST(Emulated, AnUnknownModelIsRefusedWithTheNearest) {
  const auto devices = parse_emulated_devices("gpu:T4=1,gpu:H100=8", built_in_facts());
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(devices.error().field, "devices[1]");
  EXPECT_EQ(devices.error().message, "device model \"H100\" is not known");
  EXPECT_EQ(devices.error().hint,
            "did you mean H100-SXM5-80GB? Else state its memory: gpu:H100@24GiB=8");
}

TEST(Emulated, DevicesMayHaveAPlaceAndPartitions) {
  const auto devices = parse_emulated_devices(
      "gpu:H100-SXM5-80GB=8:numa=4+4:switch=2+2+2+2:island=8,gpu:A30=2:island=2:partitioned",
      built_in_facts());
  ASSERT_TRUE(devices) << devices.error().describe();
  EXPECT_EQ((*devices)[3].numa, 0);
  EXPECT_EQ((*devices)[4].numa, 1);
  EXPECT_EQ((*devices)[7].pcie_switch, 3);
  EXPECT_EQ((*devices)[7].island, 0);
  EXPECT_TRUE((*devices)[7].partitions.empty());
  EXPECT_EQ((*devices)[8].island, 1);
  EXPECT_EQ((*devices)[8].numa, -1);
  EXPECT_EQ((*devices)[9].partitions[1].name, "2g.12gb");
}

TEST(Emulated, MistakesAreRefused) {
  for (const char* text : {"",
                           ",",
                           "gpu",
                           "gpu:T4",
                           "T4=1",
                           ":T4=1",
                           "gpu:=1",
                           "gpu:T4=",
                           "gpu:T4=0",
                           "gpu:T4=-1",
                           "gpu:T4=1.5",
                           "gpu:T4@=1",
                           "gpu:T4@0=1",
                           "gpu:T4@1Gx=1",
                           "gpu:T4=1,",
                           "gpu:T 4=1",
                           "npu:T4=1",
                           "gpu:T4=99999999999999999999",
                           "gpu:T4=1=2",
                           "gpu:T4=2:",
                           "gpu:T4=2:numa",
                           "gpu:T4=2:numa=",
                           "gpu:T4=2:numa=1",
                           "gpu:T4=2:numa=1+2",
                           "gpu:T4=2:numa=1+1+",
                           "gpu:T4=2:numa=2+0",
                           "gpu:T4=2:socket=2",
                           "gpu:T4=2:partitioned",
                           "gpu:T4=2:numa=99999999999999999999"}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
  EXPECT_NE(refusal("npu:T4=1").find("is of class \"gpu\""), std::string::npos);
}

TEST(Emulated, MoreThanANodeHoldsIsALimit) {
  EXPECT_EQ(refusal("gpu:T4=64"), "accepted");
  const auto devices = parse_emulated_devices("gpu:T4=60,gpu:L4=5", built_in_facts());
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace gridfold
