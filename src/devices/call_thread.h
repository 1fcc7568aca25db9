// Runs foreign code that may never return, one call at a time, on a thread of
// its own. Who waits gives up at the deadline; the thread is then busy until the
// call returns by itself, and until it does every further call is refused.
//
// Thread-safe. The destructor joins an idle thread; a busy one is left to itself
// (nothing can stop it safely), and so the work must own all that it touches.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"

namespace gridfold {

class CallThread {
 public:
  CallThread();
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  // `what` names the call in errors: "nvml: devices". Error kUnavailable when
  // the answer, or an earlier call's, is not there within `deadline`.
  template <class T>
  Result<T> call(const std::string& what, Duration deadline, std::function<Result<T>()> work) {
    // Shared with the thread, which may finish after we have given up.
    auto answer = std::make_shared<std::optional<Result<T>>>();
    auto ran = run(what, deadline, [answer, work = std::move(work)] { answer->emplace(work()); });
    if (!ran) return ran.error();
    return std::move(**answer);
  }

  // False from a missed deadline until that call returns.
  bool answering() const;

 private:
  struct Shared;
  Result<void> run(const std::string& what, Duration deadline, std::function<void()> work);

  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive us
  std::thread thread_;
};

}  // namespace gridfold
