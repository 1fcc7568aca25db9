// Carries a backend's events to the control loop's thread. The backend speaks
// before the thread is there and may speak until it is destroyed itself: until
// attach() events are kept, after detach() they are dropped (what they say is
// found again by the next reconciliation).
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "control/loop_thread.h"

namespace gridfold {

class EventRelay {
 public:
  Backend::EventSink sink() {
    return [state = state_](Event event) { state->take(std::move(event)); };
  }
  // The thread must live until detach().
  void attach(LoopThread& thread);
  // Returns when no event is on its way any more.
  void detach();

 private:
  struct State {
    enum class Phase : std::uint8_t { kKeeping, kAttached, kDetached };

    void take(Event event);
    void post(Event event);

    std::mutex mutex;
    Phase phase = Phase::kKeeping;
    LoopThread* thread = nullptr;
    std::vector<Event> kept;
  };
  // Shared with the sink, which the backend keeps.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace gridfold
