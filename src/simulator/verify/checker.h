// The invariants, checked from outside: by what the store holds, what is
// really on the cluster, and what users were told. Keeps the first violation.
//
// Beside the numbered invariants: P1, a job lies where its topology allows; P2,
// nobody is stopped for a job without right and need; P3, what jobs that wait are
// promised does not exceed the nodes.
//
// It knows the engine only by what it says (records' `up`, usage, reasons) and
// computes everything it compares by itself.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/control_loop.h"
#include "simulator/simulated_cluster.h"
#include "simulator/verify/mirror.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

struct Violation {
  std::string invariant;  // "I3"
  std::string text;
};

class Checker {
 public:
  // Both outlive it.
  Checker(const World& world, const Clock& clock)
      : world_(world), clock_(clock), mirror_(world), uses_(world.nodes.size()) {}

  // The queues that the owning daemon was started with.
  void set_queues(const std::vector<QueueSpec>& queues) { queues_ = &queues; }

  // --- As it happens ---
  // The daemon is about to take the store over: its next commit makes it the owner.
  void taking_over(int daemon) { candidate_ = daemon; }
  void stored(const Transaction& transaction, Revision revision, int daemon);
  // The owner has taken a turn, and it is stored.
  void turn_taken(Instant now) { last_turn_ = now; }
  void daemon_started();  // what was decided and not heard of is as it is stored
  void decided(const Decisions& decisions);
  void acknowledged(std::size_t batch, const SubmitAnswer& answer);
  void ordered(int daemon, std::string_view order);
  // Before the backend drops its record of an attempt.
  void forgotten(TaskId task, std::uint32_t attempt, const SimulatedCluster& cluster);

  // --- After an event ---
  void check_cluster(std::span<const SimulatedCluster::Presence> presences);
  // Only when the loop's turn is stored: books and the reasons of all that wait.
  void check_usage(const Engine& engine);
  void check_spread(const Engine& engine);
  void check_reasons(const Engine& engine);
  // Only a gang that lost a node keeps places, and only for a time.
  void check_repairs(Instant now);
  // Room is not promised twice for one time.
  void check_plans();
  // Nothing runs on in a window, nor is promised to.
  void check_windows();
  // Right after the turn was stored: what it says of its launches.
  void check_launches(const Engine& engine, const Decisions& decisions);
  // Once nothing fails any more and all is over: nothing is left behind.
  void check_end(const Engine& engine, std::span<const SimulatedCluster::Presence> presences);

  void fail(std::string invariant, std::string text);
  const std::optional<Violation>& violation() const { return violation_; }
  const Mirror& mirror() const { return mirror_; }
  int owner() const { return owner_; }

 private:
  void check_record(const MirrorJob& before, const MirrorJob& after);
  void check_gang(const MirrorJob& job);
  void check_batch(const MirrorJob& job);
  void check_place(const MirrorJob& job, const MirrorTask& was, const MirrorTask& is);
  // What counts against limits, by queue and by queue and tenant. What jobs of the
  // rounds are promised does not yet: they change places with each other.
  struct FirmUse {
    std::map<std::string, QueueUse> queues;
    std::map<std::pair<std::string, std::string>, QueueUse> tenants;
  };
  FirmUse firm_use() const;
  void check_quota();
  void check_tenants();
  void check_arrays();
  void check_eviction(const Preempted& preempted);
  std::optional<std::string> may_not_take_back(const MirrorJob& by, const MirrorJob& victim) const;
  void check_presence(const SimulatedCluster::Presence& presence, int node);

  const World& world_;
  const Clock& clock_;
  Instant last_turn_{};
  Mirror mirror_;
  const std::vector<QueueSpec>* queues_ = nullptr;
  int owner_ = 0;
  int candidate_ = 0;
  FirmUse use_, use_before_;                 // now, and before the last transaction
  std::set<std::uint64_t> stopped_later_;    // by decisions that follow in the same turn
  std::map<std::uint64_t, JobState> heard_;  // by the decisions, since the daemon's start
  std::map<std::size_t, SubmitAnswer> answers_;
  std::vector<NodeUse> uses_;  // by node: of what is really there
  std::vector<int> present_;   // nodes of uses_ that are not empty
  std::optional<Violation> violation_;
};

}  // namespace gridfold::verify
