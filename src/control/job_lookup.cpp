#include "control/job_lookup.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>

#include "control/records.h"
#include "control/run_history.h"

namespace gridfold {
namespace {

constexpr std::size_t kFewGone = 64;

}  // namespace

void JobLookup::add(const JobRecord& record) {
  assert(unindexed_.empty() || unindexed_.back() < record.id);
  unindexed_.push_back(record.id);
}

void JobLookup::remove(const JobRecord& record) {
  if (!unindexed_.empty() && unindexed_.front() <= record.id) {
    gone_.push_back(record.id);
    if (gone_.size() > unindexed_.size() / 2 + kFewGone) drop_gone();
    return;
  }
  index_.uids.erase(record.uid);
  const auto it = index_.names.find({record.spec->tenant, record.spec->name});
  if (it == index_.names.end()) return;
  it->second.erase(record.id);
  if (it->second.empty()) index_.names.erase(it);
}

void JobLookup::drop_gone() const {
  std::sort(gone_.begin(), gone_.end());
  auto gone = gone_.begin();
  std::size_t kept = 0;
  for (const JobId id : unindexed_) {
    if (gone != gone_.end() && *gone == id) {
      ++gone;
    } else {
      unindexed_[kept++] = id;
    }
  }
  assert(gone == gone_.end());
  unindexed_.resize(kept);
  gone_.clear();
}

// All jobs on record.
const JobLookup::Index& JobLookup::index() const {
  drop_gone();
  for (const JobId id : unindexed_) {
    const JobRecord* record = engine_.job(id);
    if (record == nullptr) continue;
    index_.uids[record->uid] = record->id;
    index_.names[{record->spec->tenant, record->spec->name}].insert(record->id);
  }
  unindexed_.clear();
  return index_;
}

namespace {

std::optional<JobId> as_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return JobId(number);
}

}  // namespace

const JobRecord* JobLookup::find(std::string_view tenant, std::string_view reference) const {
  const auto of_tenant = [&](JobId id) -> const JobRecord* {
    const JobRecord* record = engine_.job(id);
    return record != nullptr && record->spec->tenant == tenant && !is_terminal(record->state)
               ? record
               : nullptr;
  };
  if (const auto number = as_number(reference)) {
    if (const JobRecord* record = of_tenant(*number)) return record;
  }
  const Index& known = index();
  if (reference.size() >= 8) {
    const auto it = known.uids.lower_bound(reference);
    if (it != known.uids.end() && it->first.starts_with(reference)) {
      const auto next = std::next(it);
      if (next == known.uids.end() || !next->first.starts_with(reference)) {
        if (const JobRecord* record = of_tenant(it->second)) return record;
      }
    }
  }
  const auto named = known.names.find({std::string(tenant), std::string(reference)});
  return named == known.names.end() ? nullptr : of_tenant(*named->second.rbegin());
}

Result<JobRecord> JobLookup::read_ended(const KeyValue& entry) const {
  return read_ended_job(entry, [this](std::string_view name) {
    for (const NodeRecord& node : engine_.nodes())
      if (node.spec.name == name) return node.id;
    return NodeId::none();
  });
}

Result<JobRecord> JobLookup::find_ended(std::string_view tenant, std::string_view reference) const {
  const auto by_id = [&](JobId id) -> Result<JobRecord> {
    const auto found = store_.load(records::history_key(id));
    if (!found) return found.error();
    if (found->entries.empty())
      return not_found("there is no job \"" + std::string(reference) + "\"");
    auto record = read_ended(found->entries[0]);
    if (record && record->spec->tenant != tenant)
      return not_found("there is no job \"" + std::string(reference) + "\"");
    return record;
  };
  if (const auto number = as_number(reference)) {
    if (auto record = by_id(*number)) return record;
  }
  if (reference.size() >= 8) {
    const auto found = store_.page(records::history_uid_key(reference), "", 2);
    if (!found) return found.error();
    if (found->size() == 1) {
      if (const auto id = as_number((*found)[0].value)) return by_id(*id);
    }
  }
  const auto named = store_.page(records::history_name_prefix(tenant, reference), "", 1);
  if (!named) return named.error();
  if (!named->empty()) {
    if (const auto id = records::job_of_history_key((*named)[0].key)) return by_id(*id);
  }
  return not_found("there is no job \"" + std::string(reference) + "\"");
}

Result<std::vector<JobRecord>> JobLookup::ended(JobId before, std::size_t count) const {
  const std::string after = before.is_none() ? "" : records::history_key(before);
  const auto page = store_.page("history/job/", after, count);
  if (!page) return page.error();
  std::vector<JobRecord> jobs;
  for (const KeyValue& entry : *page) {
    auto record = read_ended(entry);
    if (!record) return record.error();
    jobs.push_back(std::move(*record));
  }
  return jobs;
}

}  // namespace gridfold
