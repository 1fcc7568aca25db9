// Helpers for text from outside: quoting, nearest words, UTF-8, base64.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "base/base64.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace gridfold {
namespace {

TEST(Text, QuotesWhatCameFromOutside) {
  EXPECT_EQ(quote("256m"), "\"256m\"");
  EXPECT_EQ(quote("a\"b\\\n\t\x01\x7f"), "\"a\\\"b\\\\\\n\\t\\x01\\x7f\"");
  EXPECT_EQ(quote(std::string(60, 'a')), "\"" + std::string(60, 'a') + "\"");
  EXPECT_EQ(quote(std::string(61, 'a')), "\"" + std::string(60, 'a') + "…\"");
  EXPECT_TRUE(is_valid_utf8(quote(std::string(59, 'a') + "作业作业")));
}

TEST(Text, FindsTheWordThatWasMeant) {
  static constexpr std::array<std::string_view, 5> kWords = {"gpu", "gpu_model", "cpu", "memory",
                                                             "checkpoint"};
  EXPECT_EQ(nearest("gpus", kWords), "gpu");
  EXPECT_EQ(nearest("memroy", kWords), "memory");
  EXPECT_EQ(nearest("gpu-model", kWords), "gpu_model");
  EXPECT_EQ(nearest("chekpiont", kWords), "checkpoint");
  EXPECT_EQ(nearest("gpu", kWords), "gpu");
  EXPECT_EQ(nearest("xyz", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'g'), kWords), "");
}

TEST(Text, KnowsWellFormedUtf8) {
  for (const auto* text : {"", "plain", "Grüße 作业 🙂", "\xEF\xBB\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_valid_utf8(text)) << text;
  for (const auto* text : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xC3", "\xE4\xBD", "ok\xFF"})
    EXPECT_FALSE(is_valid_utf8(text));
  EXPECT_EQ(first_invalid_utf8("0123456789\xFF"), 10u);
}

TEST(Text, Base64ReadsBack) {
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_TRUE(rc::check(
      [](const std::string& bytes) { RC_ASSERT(from_base64(to_base64(bytes)) == bytes); }));
  for (const auto* text : {"Z", "Zg=", "Zh==", "Z===", "====", "Zg==\n", "Zm9v Zm9v", "Zm9-"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace gridfold
