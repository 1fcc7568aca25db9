// Records as they are stored: the keys, and the JSON values. Written by hand
// for speed, read with care: whatever does not read back is kCorrupt, with the
// key's name, and nothing is guessed.
//
//   live/meta              {"schema": 1, "epoch": 3, "next_job": 43}
//   live/node/NAME         spec, drained, dirty devices, reason
//   live/job/NUMBER        state of a job that has not ended
//   live/spec/NUMBER       what was submitted, once
//   live/schedule/NAME     when a scheduled batch is next submitted
//   live/key/TENANT/KEY    the answer to an idempotent submission
//   live/usage/QUEUE       what it has held lately, as of its last change
//   live/usage/QUEUE:TENANT
//   history/job/~NUMBER    an ended job, newest first
//   history/uid/UID        its number
//   history/name/TENANT/NAME/~NUMBER
#pragma once

#include <functional>
#include <span>

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/record.h"
#include "model/usage_record.h"

namespace gridfold::records {

inline constexpr int kSchema = 1;

struct Meta {
  std::uint64_t epoch = 0;  // counts the daemons that have owned the store
  std::uint64_t next_job = 1;
};
std::string encode(const Meta& meta);
Result<Meta> decode_meta(std::string_view value);

std::string job_key(JobId id);  // zero-padded, so that order is number
std::string spec_key(JobId id);
std::string node_key(std::string_view name);
std::string idempotency_key(std::string_view tenant, std::string_view key);
std::string history_key(JobId id);  // complemented, so that order is newest first
std::string history_uid_key(std::string_view uid);
std::string history_name_prefix(std::string_view tenant, std::string_view name);
std::string history_name_key(std::string_view tenant, std::string_view name, JobId id);
Result<JobId> job_of_key(std::string_view key);
Result<JobId> job_of_history_key(std::string_view key);

// Everything of the record but its spec. `nodes` gives names to NodeIds.
std::string encode_job(const JobRecord& record, std::span<const NodeRecord> nodes);
// `find_node` gives NodeIds to names; a name it does not know is kCorrupt.
using FindNode = std::function<NodeId(std::string_view)>;
Result<JobRecord> decode_job(JobId id, std::string_view value, const FindNode& find_node);

std::string usage_key(const UsageRecord& record);
std::string encode_usage(const UsageRecord& record);
Result<UsageRecord> decode_usage(std::string_view key, std::string_view value);

std::string encode_node(const NodeRecord& record);
Result<NodeRecord> decode_node(std::string_view name, std::string_view value);

}  // namespace gridfold::records
