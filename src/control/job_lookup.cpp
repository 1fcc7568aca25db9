#include "control/job_lookup.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "control/records.h"
#include "wire/job_file.h"

namespace gridfold {

void JobLookup::add(const JobRecord& record) {
  uids_[record.uid] = record.id;
  names_[{record.spec->tenant, record.spec->name}].insert(record.id);
}
void JobLookup::remove(const JobRecord& record) {
  uids_.erase(record.uid);
  const auto it = names_.find({record.spec->tenant, record.spec->name});
  if (it == names_.end()) return;
  it->second.erase(record.id);
  if (it->second.empty()) names_.erase(it);
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
  if (reference.size() >= 8) {
    const auto it = uids_.lower_bound(reference);
    if (it != uids_.end() && it->first.starts_with(reference)) {
      const auto next = std::next(it);
      if (next == uids_.end() || !next->first.starts_with(reference)) {
        if (const JobRecord* record = of_tenant(it->second)) return record;
      }
    }
  }
  const auto named = names_.find({std::string(tenant), std::string(reference)});
  return named == names_.end() ? nullptr : of_tenant(*named->second.rbegin());
}

Result<JobRecord> JobLookup::read_ended(std::string_view key, std::string_view value) const {
  const auto id = records::job_of_history_key(key);
  if (!id) return id.error();
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(value);
    const auto nodes = engine_.nodes();
    auto record = records::decode_job(*id, json.at("record").dump(), [&](std::string_view name) {
      for (const NodeRecord& node : nodes)
        if (node.spec.name == name) return node.id;
      return NodeId::none();
    });
    if (!record) return record;
    auto spec = parse_stored_job(json.at("spec").dump());
    if (!spec) return corrupt("record " + std::string(key) + ": " + spec.error().describe());
    record->spec = std::make_shared<const JobSpec>(std::move(*spec));
    return record;
  } catch (const std::exception& problem) {
    return corrupt("record " + std::string(key) + " does not read back: " + problem.what());
  }
}

Result<JobRecord> JobLookup::find_ended(std::string_view tenant, std::string_view reference) const {
  const auto by_id = [&](JobId id) -> Result<JobRecord> {
    const auto found = store_.load(records::history_key(id));
    if (!found) return found.error();
    if (found->entries.empty())
      return not_found("there is no job \"" + std::string(reference) + "\"");
    auto record = read_ended(found->entries[0].key, found->entries[0].value);
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
    auto record = read_ended(entry.key, entry.value);
    if (!record) return record.error();
    jobs.push_back(std::move(*record));
  }
  return jobs;
}

}  // namespace gridfold
