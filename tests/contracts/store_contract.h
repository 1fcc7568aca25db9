// What every store must do. A store joins with a harness and one line:
//
//   INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
//                            testing::Values(StoreUnderTest{"Memory", make_memory_harness}),
//                            store_name);
//
// Included by one source file of a test program.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "control/store.h"

namespace gridfold {

// One store and its place; an empty one at first.
class StoreHarness {
 public:
  virtual ~StoreHarness() = default;
  virtual Store& store() = 0;
  // Ends the connection and opens the same data again. A store in memory is
  // its own place: it stays.
  virtual Store& reopen() = 0;
  // After this many further changes an old one is certainly no longer kept;
  // the newest kept_changes() always are.
  virtual std::size_t changes_until_gone() const = 0;
  virtual std::size_t kept_changes() const = 0;
};

struct StoreUnderTest {
  std::string name;
  std::function<std::unique_ptr<StoreHarness>()> make_harness;
  friend void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }
};

inline std::string store_name(const testing::TestParamInfo<StoreUnderTest>& info) {
  return info.param.name;
}

class StoreContract : public testing::TestWithParam<StoreUnderTest> {
 protected:
  Store& store() { return harness_->store(); }
  StoreHarness& harness() { return *harness_; }

  Revision put(const std::string& key, const std::string& value) {
    auto revision = store().commit({.put = {{key, value}}});
    EXPECT_TRUE(revision) << revision.error().describe();
    return revision.value_or(0);
  }

  std::vector<std::string> keys(std::string_view prefix) {
    std::vector<std::string> found;
    auto snapshot = store().load(prefix);
    EXPECT_TRUE(snapshot) << snapshot.error().describe();
    for (const auto& entry : snapshot->entries) found.push_back(entry.key);
    return found;
  }

  std::optional<KeyValue> get(const std::string& key) {
    auto snapshot = store().load(key);
    EXPECT_TRUE(snapshot) << snapshot.error().describe();
    for (auto& entry : snapshot->entries)
      if (entry.key == key) return entry;
    return std::nullopt;
  }

  std::vector<Change> changes(Revision from, std::size_t count = 1000) {
    auto found = store().changes_after(from, count);
    EXPECT_TRUE(found) << found.error().describe();
    return found ? *found : std::vector<Change>{};
  }

 private:
  std::unique_ptr<StoreHarness> harness_ = GetParam().make_harness();
};

using Keys = std::vector<std::string>;

TEST_P(StoreContract, AnEmptyStoreIsAtRevisionZero) {
  auto snapshot = store().load("");
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE(snapshot->entries.empty());
  EXPECT_EQ(snapshot->revision, 0u);
  EXPECT_TRUE(changes(0).empty());
}

TEST_P(StoreContract, EveryChangingCommitGetsTheNextRevision) {
  EXPECT_EQ(put("a", "1"), 1u);
  EXPECT_EQ(put("b", "2"), 2u);
  EXPECT_EQ(put("a", "3"), 3u);
  EXPECT_EQ(get("a")->revision, 3u);
  EXPECT_EQ(get("a")->value, "3");
  EXPECT_EQ(get("b")->revision, 2u);
  EXPECT_EQ(store().load("b")->revision, 3u);
}

TEST_P(StoreContract, ACommitThatChangesNothingKeepsTheRevision) {
  EXPECT_EQ(*store().commit({}), 0u);
  put("a", "1");
  EXPECT_EQ(*store().commit({}), 1u);
  EXPECT_EQ(*store().commit({.compare = {{"a", 1}}}), 1u);
  EXPECT_EQ(*store().commit({.erase = {"missing"}}), 1u);
  EXPECT_EQ(changes(0).size(), 1u);
  // The same value again is a change: somebody wrote.
  EXPECT_EQ(put("a", "1"), 2u);
}

