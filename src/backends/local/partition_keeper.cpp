#include "backends/local/partition_keeper.h"

#include <algorithm>

namespace gridfold::local {
namespace {

std::int32_t length_of(const Partitions& partitions, const std::string& profile) {
  for (const PartitionProfile& known : partitions.profiles) {
    if (known.name == profile) return known.length;
  }
  return 0;
}

}  // namespace

PartitionKeeper::PartitionKeeper(PartitionCalls calls)
    : calls_(std::move(calls)), thread_([this] { run(); }) {}

PartitionKeeper::~PartitionKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void PartitionKeeper::provide(Key key, WantedPartition wanted, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({key, std::move(wanted), std::move(answer)});
  }
  news_.notify_one();
}

void PartitionKeeper::hold(Key key, std::string uid) {
  const std::lock_guard lock(mutex_);
  held_[key] = std::move(uid);
}

void PartitionKeeper::release(const Key& key) {
  const std::lock_guard lock(mutex_);
  held_.erase(key);
}

void PartitionKeeper::run() {
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return ending_ || !requests_.empty(); });
      if (ending_) return;
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    auto provided = provide(request.wanted);
    if (provided) hold(request.key, *provided);
    request.answer(std::move(provided));
  }
}

bool PartitionKeeper::is_held(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(held_.begin(), held_.end(),
                     [&](const auto& entry) { return entry.second == uid; });
}

Result<std::string> PartitionKeeper::provide(const WantedPartition& wanted) {
  const auto listed = calls_.list(wanted.device);
  if (!listed) return listed.error();
  if (!listed->is_known())
    return unavailable("the partitions of " + wanted.device + " are unknown");
  const Partitions& partitions = listed->value();
  const std::int32_t end = wanted.start + length_of(partitions, wanted.profile);
  for (const Partition& there : partitions.existing) {
    // Where one begins that does not say so is not known to be free.
    const bool overlaps =
        !there.start.is_known() ||
        (there.start.value() < end &&
         wanted.start < there.start.value() + length_of(partitions, there.profile));
    if (!overlaps) continue;
    if (is_held(there.uid)) {
      return conflict("slot " + std::to_string(wanted.start) + " of device " + wanted.device +
                      " is still held by partition " + there.uid);
    }
    if (there.start.is_known() && there.start.value() == wanted.start &&
        there.profile == wanted.profile) {
      return there.uid;
    }
    if (const auto removed = calls_.remove(wanted.device, there.uid); !removed)
      return removed.error().with_context("making room for a " + wanted.profile);
  }
  const auto made = calls_.make(wanted.device, wanted.profile, wanted.start);
  if (!made) return made.error();
  return made->uid;
}

}  // namespace gridfold::local
