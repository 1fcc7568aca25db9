#include "engine/node_windows.h"

#include <algorithm>
#include <tuple>

namespace gridfold {

void NodeWindows::plan(std::vector<NodeWindow> windows) {
  if (windows == windows_) return;
  windows_ = std::move(windows);
  is_stale_ = is_new_ = true;
}

void NodeWindows::follow(Instant now, std::vector<NodeId>& changed) {
  now_ = now;
  if (!is_stale_ && now < next_end_) {
    const std::size_t before = closed_;
    close_before(now);
    for (std::size_t i = before; i < closed_; ++i) changed.push_back(order_[i].second);
    return;
  }
  std::vector<NodeId> had;  // a window, or have one now
  for (const auto& [from, node] : order_) {
    if (node.value < cluster_.size()) had.push_back(node);
  }
  if (is_stale_) rebuild();
  sort();
  for (const auto& [from, node] : order_) had.push_back(node);
  std::sort(had.begin(), had.end());
  had.erase(std::unique(had.begin(), had.end()), had.end());
  for (const NodeId node : had) {
    const bool closed = closing(node, now) != nullptr;
    if (is_new_ || closed != cluster_.is_closed(node)) changed.push_back(node);
    if (is_new_ && closed == cluster_.is_closed(node)) cluster_.touch(node);
    cluster_.set_closed(node, closed);
  }
  is_stale_ = is_new_ = false;
}

// Of each node the windows that it lies in.
void NodeWindows::rebuild() {
  spans_.assign(cluster_.size(), {});
  for (std::uint32_t n = 0; n < cluster_.size(); ++n) {
    for (std::uint32_t w = 0; w < windows_.size(); ++w) {
      const NodeWindow& window = windows_[w];
      if (window.where.matches(cluster_.record(NodeId(n)).spec))
        spans_[n].push_back({window.from, window.until, w});
    }
    std::sort(spans_[n].begin(), spans_[n].end(), [](const Span& a, const Span& b) {
      return std::tie(a.from, a.until, a.window) < std::tie(b.from, b.until, b.window);
    });
  }
}

// What is over is forgotten.
void NodeWindows::sort() {
  order_.clear();
  next_end_ = Instant::never();
  for (std::uint32_t n = 0; n < spans_.size(); ++n) {
    std::erase_if(spans_[n], [&](const Span& span) { return span.until <= now_; });
    if (spans_[n].empty()) continue;
    order_.emplace_back(spans_[n].front().from, NodeId(n));
    next_end_ = std::min(next_end_, spans_[n].front().until);
  }
  std::sort(order_.begin(), order_.end());
  const auto is_open = [&](const auto& entry) { return entry.first > now_; };
  closed_ = static_cast<std::size_t>(std::find_if(order_.begin(), order_.end(), is_open) -
                                     order_.begin());
}

Instant NodeWindows::next() const {
  const auto later = std::find_if(order_.begin(), order_.end(),
                                  [&](const auto& entry) { return entry.first > now_; });
  return std::min(next_end_, later == order_.end() ? Instant::never() : later->first);
}

void NodeWindows::close_before(Instant until) {
  const auto is_closed = [&](std::size_t i) {
    return order_[i].first <= now_ || order_[i].first < until;
  };
  for (; closed_ < order_.size() && is_closed(closed_); ++closed_)
    cluster_.set_closed(order_[closed_].second, true);
  for (; closed_ > 0 && !is_closed(closed_ - 1); --closed_)
    cluster_.set_closed(order_[closed_ - 1].second, false);
}

std::span<const NodeWindows::Span> NodeWindows::spans(NodeId node) const {
  if (node.value >= spans_.size()) return {};
  return spans_[node.value];
}

const NodeWindows::Span* NodeWindows::closing(NodeId node, Instant until) const {
  for (const Span& span : spans(node)) {
    if (span.until > now_ && (span.from <= now_ || span.from < until)) return &span;
  }
  return nullptr;
}

std::vector<NodeId> NodeWindows::closed() const {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < closed_; ++i) nodes.push_back(order_[i].second);
  return nodes;
}

}  // namespace gridfold
