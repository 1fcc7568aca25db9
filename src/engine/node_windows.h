// Which nodes are closed, and to whom: by windows that are known beforehand.
//
//   windows.plan(list);
//   windows.follow(now, changed);         // nodes in a window are closed now
//   windows.close_before(now + run);      // while a job that runs so long is placed
//   windows.close_before(now);            // and again as they are
//
// What has begun before a window and may last into it must not start there.
// Rather than in every way of placing, that is told to the books: while a job is
// looked at, all nodes whose next window begins before its end are closed. Nodes
// are kept in the order of these begins, so that going from one job to the next
// costs the nodes in between; nothing when no window is near.
//
// Derived state: from the windows and the nodes' specs. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/cluster.h"
#include "model/node_window.h"

namespace gridfold {

class NodeWindows {
 public:
  // The cluster outlives it.
  explicit NodeWindows(Cluster& cluster) : cluster_(cluster) {}

  // A window as one of its nodes has it.
  struct Span {
    Instant from{};
    Instant until{};
    std::uint32_t window = 0;  // in planned()
    friend bool operator==(const Span&, const Span&) = default;
  };

  // In place of those before; takes effect with follow().
  void plan(std::vector<NodeWindow> windows);
  const std::vector<NodeWindow>& planned() const { return windows_; }
  bool empty() const { return windows_.empty(); }
  // Nodes were added or removed, or their specs changed.
  void nodes_changed() { is_stale_ |= !windows_.empty(); }

  // Takes over the time. Nodes whose windows changed or which are closed or open
  // now, unlike before, are added to `changed`.
  void follow(Instant now, std::vector<NodeId>& changed);
  // When follow() has something to do next.
  Instant next() const;

  // Closes the nodes with a window that is not over and begins before `until`,
  // those in a window in any case; opens the others.
  void close_before(Instant until);
  // The node's windows that are not over, by their begin.
  std::span<const Span> spans(NodeId node) const;
  // The first window that closes the node to what lasts until then; null: none.
  const Span* closing(NodeId node, Instant until) const;
  // After follow() or close_before(now): in a window now.
  std::vector<NodeId> closed() const;

 private:
  void rebuild();
  void sort();

  Cluster& cluster_;
  std::vector<NodeWindow> windows_;
  Instant now_{};
  bool is_stale_ = false;
  bool is_new_ = false;                   // plan() was called since
  std::vector<std::vector<Span>> spans_;  // by node
  // Nodes that have a window, by the begin of their next.
  std::vector<std::pair<Instant, NodeId>> order_;
  std::size_t closed_ = 0;               // so many of them, the first, are closed
  Instant next_end_ = Instant::never();  // of those next windows
};

}  // namespace gridfold
