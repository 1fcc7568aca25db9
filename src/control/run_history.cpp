#include "control/run_history.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/records.h"
#include "wire/job_file.h"

namespace gridfold {
Result<JobRecord> read_ended_job(const KeyValue& entry, const records::FindNode& find_node) {
  const auto id = records::job_of_history_key(entry.key);
  if (!id) return id.error();
  try {
    const auto json = nlohmann::json::parse(entry.value);
    auto record = records::decode_job(*id, json.at("record").dump(), find_node);
    if (!record) return record;
    auto spec = parse_stored_job(json.at("spec").dump());
    if (!spec) return corrupt("record " + entry.key + ": " + spec.error().describe());
    record->spec = std::make_shared<const JobSpec>(std::move(*spec));
    return record;
  } catch (const std::exception& problem) {
    return corrupt("record " + entry.key + " does not read back: " + problem.what());
  }
}

Result<std::vector<JobRecord>> read_ended_jobs(Store& store, std::size_t most) {
  constexpr std::size_t kPage = 1000;
  std::vector<JobRecord> ended;
  std::string after;
  while (ended.size() < most) {
    const auto page = store.page("history/job/", after, std::min(kPage, most - ended.size()));
    if (!page) return page.error();
    if (page->empty()) break;
    for (const KeyValue& entry : *page) {
      auto record = read_ended_job(entry, [](std::string_view) { return NodeId(0); });
      if (!record) return record.error();
      ended.push_back(std::move(*record));
    }
    after = page->back().key;
  }
  std::sort(ended.begin(), ended.end(), [](const JobRecord& a, const JobRecord& b) {
    return std::pair(a.ended_at, a.id) < std::pair(b.ended_at, b.id);
  });
  return ended;
}

}  // namespace gridfold
