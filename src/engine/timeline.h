// What will be free when, and the earliest time at which a job can start.
//
//   Timeline timeline(cluster, domains, ends);
//   timeline.follow(now);                         // the books, as they are now
//   Reservation plan = timeline.plan({parts, &wish, run}, now);
//   if (!plan.start.is_never()) timeline.book(job, plan);
//
// Everything that is held counts until its expected end; what is planned counts
// while it is to run. Planning is in counts by node (free_steps.h, slot_need.h):
// exact for whole devices, with care for the rest; devices are bound when a job
// starts. Nodes are bound when a plan is booked, so that little is wasted: least
// left over, then those that become free last.
//
// A plan is the earliest there is beside what is booked, for jobs of one role
// and any wish but segments; it uses holes. Jobs of several roles that differ,
// and segments, are tried at the times at which something becomes free, at most
// kMostTries of them, then when everything is free.
//
// Cost: for each request in use there is a list of spans of time by domain
// (span_list.h), which follows the nodes that changed. Of many domains only
// those are asked whose earliest start, as last known, is before the best found:
// booking moves starts only later, so what was known stays a lower bound.
//
// Derived state: rebuilt from the books and the plans. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/cluster.h"
#include "engine/domain_slots.h"
#include "engine/free_steps.h"
#include "engine/node_windows.h"
#include "engine/slot_need.h"
#include "engine/span_list.h"
#include "model/reservation.h"

namespace gridfold {

// When what a job holds will be free again.
class ExpectedEnds {
 public:
  virtual ~ExpectedEnds() = default;
  // never(): nobody knows, so it counts as held for ever. Nothing: it counts as
  // free, since the job gives its place back whenever it is needed.
  virtual std::optional<Instant> end_of(JobId job) const = 0;
};

// So many alike tasks; the seats of a plan number them as roles.
struct PlanPart {
  const Request* request = nullptr;
  std::int64_t tasks = 0;
};
struct PlanAsk {
  std::span<const PlanPart> parts;
  const TopologyWish* wish = nullptr;
  Duration run{};  // kForEver: it may never end
};

class Timeline {
 public:
  // All outlive the timeline.
  Timeline(const Cluster& cluster, DomainSlots& domains, const ExpectedEnds& ends)
      : cluster_(cluster), domains_(domains), ends_(ends) {}

  // What is closed for a while is not free then. They outlive the timeline; a
  // change of a node's windows must be in the cluster's log.
  void heed(const NodeWindows& windows) { windows_ = &windows; }

  // Takes over what has changed in the books. Times before `now` are forgotten.
  void follow(Instant now);
  // The expected end of something that is held there has changed.
  void touch(NodeId node);

  // The earliest plan, not before `now` of the last follow(); its start is
  // never() when it fits at no time.
  Reservation plan(const PlanAsk& ask);
  // Requires that it fits. Parts are those of the ask that it was made for.
  void book(JobId job, const Reservation& plan, std::span<const PlanPart> parts);
  void unbook(JobId job);
  bool is_booked(JobId job) const { return booked_.count(job) != 0; }
  bool is_booked_on(NodeId node) const {
    return node.value < nodes_.size() && !nodes_[node.value].bookings.empty();
  }
  // Whether the plan still fits beside all else that is booked and held.
  bool fits(const Reservation& plan, std::span<const PlanPart> parts);

  // Whether more is held and booked there than there is, at any time from now
  // until `until`. For a trial: follow() first.
  bool is_overbooked(NodeId node, Instant until) const;
  const FreeSteps& free(NodeId node) const { return nodes_[node.value].free; }

  // Jobs whose plans do not fit any more, since more is held or less is there
  // than was expected: to be emptied by whoever plans them anew.
  std::set<JobId>& shaken() { return shaken_; }
  // Whether there is more room at some time than there was, since forget_gain().
  bool has_gained() const { return gained_; }
  void forget_gain() { gained_ = false; }

  // Spans and blocks read by plan(), and changes of spans, so far: what the work
  // grows with, whatever the machine.
  struct Work {
    std::int64_t looked_at = 0;
    std::int64_t changed = 0;
  };
  const Work& work() const { return work_; }
  std::size_t bytes() const;