TEST_P(StoreContract, ComparesPresentAbsentAndStale) {
  EXPECT_TRUE(store().commit({.compare = {{"a", 0}}, .put = {{"a", "1"}}}));
  EXPECT_TRUE(store().commit({.compare = {{"a", 1}}, .put = {{"a", "2"}}}));
  EXPECT_TRUE(store().commit({.compare = {{"a", 2}, {"b", 0}}, .put = {{"b", "1"}}}));

  for (const Compare& wrong : {Compare{"a", 0}, Compare{"a", 1}, Compare{"missing", 3}}) {
    auto refused = store().commit({.compare = {{"b", 3}, wrong}, .put = {{"c", "1"}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kConflict);
    EXPECT_NE(refused.error().message.find('"' + wrong.key + '"'), std::string::npos)
        << refused.error().describe();
  }
  EXPECT_EQ(keys(""), (Keys{"a", "b"}));
  EXPECT_EQ(store().load("")->revision, 3u);
}

TEST_P(StoreContract, ComparesBeforeItWrites) {
  put("a", "1");
  auto swapped =
      store().commit({.compare = {{"a", 1}, {"b", 0}}, .put = {{"b", "1"}}, .erase = {"a"}});
  ASSERT_TRUE(swapped) << swapped.error().describe();
  EXPECT_EQ(keys(""), Keys{"b"});
}

TEST_P(StoreContract, AKeyErasedAndWrittenAgainIsNotTheOldOne) {
  put("a", "1");
  ASSERT_TRUE(store().commit({.erase = {"a"}}));
  EXPECT_FALSE(get("a"));
  EXPECT_TRUE(store().commit({.compare = {{"a", 0}}, .put = {{"a", "2"}}}));
  EXPECT_FALSE(store().commit({.compare = {{"a", 1}}, .put = {{"a", "3"}}}));
  EXPECT_EQ(get("a")->revision, 3u);
}

TEST_P(StoreContract, RefusesBadKeysWholly) {
  for (const std::string& bad :
       {std::string(), std::string("a\0b", 3), std::string("live/\xFF"), std::string("\xC3"),
        std::string("\xED\xA0\x80"), std::string("\xC0\x80")}) {
    auto refused = store().commit({.put = {{"fine", "1"}, {bad, "2"}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
    EXPECT_FALSE(store().commit({.erase = {bad}}));
    EXPECT_FALSE(store().commit({.compare = {{bad, 0}}}));
  }
  EXPECT_TRUE(keys("").empty());
}

TEST_P(StoreContract, RefusesAKeyWrittenTwice) {
  const Transaction twice[] = {{.put = {{"a", "1"}, {"b", "2"}, {"a", "3"}}},
                               {.put = {{"a", "1"}}, .erase = {"a"}},
                               {.erase = {"a", "a"}}};
  for (const auto& transaction : twice) {
    auto refused = store().commit(transaction);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(refused.error().message.find("\"a\""), std::string::npos);
  }
  EXPECT_EQ(store().load("")->revision, 0u);
}

TEST_P(StoreContract, HoldsItsLimitOfOperations) {
  const std::size_t most = store().limits().operations;
  Transaction transaction{.compare = {{"absent", 0}}, .erase = {"gone"}};
  for (std::size_t i = 0; i + 2 < most; ++i)
    transaction.put.push_back({"live/" + std::to_string(i), "v"});
  ASSERT_TRUE(store().commit(transaction));
  transaction.put.push_back({"more", "v"});
  auto refused = store().commit(transaction);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
  EXPECT_NE(refused.error().message.find(std::to_string(most + 1)), std::string::npos);
  EXPECT_EQ(keys("").size(), most - 2);
}

TEST_P(StoreContract, HoldsItsLimitOfBytes) {
  const std::size_t most = store().limits().bytes;
  Transaction transaction{.put = {{"key", std::string(most - 3, 'x')}}};
  ASSERT_TRUE(store().commit(transaction));
  EXPECT_EQ(get("key")->value.size(), most - 3);
  transaction.put[0].second += 'x';
  auto refused = store().commit(transaction);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
}

TEST_P(StoreContract, LoadsByPrefixInOrderOfBytes) {
  for (const char* key : {"live/b", "live/a", "live", "live/", "live/a/1", "live0", "history/1",
                          "live/é", "live/z", "live/A"})
    put(key, "");
  EXPECT_EQ(keys("live/"),
            (Keys{"live/", "live/A", "live/a", "live/a/1", "live/b", "live/z", "live/é"}));
  EXPECT_EQ(keys("live/a"), (Keys{"live/a", "live/a/1"}));
  EXPECT_EQ(keys("nothing"), Keys{});
  EXPECT_EQ(keys("").size(), 10u);
}

TEST_P(StoreContract, PagesThroughHistory) {
  put("history", "");
  put("live/1", "");
  Keys written;
  for (int i = 0; i < 25; ++i) {
    const std::string number = std::to_string(100 + i);
    written.push_back("history/" + number);
    put(written.back(), number);
  }
  Keys read;
  std::string after;
  for (;;) {
    auto page = store().page("history/", after, 10);
    ASSERT_TRUE(page) << page.error().describe();
    EXPECT_LE(page->size(), 10u);
    for (const auto& entry : *page) {
      read.push_back(entry.key);
      EXPECT_EQ("history/" + entry.value, entry.key);
    }
    if (page->size() < 10) break;
    after = page->back().key;
  }
  EXPECT_EQ(read, written);
  EXPECT_EQ(store().page("history/", "history/1245", 10)->size(), 0u);
  EXPECT_EQ(store().page("history/", "history/1235", 10)->at(0).key, "history/124");
  EXPECT_EQ(store().page("history/", "a", 1)->at(0).key, "history/100");
  EXPECT_EQ(store().page("history/", "z", 1)->size(), 0u);
  EXPECT_EQ(store().page("history/", "", 0).error().kind, ErrorKind::kInvalid);
}

TEST_P(StoreContract, TellsEachChangeOnceInOrder) {
  ASSERT_TRUE(store().commit({.put = {{"a", "1"}, {"b", "2"}}}));
  ASSERT_TRUE(store().commit({.put = {{"c", "3"}}, .erase = {"a", "missing"}}));
  put("c", "4");

  const auto all = changes(0);
  ASSERT_EQ(all.size(), 5u);
  const struct {
    Revision revision;
    Change::Kind kind;
    const char* key;
    const char* value;
  } expected[] = {{1, Change::Kind::kPut, "a", "1"},
                  {1, Change::Kind::kPut, "b", "2"},
                  {2, Change::Kind::kPut, "c", "3"},
                  {2, Change::Kind::kErase, "a", ""},
                  {3, Change::Kind::kPut, "c", "4"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].entry.revision, expected[i].revision);
    EXPECT_EQ(all[i].kind, expected[i].kind);
    EXPECT_EQ(all[i].entry.key, expected[i].key);
    EXPECT_EQ(all[i].entry.value, expected[i].value);
  }
  EXPECT_EQ(changes(1).size(), 3u);
  EXPECT_TRUE(changes(3).empty());
  // Whole revisions, at least one.
  EXPECT_EQ(changes(0, 0).size(), 2u);
  EXPECT_EQ(changes(0, 1).size(), 2u);
  EXPECT_EQ(changes(0, 2).size(), 2u);
  EXPECT_EQ(changes(0, 3).size(), 4u);
}

TEST_P(StoreContract, AWatchResumesFromItsToken) {
  Revision token = 0;
  Keys seen;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(
        store().commit({.put = {{"a" + std::to_string(i), ""}, {"b" + std::to_string(i), ""}}}));
    if (i % 7 != 0) continue;
    for (auto batch = changes(token, 3); !batch.empty(); batch = changes(token, 3)) {
      for (const auto& change : batch) seen.push_back(change.entry.key);
      token = batch.back().entry.revision;
    }
  }
  ASSERT_EQ(seen.size(), 72u);
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], (i % 2 == 0 ? "a" : "b") + std::to_string(i / 2));
}

TEST_P(StoreContract, SaysWhenChangesAreGone) {
  const std::size_t until_gone = harness().changes_until_gone();
  for (std::size_t i = 0; i < until_gone; i += 3)
    ASSERT_TRUE(store().commit({.put = {{"a", "1"}, {"b", "1"}, {"c", "1"}}}));
  auto gone = store().changes_after(0, 10);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(gone.error().describe().find("relist"), std::string::npos);
  EXPECT_NE(gone.error().describe().find("gone"), std::string::npos);

  const Revision now = store().load("")->revision;
  const std::size_t revisions = harness().kept_changes() / 3;
  EXPECT_EQ(changes(now - revisions, 100'000).size(), revisions * 3);
  // What is kept is whole: the first revision that is answered has all three.
  for (Revision from = 0; from < now; ++from) {
    auto kept = store().changes_after(from, 100'000);
    if (!kept) continue;
    EXPECT_EQ(kept->size(), (now - from) * 3);
    break;
  }
  EXPECT_TRUE(changes(now).empty());
}

TEST_P(StoreContract, ATokenFromTheFutureIsGoneToo) {
  put("a", "1");
  EXPECT_EQ(store().changes_after(2, 10).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(store().changes_after(~Revision{0}, 10).error().kind, ErrorKind::kNotFound);
}

TEST_P(StoreContract, KeepsAnyBytes) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  std::string large;
  while (large.size() < 1'200'000) large += every_byte;
  const std::map<std::string, std::string> values{
      {"empty", ""}, {"nul", std::string(3, '\0')}, {"every", every_byte}, {"large", large}};
  for (const auto& [key, value] : values) put(key, value);
  put("large", large + "!");
  harness().reopen();
  for (const auto& [key, value] : values)
    EXPECT_TRUE(get(key)->value == (key == "large" ? value + "!" : value)) << key;
  for (const auto& change : changes(0, 4))
    EXPECT_TRUE(change.entry.value == values.at(change.entry.key)) << change.entry.key;
}

TEST_P(StoreContract, ReopeningKeepsEverything) {
  ASSERT_TRUE(store().commit({.put = {{"live/a", "1"}, {"live/b", "2"}, {"history/1", "3"}}}));
  ASSERT_TRUE(store().commit({.put = {{"live/c", "4"}}, .erase = {"live/b"}}));
  harness().reopen();
  EXPECT_EQ(keys(""), (Keys{"history/1", "live/a", "live/c"}));
  EXPECT_EQ(get("live/a")->revision, 1u);
  EXPECT_EQ(changes(1).size(), 2u);
  EXPECT_EQ(put("live/d", "5"), 3u);
  ASSERT_TRUE(store().commit({.erase = {"history/1", "live/a", "live/c", "live/d"}}));
  harness().reopen();
  // The revision outlives the last key.
  EXPECT_EQ(store().load("")->revision, 4u);
  EXPECT_EQ(put("x", ""), 5u);
}

// ---- any sequence of commits against a map --------------------------------

struct StoreModel {
  std::map<std::string, KeyValue> entries;
  std::vector<Change> log;
  Revision revision = 0;

  bool holds(const Compare& compare) const {
    const auto at = entries.find(compare.key);
    return (at == entries.end() ? 0 : at->second.revision) == compare.expected;
  }

  // Empty when a compare fails.
  std::optional<Revision> commit(const Transaction& transaction) {
    for (const auto& compare : transaction.compare)
      if (!holds(compare)) return std::nullopt;
    const Revision next = revision + 1;
    for (const auto& [key, value] : transaction.put) {
      entries[key] = {key, value, next};
      log.push_back({Change::Kind::kPut, {key, value, next}});
      revision = next;
    }
    for (const auto& key : transaction.erase) {
      if (entries.erase(key) == 0) continue;
      log.push_back({Change::Kind::kErase, {key, "", next}});
      revision = next;
    }
    return revision;
  }
};

inline bool same(const KeyValue& a, const KeyValue& b) {
  return a.key == b.key && a.value == b.value && a.revision == b.revision;
}

// Few keys, so that they meet; compares that are mostly right.
inline Transaction arbitrary_transaction(const StoreModel& model) {
  const auto key = [] {
    return *rc::gen::element<std::string>("live/a", "live/b", "live/ab", "live", "history/1", "é");
  };
  Transaction transaction;
  std::map<std::string, int> written;
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
    const std::string chosen = key();
    if (written[chosen]++ > 0) continue;
    if (*rc::gen::inRange(0, 3) == 0)
      transaction.erase.push_back(chosen);
    else
      transaction.put.push_back({chosen, *rc::gen::arbitrary<std::string>()});
  }
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n) {
    const std::string chosen = key();
    const auto at = model.entries.find(chosen);
    Revision expected = at == model.entries.end() ? 0 : at->second.revision;
    if (*rc::gen::inRange(0, 5) == 0) expected = *rc::gen::inRange<Revision>(0, 10);
    transaction.compare.push_back({chosen, expected});
  }
  return transaction;
}

inline void check_against_model(Store& store, const StoreModel& model, Revision token) {
  auto snapshot = store.load("");
  RC_ASSERT(static_cast<bool>(snapshot));
  RC_ASSERT(snapshot->revision == model.revision);
  RC_ASSERT(snapshot->entries.size() == model.entries.size());
  std::size_t i = 0;
  for (const auto& [key, entry] : model.entries) RC_ASSERT(same(snapshot->entries[i++], entry));

  auto changes = store.changes_after(token, 1'000'000);
  RC_ASSERT(static_cast<bool>(changes));
  std::vector<Change> expected;
  for (const auto& change : model.log)
    if (change.entry.revision > token) expected.push_back(change);
  RC_ASSERT(changes->size() == expected.size());
  for (i = 0; i < expected.size(); ++i) {
    RC_ASSERT((*changes)[i].kind == expected[i].kind);
    RC_ASSERT(same((*changes)[i].entry, expected[i].entry));
  }
}

TEST_P(StoreContract, AnySequenceOfCommitsActsLikeAMap) {
  const bool holds = rc::check("any sequence of commits acts like a map", [&] {
    auto harness = GetParam().make_harness();
    StoreModel model;
    for (int n = *rc::gen::inRange(1, 25); n > 0; --n) {
      const Transaction transaction = arbitrary_transaction(model);
      const auto expected = model.commit(transaction);
      auto committed = harness->store().commit(transaction);
      RC_ASSERT(committed.has_value() == expected.has_value());
      if (expected) RC_ASSERT(*committed == *expected);
      if (!expected) RC_ASSERT(committed.error().kind == ErrorKind::kConflict);
      if (*rc::gen::inRange(0, 10) == 0) harness->reopen();
    }
    check_against_model(harness->store(), model,
                        *rc::gen::inRange<Revision>(0, model.revision + 1));
  });
  EXPECT_TRUE(holds);
}

}  // namespace gridfold
