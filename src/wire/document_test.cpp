#include "wire/document.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

using Kind = DocumentNode::Kind;

Result<std::vector<DocumentNode>> yaml(std::string_view text) {
  return read_documents(text, DocumentFormat::kYaml);
}
Result<std::vector<DocumentNode>> json(std::string_view text) {
  return read_documents(text, DocumentFormat::kJson);
}

std::string place(TextPosition position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

TEST(Document, YamlScalarsKeepTheirTextAndPlace) {
  const auto documents = yaml("a: 1.50\nb: 'x'\nc:\n  - true\n  - yes\n  - ~\nd: \"8\"\n");
  ASSERT_TRUE(documents) << documents.error().describe();
  const DocumentNode& root = documents->front();
  EXPECT_EQ(root.find("a")->kind, Kind::kNumber);
  EXPECT_EQ(root.find("a")->text, "1.50");
  EXPECT_EQ(place(root.find("a")->position), "1:4");
  EXPECT_EQ(root.find("b")->kind, Kind::kString);
  EXPECT_EQ(root.find("c")->entries[0].value.kind, Kind::kBool);
  EXPECT_EQ(root.find("c")->entries[1].value.kind, Kind::kString);
  EXPECT_EQ(root.find("c")->entries[2].value.kind, Kind::kNull);
  EXPECT_EQ(place(root.find("c")->entries[1].value.position), "5:5");
  EXPECT_TRUE(root.find("d")->quoted);
  EXPECT_EQ(root.find("d")->kind, Kind::kString);
  EXPECT_EQ(place(root.entries[3].key_position), "7:1");
}

TEST(Document, JsonScalarsKeepTheirTextAndPlace) {
  const auto documents =
      json("{\"a\": 1.50,\n \"b\" : [ 7,-1e5,true ,null],\n\"c\":{\"d\":\"x\\ny\"}}\n");
  ASSERT_TRUE(documents) << documents.error().describe();
  const DocumentNode& root = documents->front();
  EXPECT_EQ(root.find("a")->text, "1.50");
  EXPECT_EQ(place(root.find("a")->position), "1:7");
  const auto& list = root.find("b")->entries;
  EXPECT_EQ(place(root.find("b")->position), "2:8");
  EXPECT_EQ(list[0].value.text, "7");
  EXPECT_EQ(list[1].value.text, "-1e5");
  EXPECT_EQ(place(list[1].value.position), "2:12");
  EXPECT_EQ(list[2].value.kind, Kind::kBool);
  EXPECT_EQ(list[3].value.kind, Kind::kNull);
  EXPECT_EQ(root.find("c")->find("d")->text, "x\ny");
  EXPECT_EQ(place(root.entries[2].key_position), "3:1");
  EXPECT_EQ(place(root.find("c")->entries[0].key_position), "3:6");
}

TEST(Document, NumbersBeyondAnyIntegerStayText) {
  EXPECT_EQ(json("[99999999999999999999999]")->front().entries[0].value.text,
            "99999999999999999999999");
  EXPECT_EQ(json("9223372036854775807")->front().text, "9223372036854775807");
}

TEST(Document, DuplicateKeysAreRefused) {
  for (const auto& result : {yaml("a: 1\nb: 2\na: 3\n"), json("{\"a\":1,\n\"b\":2,\n\"a\":3}")}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the key \"a\" is given twice, first on line 1");
    EXPECT_EQ(place(result.error().position), "3:1");
  }
}