 private:
  static constexpr int kMostTries = 64;
  static constexpr std::size_t kMostBounds = 1024;  // remembered asks of one list

  // What is planned on a node.
  struct Booking {
    JobId job;
    Instant from{};
    Instant until{};
    FreeAmount amount;
  };
  struct Node {
    FreeSteps free;
    std::uint32_t make = 0;
    std::vector<Booking> bookings;
    std::uint64_t change = 0;  // the last one
  };
  struct Make {
    NodeMake make;
    NodeRoom empty;  // of one such node; its spans outlive the timeline's use
    std::vector<std::unique_ptr<SlotNeed>> needs;  // by request
  };
  // The domains of one level as places for a request.
  struct Level {
    std::string name;                      // empty: the whole grid
    std::vector<std::uint32_t> domain_of;  // by node; kNowhere
    std::vector<SpanList> spans;           // by domain
    // By tasks and run (rounded down): the earliest start in each domain, at
    // least. A domain that has got more room is asked anew.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Instant>> bounds;
    static constexpr std::uint32_t kNowhere = UINT32_MAX;
  };
  struct Row {
    const Request* request = nullptr;
    std::vector<std::vector<FreeSpan>> spans;  // by node, in order
    std::vector<Level> levels;
    std::uint64_t position = 0;  // the last change that is in it
  };
  struct Change {
    NodeId node = NodeId::none();
    bool gained = false;
  };

  void rebuild_all();
  void rebuild(NodeId node);
  void log(NodeId node, bool gained);
  std::uint32_t make_number(NodeId node);
  const SlotNeed& need(const Request& request, NodeId node);

  Row& row(const Request& request);
  Level& level(Row& row, const std::string& name);
  void update(Row& row, NodeId node, bool gained);
  void spans_of(const Request& request, NodeId node, std::vector<FreeSpan>& spans);

  struct Found {
    Instant start = Instant::never();
    std::uint32_t domain = 0;
  };
  Found earliest(Level& level, std::int64_t tasks, Duration run);
  Reservation plan_alike(const PlanAsk& ask);
  Reservation plan_mixed(const PlanAsk& ask);
  // What is left of the nodes' least room in a stretch of time, once looked at.
  using Overlay = std::map<NodeId, FreeAmount>;
  struct Trial {
    Instant start{};
    Instant until{};
    Overlay left;
    Reservation plan;
  };
  bool try_at(const PlanAsk& ask, DomainId home, Trial& trial);
  bool seat(Trial& trial, const PlanPart& part, std::uint32_t number, std::int64_t tasks,
            DomainId domain);
  bool seat_evenly(const PlanAsk& ask, DomainId home, Trial& trial);
  bool seat_segments(const PlanAsk& ask, DomainId home, Trial& trial);
  void sort_along_tree(Reservation& plan) const;
  static bool is_more(const FreeSteps& before, const FreeSteps& now, Instant from);

  const Cluster& cluster_;
  DomainSlots& domains_;
  const ExpectedEnds& ends_;
  const NodeWindows* windows_ = nullptr;  // null: there are none
  Instant now_ = kLongAgo;

  std::vector<Node> nodes_;
  std::vector<Make> makes_;
  std::map<std::pair<const DeviceKind*, const NodeLayout*>, std::uint32_t> make_numbers_;
  std::vector<std::unique_ptr<Row>> rows_;  // by request
  std::unordered_map<JobId, std::vector<NodeId>> booked_;
  std::vector<Change> log_;  // by number from first_change_ on
  std::uint64_t first_change_ = 1;
  std::uint64_t last_change_ = 0;
  std::uint64_t followed_ = 0;  // of the cluster's changes
  std::uint64_t topology_ = UINT64_MAX;
  std::vector<std::uint32_t> places_;  // by node: its place along the tree
  std::set<JobId> shaken_;
  bool gained_ = false;
  Work work_;
  // Kept for their memory.
  std::vector<FreeSpan> found_;
  std::vector<FreeSpan> fresh_;
  std::vector<FreeSpan> gone_;
  std::vector<FreeSpan> made_;
  std::vector<std::pair<Instant, std::int32_t>> open_;
  std::vector<std::uint64_t> seen_;  // by node: the number of the search
  std::uint64_t search_ = 0;
};

}  // namespace gridfold
