#include "engine/free_steps.h"

namespace gridfold {

std::size_t FreeSteps::index_at(Instant at) const {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                      [](Instant t, const Step& step) { return t < step.at; });
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

std::size_t FreeSteps::cut(Instant at) {
  const std::size_t index = index_at(at);
  if (steps_[index].at >= at) return index;
  const Step made{at, steps_[index].free};
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(index) + 1, made);
  return index + 1;
}

void FreeSteps::join(std::size_t index) {
  if (index == 0 || index >= steps_.size()) return;
  if (steps_[index].free == steps_[index - 1].free)
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(index));
}

void FreeSteps::add(Instant from, Instant until, const FreeAmount& amount, int sign) {
  if (from >= until || amount == FreeAmount{}) return;
  const std::size_t first = cut(from);
  const std::size_t end = until.is_never() ? steps_.size() : cut(until);
  for (std::size_t i = first; i < end; ++i) steps_[i].free.add(amount, sign);
  join(end);
  join(first);
}

void FreeSteps::close(Instant from, Instant until) {
  if (from >= until) return;
  const std::size_t first = cut(from);
  const std::size_t end = until.is_never() ? steps_.size() : cut(until);
  for (std::size_t i = first; i < end; ++i) steps_[i].free.lower_to(FreeAmount{});
  for (std::size_t i = end + 1; i-- > first;) join(i);
}

FreeAmount FreeSteps::least(Instant from, Instant until) const {
  std::size_t i = index_at(from);
  FreeAmount least = steps_[i].free;
  for (++i; i < steps_.size() && steps_[i].at < until; ++i) least.lower_to(steps_[i].free);
  return least;
}

void FreeSteps::forget_before(Instant now) {
  const std::size_t kept = index_at(now);
  if (kept == 0) return;
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(kept));
  steps_.front().at = kLongAgo;
}

}  // namespace gridfold
