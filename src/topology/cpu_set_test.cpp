#include "topology/cpu_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "topology/pci_address.h"

namespace gridfold {
namespace {

std::string mask(std::string_view text) {
  const auto set = CpuSet::from_mask(text);
  return set ? set->to_text() : set.error().message;
}
std::string list(std::string_view text) {
  const auto set = CpuSet::from_list(text);
  return set ? set->to_text() : set.error().message;
}

TEST(CpuSet, MasksAreWordsTheHighestFirst) {
  EXPECT_EQ(mask("0x00000303,0x03030000,,0x03030303"),
            "0-1,8-9,16-17,24-25,80-81,88-89,96-97,104-105");
  EXPECT_EQ(mask("000000ff,ffff0000,00ffffff"), "0-23,48-71");
  EXPECT_EQ(mask("0x0"), "");
  EXPECT_EQ(mask("0x1,0x80000000"), "31-32");
  EXPECT_EQ(mask("0xffffffff,0xffffffff"), "0-63");
}

TEST(CpuSet, BadMasksSayWhy) {
  EXPECT_EQ(mask(""), "it is empty");
  EXPECT_EQ(mask("0xf...f"), "it is a set without end");
  EXPECT_EQ(mask("0xzz"), "it has a word that is not 1 to 8 hexadecimal digits");
  EXPECT_EQ(mask("0x100000000"), "it has a word that is not 1 to 8 hexadecimal digits");
  EXPECT_EQ(mask(std::string(3000, ',')), "it names processors from 65536 on");
}

TEST(CpuSet, ListsMelt) {
  EXPECT_EQ(list("0-3,4-7"), "0-7");
  EXPECT_EQ(list("9,1-2,0,8"), "0-2,8-9");
  EXPECT_EQ(CpuSet::from_list("48-63,176-191")->count(), 32);
}

TEST(CpuSet, BadListsSayWhy) {
  EXPECT_EQ(list(""), "it is not a list of numbers");
  EXPECT_EQ(list("1,"), "it is not a list of numbers");
  EXPECT_EQ(list("3-1"), "it has a range that ends before it begins");
  EXPECT_EQ(list("-1"), "it is not a list of numbers");
  EXPECT_EQ(list("65536"), "it names processors from 65536 on");
  EXPECT_EQ(list("4294967295"), "it names processors from 65536 on");
  EXPECT_EQ(list("4294967296"), "it is not a list of numbers");
}

RC_GTEST_PROP(CpuSet, HoldsWhatWasInsertedAndReadsBack, ()) {
  const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200));
  CpuSet set;
  for (const int number : numbers) set.insert(number, number);
  const std::set<int> expected(numbers.begin(), numbers.end());
  RC_ASSERT(set.count() == static_cast<std::int64_t>(expected.size()));
  for (int i = 0; i < 200; ++i) RC_ASSERT(set.contains(i) == (expected.count(i) > 0));
  if (!set.empty()) RC_ASSERT(*CpuSet::from_list(set.to_text()) == set);
}

std::string pci(std::string_view text) {
  const auto address = parse_pci_address(text);
  return address ? *address : address.error().message;
}

TEST(PciAddress, IsWrittenAlike) {
  EXPECT_EQ(pci("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(pci("00000000:3B:1F.7"), "0000:3b:1f.7");
  EXPECT_EQ(pci("10000:e1:00.0"), "10000:e1:00.0");
  EXPECT_EQ(pci_slot("0000:3b:00.1"), "0000:3b:00");
}

TEST(PciAddress, OthersAreRefused) {
  for (const auto text : {"", "3b:00.0", "0000:3b:00", "0000:3b:00.8", "0000:3b:20.0",
                          "0000:3b:00.0 ", "000000000:3b:00.0", "000g:3b:00.0"})
    EXPECT_EQ(pci(text), "\"" + std::string(text) + "\" is not a PCI address");
}

}  // namespace
}  // namespace gridfold
