#include "control/loop_thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace gridfold {

struct LoopThread::State {
  static constexpr std::size_t kInboxLimit = 100'000;

  std::unique_ptr<ControlLoop> loop;  // used by the thread only
  std::mutex mutex;
  std::condition_variable came_in;
  std::condition_variable made_room;
  std::vector<std::function<void(ControlLoop&)>> inbox;  // guarded by mutex
  bool ending = false;                                   // guarded by mutex
  std::thread thread;

  void run();
};

LoopThread::LoopThread(std::unique_ptr<ControlLoop> loop) : state_(std::make_unique<State>()) {
  state_->loop = std::move(loop);
  state_->thread = std::thread([this] { state_->run(); });
}

LoopThread::~LoopThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->came_in.notify_all();
  state_->made_room.notify_all();
  state_->thread.join();
}

void LoopThread::post(std::function<void(ControlLoop&)> work) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.made_room.wait(lock, [&] { return s.inbox.size() < State::kInboxLimit || s.ending; });
  s.inbox.push_back(std::move(work));
  lock.unlock();
  s.came_in.notify_one();
}

void LoopThread::State::run() {
  Instant due{};  // the first turn at once
  while (true) {
    std::vector<std::function<void(ControlLoop&)>> work;
    {
      std::unique_lock lock(mutex);
      const auto ready = [&] { return !inbox.empty() || ending; };
      if (due.is_never()) {
        came_in.wait(lock, ready);
      } else {
        // The clock port speaks of the wall; waiting is by the steady clock,
        // in short steps, so that a jump of the wall is noticed.
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const std::int64_t left =
            due.ns - std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
        const std::int64_t step = std::min<std::int64_t>(left, 1'000'000'000);
        if (step > 0) came_in.wait_for(lock, std::chrono::nanoseconds(step), ready);
      }
      if (ending && inbox.empty()) return;
      work.swap(inbox);
    }
    made_room.notify_all();
    for (auto& item : work) item(*loop);
    due = loop->turn();
  }
}

}  // namespace gridfold