TEST(Document, SizeIsLimited) {
  EXPECT_EQ(yaml(std::string(kMaxYamlBytes + 1, ' ')).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(json(std::string(kMaxJsonBytes + 1, ' ')).error().kind, ErrorKind::kLimit);
  std::string many = "[1";
  for (std::size_t i = 0; i < kMaxDocumentNodes; ++i) many += ",1";
  EXPECT_EQ(json(many + "]").error().kind, ErrorKind::kLimit);
}

TEST(Document, DepthIsLimited) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(json(nested(64)));
  EXPECT_TRUE(yaml(nested(64)));
  EXPECT_EQ(json(nested(65)).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(yaml(nested(65)).error().kind, ErrorKind::kLimit);
  EXPECT_FALSE(json(std::string(200'000, '[')));
  EXPECT_FALSE(yaml(std::string(200'000, '[')));
  EXPECT_FALSE(yaml(std::string(100'000, '{')));
  std::string block;
  for (int i = 0; i < 400; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_EQ(yaml(block).error().kind, ErrorKind::kLimit);
}

TEST(Document, AliasesAreCopiesWithinLimits) {
  const auto documents = yaml("a: &x {b: 1}\nc: *x\n");
  ASSERT_TRUE(documents);
  EXPECT_EQ(documents->front().find("c")->find("b")->text, "1");

  std::string many = "a: &x 1\nb: [";
  for (int i = 0; i < 101; ++i) many += "*x, ";
  EXPECT_EQ(yaml(many + "]").error().kind, ErrorKind::kLimit);

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string from = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + from;
    for (int k = 0; k < 9; ++k) bomb += ", " + from;
    bomb += "]\n";
  }
  EXPECT_EQ(yaml(bomb).error().kind, ErrorKind::kLimit);
  std::string wide = "a: &x " + std::string(900'000, 'y') + "\nb: [";
  for (int i = 0; i < 99; ++i) wide += "*x, ";
  EXPECT_EQ(yaml(wide + "]").error().kind, ErrorKind::kLimit);

  EXPECT_FALSE(yaml("a: &x [*x]\n"));
  EXPECT_FALSE(yaml("a: *x\n"));
}

TEST(Document, OddYamlIsRefusedWithAReason) {
  EXPECT_EQ(yaml("a: !!binary eA==\n").error().message,
            "the tag \"tag:yaml.org,2002:binary\" is not supported");
  EXPECT_EQ(yaml("a: {<<: {b: 1}}\n").error().message, "merge keys (<<) are not supported");
  EXPECT_EQ(yaml("{a: 1}: b\n").error().message, "a key must be text, not a map");
  EXPECT_FALSE(yaml("a: [1\n"));
  EXPECT_FALSE(yaml("\t- a\n"));
  for (const auto* text : {"a: \"x\n", "a: 'x\n", "a: \"x", "a: 1\nb\n", "a: [\"x\n"})
    EXPECT_FALSE(yaml(text)) << text;
  EXPECT_EQ(yaml("").error().message, "the text is empty");
  EXPECT_EQ(yaml("# nothing\n").error().message, "the text is empty");
}

TEST(Document, BlocksOfTextKeepTheirLineEnds) {
  EXPECT_EQ(yaml("a: |\n  x\n  y\n")->front().find("a")->text, "x\ny\n");
  EXPECT_EQ(yaml("a: |-\n  x\n")->front().find("a")->text, "x");
  EXPECT_EQ(yaml("a: |+\n  x\n\n")->front().find("a")->text, "x\n\n");
  EXPECT_EQ(yaml("a: |\n  x")->front().find("a")->text, "x");
  EXPECT_TRUE(yaml("a: |\n  5\n")->front().find("a")->quoted);
}

TEST(Document, SeveralYamlDocuments) {
  const auto documents = yaml("a: 1\n---\n---\nb: &x 2\n...\n---\nc: 3\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_EQ((*documents)[1].find("b")->text, "2");
  EXPECT_FALSE(yaml("a: &x 1\n---\nb: *x\n")) << "anchors end with their document";
}

TEST(Document, OddJsonIsRefusedWithAPlace) {
  for (const auto* text : {"", " ", "{", "{\"a\":}", "[1,]", "nul", "[1] 2", "{\"a\" 1}", "'a'",
                           "\"\\ud800\"", "1e999", "[01]", "NaN", "[\"\x01\"]"})
    EXPECT_FALSE(json(text)) << text;
  const auto missing = json("{\n  \"a\": 1,\n}");
  ASSERT_FALSE(missing);
  EXPECT_EQ(place(missing.error().position), "3:1");
}

TEST(Document, TextThatIsNotUtf8IsRefusedWithAPlace) {
  for (const auto& result : {yaml("a: 1\nb: \xff\n"), json("{\"a\":\n\"\xC0\xAF\"}")}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the text is not UTF-8");
    EXPECT_EQ(result.error().position.line, 2);
  }
}

}  // namespace
}  // namespace gridfold
