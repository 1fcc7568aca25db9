// The partitions of real devices that tasks run in: made when a task needs one,
// and kept after it for the next that asks for the same.
//
//   keeper.provide(key, {"GPU-…", "3g.40gb", 4}, [](Result<std::string> uid) { … });
//   keeper.release(key);      // when the task is over
//
// A partition that no task holds is removed when its place is needed. The
// operator has said that all partitions of these devices are Gridfold's to make
// and remove (manage_partitions); one in which a process of somebody else runs
// is not removed by the driver, and then the task cannot start here.
//
// The driver takes seconds for some calls, so they are made on a thread of the
// keeper's own, one after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "devices/device_report.h"

namespace gridfold::local {

// What the driver does, by the device's uid.
struct PartitionCalls {
  std::function<Result<Known<Partitions>>(const std::string&)> list;
  std::function<Result<Partition>(const std::string&, const std::string& profile, std::int32_t)>
      make;
  std::function<Result<void>(const std::string&, const std::string& partition)> remove;
};

struct WantedPartition {
  std::string device;  // uid
  std::string profile;
  std::int32_t start = 0;
};

class PartitionKeeper {
 public:
  using Key = std::pair<TaskId, std::uint32_t>;                 // an attempt of a task
  using Answer = std::function<void(Result<std::string> uid)>;  // of the partition

  explicit PartitionKeeper(PartitionCalls calls);
  // What was asked for and not begun is not answered.
  ~PartitionKeeper();
  PartitionKeeper(const PartitionKeeper&) = delete;
  PartitionKeeper& operator=(const PartitionKeeper&) = delete;

  // Answered on the keeper's thread.
  void provide(Key key, WantedPartition wanted, Answer answer);
  // It runs in this partition: found when the backend began.
  void hold(Key key, std::string uid);
  void release(const Key& key);

 private:
  struct Request {
    Key key;
    WantedPartition wanted;
    Answer answer;
  };
  void run();
  Result<std::string> provide(const WantedPartition& wanted);
  bool is_held(const std::string& uid) const;

  const PartitionCalls calls_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Request> requests_;     // guarded by mutex_
  std::map<Key, std::string> held_;  // guarded by mutex_; by uid
  bool ending_ = false;              // guarded by mutex_
  std::thread thread_;
};

}  // namespace gridfold::local
