#include "apps/gridfold/follow.h"

#include <algorithm>
#include <ctime>

namespace gridfold {
namespace {

constexpr std::int64_t kFirstPauseMs = 100;
constexpr std::int64_t kLongestPauseMs = 2000;
// A line without an end is not kept for ever.
constexpr std::size_t kMaxLineBytes = 64 * 1024;

void pause(std::int64_t milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

class Follower {
 public:
  Follower(Client& client, const FollowRequest& request,
           const std::function<Reading(std::string_view)>& take,
           const std::function<void(std::string_view)>& talk)
      : client_(client), request_(request), take_(take), talk_(talk) {}

  Result<void> run() {
    for (std::uint32_t attempt = request_.first_attempt;; ++attempt) {
      if (auto done = follow_attempt(attempt); !done || stopped_) return done;
      if (request_.attempts == Attempts::kOne) return {};
      const auto more = more_after(attempt);
      if (!more) return more.error();
      if (!*more) return {};
    }
  }

 private:
  Result<void> follow_attempt(std::uint32_t attempt) {
    LogQuery query{request_.task, attempt, request_.stream, 0, true};
    return persist([&] {
      return client_.logs(request_.job, query, [&](std::string_view bytes) {
        query.offset += bytes.size();
        pause_ms_ = kFirstPauseMs;
        const auto reading = take_(bytes);
        stopped_ = reading == Reading::kStop;
        return reading;
      });
    });
  }

  Result<bool> more_after(std::uint32_t attempt) {
    bool more = false;
    auto asked = persist([&]() -> Result<void> {
      const auto job = client_.job(request_.job);
      if (!job) return job.error();
      if (request_.task >= job->tasks.size()) return {};
      more = !job->has_ended() || job->tasks[request_.task].attempt > attempt;
      return {};
    });
    if (!asked) return asked.error();
    return more;
  }

  // Tries until the daemon can be reached again.
  template <class Call>
  Result<void> persist(Call call) {
    bool told = false;
    while (true) {
      auto done = call();
      if (done || stopped_ || done.error().kind != ErrorKind::kUnavailable) return done;
      if (!told) talk_("the daemon does not answer; waiting for it");
      told = true;
      pause(pause_ms_);
      pause_ms_ = std::min(pause_ms_ * 2, kLongestPauseMs);
    }
  }

  Client& client_;
  const FollowRequest& request_;
  const std::function<Reading(std::string_view)>& take_;
  const std::function<void(std::string_view)>& talk_;
  std::int64_t pause_ms_ = kFirstPauseMs;
  bool stopped_ = false;
};

}  // namespace

Result<void> follow_output(Client& client, const FollowRequest& request,
                           const std::function<Reading(std::string_view)>& take,
                           const std::function<void(std::string_view)>& talk) {
  return Follower(client, request, take, talk).run();
}

void LinePrefixer::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos && line_.size() < kMaxLineBytes) return;
    write_(prefix_ + line_ + '\n');
    line_.clear();
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
}

void LinePrefixer::finish() {
  if (!line_.empty()) write_(prefix_ + line_ + '\n');
  line_.clear();
}

}  // namespace gridfold
