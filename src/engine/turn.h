// What a turn changed, as it was before: enough to undo it. A turn is used
// again when it is committed, for its memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/node.h"
#include "model/queue.h"
#include "model/record.h"

namespace gridfold {

struct SavedJob {
  JobId job;
  bool was_there = false;
  JobRecord before;  // meaningful if it was there
};

// A list whose entries keep their memory when it is emptied.
class SavedJobs {
 public:
  SavedJob& add(JobId job) {
    if (size_ == entries_.size()) entries_.emplace_back();
    SavedJob& saved = entries_[size_++];
    saved.job = job;
    saved.was_there = false;
    return saved;
  }
  std::span<SavedJob> all() { return {entries_.data(), size_}; }
  std::span<const SavedJob> all() const { return {entries_.data(), size_}; }
  bool empty() const { return size_ == 0; }
  void clear() {
    size_ = 0;
    // What one large turn needed is not kept for ever.
    if (entries_.size() > kKept) entries_ = {};
  }

 private:
  static constexpr std::size_t kKept = 256;
  std::vector<SavedJob> entries_;
  std::size_t size_ = 0;
};

// A queue's configuration by its name; none: it is not there.
using QueueChange = std::pair<std::string, std::optional<QueueSpec>>;

struct Turn {
  std::uint64_t number = 0;
  SavedJobs jobs;
  std::vector<std::pair<NodeId, std::optional<NodeRecord>>> nodes;  // empty: was not there
  std::vector<QueueChange> queues;
  std::optional<QueueConfiguration> sharing;  // of which only what is not a queue's own counts
  RandomStream::State random{};

  bool empty() const { return jobs.empty() && nodes.empty() && queues.empty() && !sharing; }
  void clear() {
    number = 0;
    jobs.clear();
    nodes.clear();
    queues.clear();
    sharing.reset();
  }
};

}  // namespace gridfold
