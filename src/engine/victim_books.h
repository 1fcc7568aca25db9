// The books with some candidates regarded as gone: how much of a job fits then,
// kept up as candidates are put in and taken out. What others are leaving counts
// as free, what is earmarked as taken.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/domain_slots.h"
#include "engine/gang_placement.h"

namespace gridfold {

// Something held, that would be free if its task left.
struct Leaving {
  NodeId node;
  std::uint32_t task = 0;
  const Request* request = nullptr;
  std::uint64_t devices = 0;
  std::int32_t start = kNoPartition;
};

// What leaves together, and what that loses.
struct VictimCandidate {
  JobId job;
  std::int64_t lost = 0;  // not negative; see lost_work.h
  std::int32_t priority = 0;
  std::uint32_t first = 0;  // its part of VictimPool::leaving
  std::uint32_t last = 0;
  std::int32_t group = -1;  // of tasks of which only so many may go; -1: a whole job
  // Whom to spare first among equals: higher priority, the older job, the task
  // of lower number.
};

// Candidates may share what leaves: a whole gang and its single tasks.
struct VictimPool {
  std::vector<Leaving> leaving;
  std::vector<VictimCandidate> candidates;
  std::vector<std::int32_t> groups;  // by group: how many of it may go

  std::span<const Leaving> leaving_of(std::uint32_t candidate) const {
    const VictimCandidate& c = candidates[candidate];
    return std::span(leaving).subspan(c.first, c.last - c.first);
  }
  bool is_spared_before(std::uint32_t a, std::uint32_t b) const;
};

class VictimBooks {
 public:
  VictimBooks(const Cluster& cluster, DomainSlots& slots) : cluster_(cluster), slots_(slots) {}

  // All references outlive the books' use. Nobody is gone.
  void begin(std::span<const GangPart> parts, const TopologyWish& wish, const VictimPool& pool,
             std::span<const NodeId> leaving);
  // Asks about this domain from now on; nobody may be gone.
  void enter(DomainId home);

  // Candidates whose room lies in the home, at least in part; each once.
  std::span<const std::uint32_t> candidates() const { return here_; }
  // Nodes that share their places (segments: a domain of theirs), and the
  // candidates on them.
  std::size_t regions() const { return regions_.size(); }
  std::span<const std::uint32_t> candidates_of(std::size_t region) const {
    return regions_[region].candidates;
  }

  void put(std::uint32_t candidate, int sign);  // gone, or back again
  bool fits();
  // Places that are missing by count: tasks, and of segments the tasks that
  // would complete the nearest. 0 does not mean that different roles fit at once.
  std::int64_t missing() const;

  // Nodes of the question, by domain: for one task each is a home of its own.
  std::vector<DomainId> touched_leaves() const;

 private:
  struct Node {
    NodeId node;
    DomainId leaf;
    std::int32_t bin = -1;  // by number; -1: no place for the job
    Cluster::Scratch room;
    std::vector<std::int64_t> fit;  // by part
    std::vector<std::uint32_t> candidates;
  };
  struct Bin {
    DomainId domain;
    std::vector<std::int64_t> fit;  // by part
  };
  struct Region {
    std::vector<std::uint32_t> candidates;
  };

  void find_bins();
  std::int32_t bin_of(DomainId leaf) const;
  std::int64_t count(const Cluster::Scratch& room, std::size_t part) const;
  void recount(Node& node);
  std::int64_t have(std::size_t part) const;
  bool roles_fit();
  bool seat_roles(std::span<const std::size_t> order);

  const Cluster& cluster_;
  DomainSlots& slots_;
  std::span<const GangPart> parts_;
  const TopologyWish* wish_ = nullptr;
  const VictimPool* pool_ = nullptr;
  std::vector<Node> nodes_;             // by leaf
  std::vector<std::uint32_t> node_of_;  // by leaving: index into nodes_, or none
  std::vector<std::int32_t> gone_;      // by leaving: by how many candidates
  std::vector<Bin> bins_;               // of the segments' or spread's level, else one
  DomainId home_;
  std::size_t first_ = 0, last_ = 0;  // nodes_ in the home
  std::size_t first_bin_ = 0, last_bin_ = 0;
  std::vector<std::int64_t> base_;  // by part: on nodes of the home that are not in nodes_
  std::vector<std::uint32_t> here_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> stamp_;  // by candidate
  std::uint32_t stamp_now_ = 0;
};

}  // namespace gridfold
