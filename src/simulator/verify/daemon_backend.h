// What one daemon sees of the cluster: everything passes through, and it is
// known which daemon gave an order, so that a daemon that was replaced can be
// caught giving one; and a daemon can die between two orders.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "control/backend.h"
#include "simulator/verify/faulty_store.h"

namespace gridfold::verify {

class DaemonBackend : public Backend {
 public:
  // Told before the order reaches the cluster.
  struct Observer {
    std::function<void(std::string_view)> ordered;
    std::function<void(TaskId, std::uint32_t)> forgotten;
  };
  DaemonBackend(Backend& cluster, Observer observer)
      : cluster_(cluster), observer_(std::move(observer)) {}

  // Dies when it is about to give order number `orders` from now, from 1.
  void crash_after(std::uint32_t orders) { crash_in_ = orders; }

  Capabilities capabilities() const override { return cluster_.capabilities(); }
  Result<void> open(EventSink sink) override { return cluster_.open(std::move(sink)); }
  void launch(const LaunchOrder& order) override {
    note("launch");
    cluster_.launch(order);
  }
  void stop(const StopOrder& order) override {
    note("stop");
    cluster_.stop(order);
  }
  void forget(TaskId task, std::uint32_t attempt) override {
    note("forget");
    observer_.forgotten(task, attempt);
    cluster_.forget(task, attempt);
  }
  Result<Observation> observe() override { return cluster_.observe(); }
  Result<LogChunk> read_log(std::string_view job_uid, TaskId task, std::uint32_t attempt,
                            LogStream stream, std::uint64_t offset, std::size_t limit) override {
    return cluster_.read_log(job_uid, task, attempt, stream, offset, limit);
  }

 private:
  void note(std::string_view order) {
    observer_.ordered(order);
    if (crash_in_ > 0 && --crash_in_ == 0) throw DaemonCrash{};
  }

  Backend& cluster_;
  Observer observer_;
  std::uint32_t crash_in_ = 0;
};

}  // namespace gridfold::verify
