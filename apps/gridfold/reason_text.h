// Reasons as sentences, in the reader's language. The API gives codes and
// numbers; here, and nowhere else, they become text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/reason.h"

namespace gridfold {

enum class Language : std::uint8_t { kEnglish, kChinese };

// `wish` is "en", "zh-CN" or empty: then LC_ALL, LC_MESSAGES and LANG decide.
Language choose_language(std::string_view wish);

// "Needs 8 gpu, 4 are free." A code this program does not know is shown as it
// is, with its parameters.
std::string reason_text(std::string_view code, const std::vector<Reason::Param>& params,
                        Language language);
// Writes the parameters in place of their "{name}".
std::string fill_sentence(std::string_view sentence, const std::vector<Reason::Param>& params);
// The template behind it, with "{name}" for each parameter.
std::string_view reason_template(ReasonCode code, Language language);

}  // namespace gridfold
