#include "backends/local/slice_limits.h"

#include <gtest/gtest.h>

namespace gridfold::local {
namespace {

NodeSpec node_of(DeviceOrigin origin, const std::string& uid) {
  NodeSpec node;
  DeviceSpec device;
  device.device_class = "gpu";
  device.origin = origin;
  device.uid = uid;
  node.devices = {device};
  return node;
}

Environment limits(const DeviceRequest& request, const NodeSpec& node, const std::string& library,
                   Environment env = {}) {
  auto spec = std::make_shared<JobSpec>();
  spec->roles.emplace_back();
  spec->roles[0].each.devices = {request};
  LaunchOrder order;
  order.spec = spec;
  order.devices = 1;
  add_slice_limits(order, node, library, env);
  return env;
}

const NodeSpec kReal = node_of(DeviceOrigin::kReal, "GPU-aa");

TEST(SliceLimits, OfShareAndMemory) {
  const DeviceRequest slice{"gpu", 1, DeviceShare(250), Bytes(std::int64_t{2000} << 20)};
  EXPECT_EQ(limits(slice, kReal, ""),
            (Environment{{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25"},
                         {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=2000M"}}));
  EXPECT_EQ(limits(slice, kReal, "/l.so", {{"LD_PRELOAD", "/mine.so"}}),
            (Environment{{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25"},
                         {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=2000M"},
                         {"CUDA_DEVICE_SM_LIMIT", "25"},
                         {"CUDA_DEVICE_MEMORY_LIMIT_0", "2000m"},
                         {"LD_PRELOAD", "/l.so:/mine.so"}}));
}

TEST(SliceLimits, SmallAmountsAreNotNothing) {
  const DeviceRequest slice{"gpu", 1, DeviceShare(1), Bytes(5)};
  const Environment env = limits(slice, kReal, "");
  EXPECT_EQ(env.at("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "1");
  EXPECT_EQ(env.at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=1M");
}

TEST(SliceLimits, OfOneAloneWhereOnlyThatIsAsked) {
  EXPECT_EQ(limits({"gpu", 1, DeviceShare(0), Bytes(1 << 30)}, kReal, ""),
            (Environment{{"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=1024M"}}));
  EXPECT_EQ(
      limits({"gpu", 1, DeviceShare(500)}, kReal, "/l.so").count("CUDA_DEVICE_MEMORY_LIMIT_0"), 0u);
}

TEST(SliceLimits, NothingForWholeEmulatedAndForeignDevices) {
  const DeviceRequest whole{"gpu", 1, kWholeDevice, Bytes(1 << 30)};
  const DeviceRequest slice{"gpu", 1, DeviceShare(250)};
  EXPECT_EQ(limits(whole, kReal, "/l.so"), Environment{});
  EXPECT_EQ(limits(slice, node_of(DeviceOrigin::kEmulated, "GPU-aa"), "/l.so"), Environment{});
  EXPECT_EQ(limits(slice, node_of(DeviceOrigin::kReal, "amd-0"), "/l.so"), Environment{});
}

}  // namespace
}  // namespace gridfold::local
