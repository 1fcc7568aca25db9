// A map from ids that are given out one after another to values: pages of 64
// neighbours, found by the page's number. Values stay where they are until
// they are erased; an id that is left alone costs a page.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gridfold {

template <class Id, class Value>
class IdMap {
 public:
  // Null when there is no value of this id.
  Value* find(Id id) {
    Page* page = find_page(id);
    return page == nullptr || !page->has(id) ? nullptr : &page->at(id);
  }
  const Value* find(Id id) const { return const_cast<IdMap*>(this)->find(id); }

  // The value of this id, made when there is none.
  Value& operator[](Id id) {
    Page* page = find_page(id);
    if (page == nullptr) page = &add_page(id);
    if (!page->has(id)) {
      page->present |= bit_of(id);
      ++size_;
    }
    return page->at(id);
  }

  bool erase(Id id) {
    Page* page = find_page(id);
    if (page == nullptr || !page->has(id)) return false;
    page->at(id) = Value();
    page->present &= ~bit_of(id);
    if (page->present == 0) remove_page(*page);
    --size_;
    return true;
  }

  std::size_t size() const { return size_; }

  // Calls visit(id, value) in order of id.
  template <class Visit>
  void for_each(Visit visit) const {
    std::vector<const Page*> pages;
    pages.reserve(pages_);
    for (const Link& bucket : buckets_) {
      for (const Page* page = bucket.get(); page != nullptr; page = page->next.get())
        pages.push_back(page);
    }
    std::sort(pages.begin(), pages.end(),
              [](const Page* a, const Page* b) { return a->number < b->number; });
    for (const Page* page : pages) {
      for (std::uint64_t i = 0; i < kPage; ++i) {
        if (page->present >> i & 1) visit(Id(page->number * kPage + i), page->values[i]);
      }
    }
  }

 private:
  static constexpr std::uint64_t kPage = 64;
  struct Page;
  using Link = std::unique_ptr<Page>;
  struct Page {
    std::uint64_t number = 0;
    std::uint64_t present = 0;  // bit i: values[i] is there
    Link next;                  // of the same bucket
    std::array<Value, kPage> values{};
    bool has(Id id) const { return (present & bit_of(id)) != 0; }
    Value& at(Id id) { return values[id.value % kPage]; }
  };
  static std::uint64_t number_of(Id id) { return id.value / kPage; }
  static std::uint64_t bit_of(Id id) { return std::uint64_t{1} << id.value % kPage; }

  // Neighbouring pages have buckets of their own.
  Link& bucket_of(std::uint64_t number) { return buckets_[number & (buckets_.size() - 1)]; }

  Page* find_page(Id id) {
    Page* page = bucket_of(number_of(id)).get();
    while (page != nullptr && page->number != number_of(id)) page = page->next.get();
    return page;
  }
  Page& add_page(Id id) {
    if (++pages_ > buckets_.size()) grow();
    Link page = std::make_unique<Page>();
    page->number = number_of(id);
    return put(std::move(page));
  }
  Page& put(Link page) {
    Link& bucket = bucket_of(page->number);
    page->next = std::move(bucket);
    bucket = std::move(page);
    return *bucket;
  }
  void remove_page(const Page& page) {
    Link* at = &bucket_of(page.number);
    while (at->get() != &page) at = &(*at)->next;
    Link removed = std::move(*at);
    *at = std::move(removed->next);
    --pages_;
  }
  void grow() {
    std::vector<Link> old(buckets_.size() * 2);
    std::swap(old, buckets_);
    for (Link& bucket : old) {
      while (bucket != nullptr) {
        Link page = std::move(bucket);
        bucket = std::move(page->next);
        put(std::move(page));
      }
    }
  }

  std::vector<Link> buckets_ = std::vector<Link>(16);  // a power of two
  std::size_t pages_ = 0;
  std::size_t size_ = 0;
};

}  // namespace gridfold
