#include "stores/memory/memory_store.h"

#include <gtest/gtest.h>

#include <thread>

namespace gridfold {
namespace {

TEST(MemoryStore, WithoutALogEveryWatcherRelists) {
  MemoryStore store({.kept_changes = 0});
  ASSERT_TRUE(store.changes_after(0, 1));
  ASSERT_TRUE(store.commit({.put = {{"a", "1"}}}));
  EXPECT_EQ(store.changes_after(0, 1).error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(store.changes_after(1, 1)->empty());
}

TEST(MemoryStore, KeepsExactlyTheNewestChanges) {
  MemoryStore store({.kept_changes = 5});
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(store.commit({.put = {{"a", std::to_string(i)}, {"b", ""}}}));
  // Five changes would cut revision 18 in two, so its first change stays too.
  EXPECT_EQ(store.changes_after(17, 100)->size(), 6u);
  EXPECT_FALSE(store.changes_after(16, 100));
}

TEST(MemoryStore, KeepsACommitLargerThanTheLog) {
  MemoryStore store({.kept_changes = 2});
  ASSERT_TRUE(store.commit({.put = {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}}));
  EXPECT_EQ(store.changes_after(0, 1)->size(), 4u);
}

TEST(MemoryStore, ReadersSeeWholeCommits) {
  MemoryStore store;
  ASSERT_TRUE(store.commit({.put = {{"a", "0"}, {"b", "0"}}}));
  std::thread reader([&] {
    for (int i = 0; i < 2000; ++i) {
      auto snapshot = store.load("");
      ASSERT_EQ(snapshot->entries[0].value, snapshot->entries[1].value);
      ASSERT_EQ(snapshot->entries[0].revision, snapshot->revision);
    }
  });
  for (int i = 1; i <= 2000; ++i) {
    const std::string value = std::to_string(i);
    ASSERT_TRUE(store.commit({.put = {{"a", value}, {"b", value}}}));
  }
  reader.join();
}

}  // namespace
}  // namespace gridfold
