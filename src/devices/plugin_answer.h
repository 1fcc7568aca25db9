// Takes what a plug-in hands to a sink and makes checked values of it. Nothing
// here trusts the plug-in further than its pointers: sizes, texts, numbers and
// the amount are checked, and the first breach spoils the whole answer.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_report.h"
#include "gridfold/device_plugin.h"

namespace gridfold {

// Collects the items of one call. T is the value of ours, Item the plug-in's.
inline constexpr std::size_t kMaxPluginItems = 4096;

class AnswerCheck {
 public:
  // The first thing that broke the interface; empty: all is well.
  const std::string& breach() const { return breach_; }
  void fail(std::string what) {
    if (breach_.empty()) breach_ = std::move(what);
  }

  // A copy that ends where the plug-in's struct ends; later fields are zero.
  template <class Item>
  Item sized_copy(const Item* item) {
    Item copy{};
    if (item == nullptr || item->size < sizeof item->size) {
      fail("a struct without its size");
      return copy;
    }
    std::memcpy(&copy, item, item->size < sizeof copy ? item->size : sizeof copy);
    return copy;
  }
  // True when one more may be added to `list`.
  template <class List>
  bool room_in(const List& list) {
    if (list.size() >= kMaxPluginItems) fail("more than 4096 items in one answer");
    return breach_.empty();
  }
  // At most 4096 bytes of UTF-8 without control characters. NULL gives "".
  std::string text(const char* text, const char* field);
  // The same, but neither NULL nor empty.
  std::string required_text(const char* text, const char* field);
  // A known number in [0, high].
  Known<std::int64_t> number(const gridfold_device_number& number, std::int64_t high,
                             const char* field);
  Known<Bytes> bytes(const gridfold_device_number& number, const char* field);
  DeviceHealth health(std::int32_t health);

 private:
  std::string breach_;
};

DeviceReport to_report(const gridfold_device* item, AnswerCheck& check);
HealthReport to_health(const gridfold_device_health* item, AnswerCheck& check);
DeviceTelemetry to_telemetry(const gridfold_device_telemetry* item, AnswerCheck& check);
DeviceLink to_link(const gridfold_device_link* item, AnswerCheck& check);
PartitionProfile to_profile(const gridfold_partition_profile* item, AnswerCheck& check);
Partition to_partition(const gridfold_partition* item, AnswerCheck& check);
DeviceProcess to_process(const gridfold_device_process* item, AnswerCheck& check);

}  // namespace gridfold
