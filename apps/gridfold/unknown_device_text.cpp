#include "apps/gridfold/unknown_device_text.h"

namespace gridfold {

std::string unknown_device_text(const UnknownDevice& unknown, Language language) {
  if (language == Language::kChinese) {
    return "队列 " + unknown.queue + " 的配置中写了 " + unknown.device +
           "，但没有任何节点有这种设备，因此不起作用" +
           (unknown.nearest.empty() ? "" : "（是否想写 " + unknown.nearest + "？）");
  }
  return "queue " + unknown.queue + " names " + unknown.device +
         ", which no node has: it has no effect" +
         (unknown.nearest.empty() ? "" : " (did you mean " + unknown.nearest + "?)");
}

}  // namespace gridfold
