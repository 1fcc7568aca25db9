#include "control/idempotency.h"

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "control/records.h"

namespace gridfold {
namespace {

constexpr Duration kKept = Duration::hours(24);
constexpr int kLookedAtATime = 16;

}  // namespace

Result<const SubmitAnswer*> IdempotencyKeys::find(const SubmitRequest& request) const {
  const auto it = entries_.find({request.tenant, request.idempotency_key});
  if (request.idempotency_key.empty() || it == entries_.end()) return nullptr;
  if (it->second.digest != request.body_digest)
    return conflict("idempotency key \"" + request.idempotency_key +
                    "\" was used with another body");
  return &it->second.answer;
}

void IdempotencyKeys::add(const SubmitRequest& request, Instant now, const SubmitAnswer& answer) {
  if (request.idempotency_key.empty()) return;
  const Key key{request.tenant, request.idempotency_key};
  Entry& entry = entries_[key] = {request.body_digest, now, answer};
  entry.answer.repeated = true;
  new_.push_back(key);
}

void IdempotencyKeys::put_new(Transaction& transaction) const {
  for (const Key& key : new_)
    transaction.put.emplace_back(records::idempotency_key(key.first, key.second),
                                 encode(entries_.at(key)));
}

void IdempotencyKeys::forget_new() {
  for (const Key& key : new_) entries_.erase(key);
  new_.clear();
}

std::vector<std::string> IdempotencyKeys::expire(Instant now) {
  std::vector<std::string> expired;
  int looked = 0;
  for (auto it = entries_.begin(); it != entries_.end() && looked < kLookedAtATime; ++looked) {
    if (now - it->second.at <= kKept) {
      ++it;
      continue;
    }
    expired.push_back(records::idempotency_key(it->first.first, it->first.second));
    it = entries_.erase(it);
  }
  return expired;
}

std::string IdempotencyKeys::encode(const Entry& entry) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("digest").string(entry.digest).key("at").number(entry.at.ns);
  json.key("jobs").begin_array();
  for (const SubmittedJob& job : entry.answer.jobs)
    json.begin_array().number(job.id.value).string(job.uid).string(job.name).end_array();
  json.end_array().end_object();
  return out;
}

Result<void> IdempotencyKeys::restore(std::string_view key, std::string_view value) {
  // "live/key/TENANT/KEY"
  const std::string_view rest = key.substr(9);
  const std::size_t slash = rest.find('/');
  try {
    const auto json = nlohmann::json::parse(value);
    Entry entry;
    entry.digest = json.at("digest").get<std::string>();
    entry.at.ns = json.at("at").get<std::int64_t>();
    for (const auto& job : json.at("jobs"))
      entry.answer.jobs.push_back({JobId(job.at(0).get<std::uint64_t>()),
                                   job.at(1).get<std::string>(), job.at(2).get<std::string>()});
    entry.answer.repeated = true;
    entries_[{std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))}] =
        std::move(entry);
    return {};
  } catch (const std::exception& problem) {
    return corrupt("record " + std::string(key) + " does not read back: " + problem.what());
  }
}

}  // namespace gridfold
