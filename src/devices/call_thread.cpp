#include "devices/call_thread.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace gridfold {

struct CallThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  std::function<void()> work;
  std::string what;
  std::uint64_t started = 0;  // calls ordered; at most one more than finished
  std::uint64_t finished = 0;
  bool missed = false;  // the present call's deadline has passed
  bool stopping = false;

  bool busy() const { return started != finished; }
};

namespace {

// Signals are the daemon's business: a thread started here gets none.
template <class Body>
std::thread start_without_signals(Body body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

CallThread::CallThread() : shared_(std::make_shared<Shared>()) {
  thread_ = start_without_signals([shared = shared_] {
    std::unique_lock lock(shared->mutex);
    for (;;) {
      shared->changed.wait(lock, [&] { return shared->stopping || shared->work; });
      if (!shared->work) return;
      auto work = std::move(shared->work);
      shared->work = nullptr;
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      ++shared->finished;
      shared->missed = false;
      shared->changed.notify_all();
    }
  });
}

CallThread::~CallThread() {
  bool busy = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
    busy = shared_->busy();
    shared_->changed.notify_all();
  }
  if (busy) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

Result<void> CallThread::run(const std::string& what, Duration deadline,
                             std::function<void()> work) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(deadline.ns);
  const auto not_answering = [&] {
    return unavailable("device plug-in is not answering: the call \"" + shared_->what +
                       "\" has not returned within " + std::to_string(deadline.ns / 1'000'000) +
                       " ms");
  };
  std::unique_lock lock(shared_->mutex);
  // A call that has already missed its deadline is not waited for again.
  if (shared_->missed) return not_answering();
  if (!shared_->changed.wait_until(lock, until, [&] { return !shared_->busy(); })) {
    return not_answering();
  }
  shared_->work = std::move(work);
  shared_->what = what;
  const std::uint64_t ticket = ++shared_->started;
  shared_->changed.notify_all();
  if (!shared_->changed.wait_until(lock, until, [&] { return shared_->finished >= ticket; })) {
    shared_->missed = true;
    return not_answering();
  }
  return {};
}

bool CallThread::answering() const {
  const std::lock_guard lock(shared_->mutex);
  return !shared_->missed;
}

}  // namespace gridfold
