#include "apps/gridfold/event_relay.h"

namespace gridfold {

void EventRelay::attach(LoopThread& thread) {
  const std::lock_guard lock(state_->mutex);
  state_->phase = State::Phase::kAttached;
  state_->thread = &thread;
  for (auto& event : state_->kept) state_->post(std::move(event));
  state_->kept.clear();
}

void EventRelay::detach() {
  const std::lock_guard lock(state_->mutex);
  state_->phase = State::Phase::kDetached;
  state_->thread = nullptr;
}

void EventRelay::State::take(Event event) {
  const std::lock_guard lock(mutex);
  if (phase == Phase::kKeeping) kept.push_back(std::move(event));
  if (phase == Phase::kAttached) post(std::move(event));
}

void EventRelay::State::post(Event event) {
  thread->post(
      [event = std::move(event)](ControlLoop& loop) mutable { loop.post(std::move(event)); });
}

}  // namespace gridfold
