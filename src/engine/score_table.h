// Which node is best for a request, without looking at all of them: a row of
// scores of every node for each request in use, under a tournament tree
// (best_tree.h). A placement changes one node; a row re-scores the nodes that
// changed since it was last asked, each once, and nodes of the same free state
// share what the policy said of it. The answer is that of the full scan, ties
// included, which is kept as the oracle (PlacementIndex::kScan) and answers for
// requests whose rows do not fit into the memory that rows may take.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "engine/best_tree.h"
#include "engine/cluster.h"
#include "engine/node_line.h"
#include "engine/placement.h"
#include "engine/placement_options.h"
#include "model/why_here.h"

namespace gridfold {

class ScoreTable {
 public:
  ScoreTable(const Cluster& cluster, const PlacementPolicy& policy,
             const PlacementOptions& options);

  struct Best {
    NodeId node;
    std::uint64_t devices = 0;
    std::int64_t score = 0;
    std::int32_t feasible_nodes = 0;
  };
  // The best node for one more task of the request, if any fits. Draws from
  // `random` only to break ties.
  std::optional<Best> best(const Request& request, RandomStream& random);

  // Whether so many tasks of the request fit now on all nodes (see slots()).
  bool has_slots(const Request& request, std::int64_t tasks);

  // Why best() has just answered so: the node that would have been next, and
  // what told the two apart. Nothing may have changed since.
  WhyHere why(const Request& request, const Best& best) const;

  // The policy has learned something: every score is computed anew when asked.
  void forget_scores() {
    ++epoch_;
    line_.forget_keys();
  }

  // Bytes of all rows, and how many there are.
  std::size_t row_bytes() const;
  std::size_t row_count() const { return built_; }

 private:
  // What the policy said of nodes of one face, kAbsent where the request does
  // not fit: a small table in which a face has one place, so that newer ones
  // displace older ones.
  struct Remembered {
    NodeLine::Face face;  // serial 0: nothing is remembered here
    std::int64_t score = 0;
    std::uint64_t devices = 0;
  };
  struct Row {
    BestTree scores;                     // by place in the line
    std::int32_t feasible = 0;           // nodes on which it fits
    std::vector<std::uint64_t> fitting;  // a bit a place: they
    std::vector<Remembered> remembered;
    // Of each place and in all, once a gang has asked.
    std::vector<std::int32_t> slots;
    std::int64_t total_slots = 0;
    std::uint64_t change = 0;      // the cluster's last change that is in it
    std::uint64_t membership = 0;  // of the cluster when it was built
    std::uint64_t epoch = 0;
    std::uint32_t asks = 0;  // lately; kept for requests without a row, too
    bool is_built = false;
    bool fits_at(std::size_t place) const { return (fitting[place / 64] >> place % 64 & 1) != 0; }
    Remembered& place_of(const NodeLine::Face& face) {
      return remembered[face.serial & (remembered.size() - 1)];
    }
    std::size_t bytes() const;
  };

  // The row brought up to date; null when there is no room for it.
  Row* row_for(const Request& request);
  bool make_room(const Row& wanted);
  void drop(Row& row);
  void cool();
  void rebuild(Row& row, const Request& request);
  void follow(Row& row, const Request& request);
  void rescore(Row& row, const Request& request, std::size_t place, std::int64_t score);
  void count_slots(Row& row, const Request& request);
  const Remembered& ask(Row& row, const Request& request, std::size_t place);
  std::optional<Best> scan(const Request& request, RandomStream& random);
  std::size_t expected_row_bytes() const;

  const Cluster& cluster_;
  const PlacementPolicy& policy_;
  PlacementOptions options_;
  std::vector<Row> rows_;  // by request id
  std::size_t built_ = 0;
  std::size_t built_bytes_ = 0;
  std::uint32_t asks_ = 0;  // since the rows last cooled
  std::uint64_t epoch_ = 1;
  NodeLine line_;
  std::vector<std::int64_t> scanned_;  // scores of the last scan, by place
};

}  // namespace gridfold
