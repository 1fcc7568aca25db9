#include "apps/gridfold/communication_text.h"

#include <cstdio>

namespace gridfold {
namespace {

// Three digits: "1.25 s", "300 ms", "40.2 us".
std::string short_time(double seconds) {
  const char* unit = "s";
  if (seconds < 1e-3) {
    seconds *= 1e6;
    unit = "us";
  } else if (seconds < 1) {
    seconds *= 1e3;
    unit = "ms";
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.3g", seconds);
  // %g writes 1000 and more as a power; those are whole seconds.
  if (seconds >= 1000) std::snprintf(text, sizeof text, "%.0f", seconds);
  return std::string(text) + " " + unit;
}

std::string per_cent(const StepView& step) {
  char text[16];
  const double share = step.step_seconds > 0 ? step.communication_seconds / step.step_seconds : 0;
  std::snprintf(text, sizeof text, "%.0f", share * 100);
  return text;
}

}  // namespace

std::string communication_text(const CommunicationView& communication, Language language) {
  const bool chinese = language == Language::kChinese;
  if (!communication.here)
    return chinese ? "  预期通信时间未知：没有描述其节点的链路。\n"
                   : "  Expected communication: not known, since the links of its nodes are not "
                     "described.\n";
  const StepView& here = *communication.here;
  std::vector<Reason::Param> params = {{"time", short_time(here.communication_seconds)},
                                       {"step", short_time(here.step_seconds)},
                                       {"share", per_cent(here)},
                                       {"link", communication.slowest_link}};
  std::string text = fill_sentence(
      chinese ? "  预期通信时间：每步 {time}，占一步 {step} 的 {share} %，受限于 {link} 链路"
              : "  Expected communication: {time} of a step of {step} ({share} %), bound by {link} "
                "links",
      params);
  if (communication.best_other) {
    const StepView& other = *communication.best_other;
    params = {{"time", short_time(other.communication_seconds)},
              {"step", short_time(other.step_seconds)}};
    text += fill_sentence(chinese ? "；考虑过的其他位置中最快的为每步 {time}，一步共 {step}"
                                  : "; at the fastest other place considered {time} of {step}",
                          params);
  } else {
    text += chinese ? "；没有考虑其他位置" : "; no other place was considered";
  }
  return text + (chinese ? "。\n" : ".\n");
}

}  // namespace gridfold
