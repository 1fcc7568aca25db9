// The cluster as the engine sees it: free room of every node and device, in
// flat arrays, and requests compiled against the tables of device classes and
// models. All integers; see base/units.h for the units.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/node.h"
#include "model/record.h"

namespace gridfold {

// One device's room. A whole-device holding takes all of it and needs
// holders == 0; a slice takes share, memory or both.
struct DeviceRoom {
  std::uint16_t device_class = 0;
  std::uint16_t model = 0;
  bool usable = true;              // false: quarantined
  std::int32_t free_share = 1000;  // thousandths
  std::int32_t holders = 0;
  std::int64_t memory = -1;       // bytes in all, -1 unknown
  std::int64_t free_memory = -1;  // bytes not held by slices, -1 unknown
};

struct NodeRoom {
  std::int64_t cpu = 0;     // millicores free
  std::int64_t memory = 0;  // bytes free
  std::span<const DeviceRoom> devices;
  // Whose room this is as the books stand now, and which state of it (no two
  // states of any node share a version): what a policy derives from it may be
  // kept while the version is the same. None: a room that is only considered.
  NodeId node = NodeId::none();
  std::uint64_t version = 0;
};

// One device group of a compiled request.
struct DeviceNeed {
  std::uint16_t device_class = 0;
  std::int32_t count = 0;
  std::int32_t share = 1000;          // thousandths of each; 0: by memory only
  std::int64_t memory = 0;            // bytes of each
  std::vector<std::uint16_t> models;  // any of these; empty: any
  bool is_whole() const { return share == 1000; }
  bool accepts(std::uint16_t model) const;
  // Against a queue's limits: thousandths a task. A slice accounted by memory
  // only counts as a whole device, since its share is known only once placed.
  std::int64_t charge() const {
    return static_cast<std::int64_t>(count) * (share == 0 ? 1000 : share);
  }
};

// What one task asks, compiled. Equal requests share one object and one id.
struct Request {
  std::uint32_t id = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<DeviceNeed> devices;
  TaskRequest source;
};

// Whether the room of one device suffices for one unit of the need.
bool device_fits(const DeviceRoom& device, const DeviceNeed& need);
// Whether one task of the request fits on the node now.
bool fits(const NodeRoom& node, const Request& request);
// At most so many tasks of the request fit on the node at once: exact for a
// request with at most one device group of count 1 or of whole devices, else
// an upper bound.
std::int32_t slots(const NodeRoom& node, const Request& request);

// Owns the nodes' books. A node's room is what a new task may take: the free
// part, less what is earmarked by claims. Where claims exist it is the smaller
// of two books: `actual` (capacity less all holdings) and `planned` (capacity
// less the holdings that stay, less the claims).
class Cluster {
 public:
  // --- Nodes ---
  std::size_t size() const { return nodes_.size(); }
  const NodeRecord& record(NodeId node) const { return records_[node.value]; }
  std::span<const NodeRecord> records() const { return records_; }
  std::optional<NodeId> find(std::string_view name) const;
  // Adds the node or takes over its new spec; holdings stay.
  NodeId put(NodeRecord record);
  // Takes the last node away again (undo of a put that added it).
  void remove_last();
  // Up, drained, dirty devices, reason: everything but id and spec.
  void set_status(const NodeRecord& record);
  bool usable(NodeId node) const;  // takes new tasks
  // Another number whenever nodes came, left, or changed their path of domains.
  std::uint64_t topology_version() const { return topology_version_; }
  // Order of the node's name among all nodes.
  std::uint32_t name_rank(NodeId node) const;

  // --- Requests ---
  const Request& compile(const TaskRequest& request);
  std::size_t request_count() const { return requests_.size(); }
  const Request& request(std::uint32_t id) const { return requests_[id]; }
  std::string_view class_name(std::uint16_t id) const { return names_.classes[id]; }
  std::string_view model_name(std::uint16_t id) const { return names_.models[id]; }

  // --- Books ---
  enum class Staying : std::uint8_t { kStays, kLeaves };
  struct Holding {
    TaskId task;
    const Request* request = nullptr;
    std::uint64_t devices = 0;
    Staying staying = Staying::kStays;
  };
  NodeRoom room(NodeId node) const;
  NodeRoom capacity(NodeId node) const;
  std::span<const Holding> holdings(NodeId node) const { return nodes_[node.value].holdings; }
  std::span<const Holding> claims(NodeId node) const { return nodes_[node.value].claims; }

  void take(NodeId node, const Holding& holding);
  void give_back(NodeId node, TaskId task);
  // The holding is being stopped: its room may be claimed.
  void set_staying(NodeId node, TaskId task, Staying staying);
  void claim(NodeId node, const Holding& holding);
  void unclaim(NodeId node, TaskId task);

  // Room by the books with some holdings regarded as gone, written into
  // `scratch`; for planning whom to evict.
  struct Scratch {
    std::vector<DeviceRoom> devices;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    NodeRoom room() const { return {cpu, memory, devices, NodeId::none(), 0}; }
  };
  // What room() gives.
  void copy_room(NodeId node, Scratch& scratch) const;
  // Capacity less the holdings that stay, less the claims.
  void planned(NodeId node, Scratch& scratch) const;
  // Capacity less all holdings, claims not counted.
  void actual(NodeId node, Scratch& scratch) const;
  static void add_back(Scratch& scratch, const Request& request, std::uint64_t devices);
  static void take_out(Scratch& scratch, const Request& request, std::uint64_t devices);
  // Whether exactly these devices can be taken for the request.
  static bool fits_exactly(const NodeRoom& room, const Request& request, std::uint64_t devices);

  // Nodes whose room or usability changed, oldest first; positions only grow.
  // Positions before log_begin() are forgotten.
  std::uint64_t log_begin() const { return log_begin_; }
  std::uint64_t log_end() const { return log_begin_ + log_.size(); }
  NodeId log_entry(std::uint64_t position) const { return log_[position - log_begin_]; }
  // Scores of this node are out of date although its room is not: for a policy
  // that has changed its mind about one node.
  void touch(NodeId node) { log(node); }

 private:
  struct Node {
    std::vector<DeviceRoom> empty;  // the devices when nothing is held
    Scratch room;
    std::vector<Holding> holdings;
    std::vector<Holding> claims;
    std::uint64_t version = 0;
  };
  struct Names {
    std::vector<std::string> classes;
    std::vector<std::string> models;
  };

  static std::uint16_t intern(std::vector<std::string>& names, std::string_view name);
  void recompute(NodeId node);
  void log(NodeId node);
  void empty_into(NodeId node, Scratch& scratch) const;
  void refresh_empty(NodeId node);
  void rank_names() const;

  std::vector<Node> nodes_;          // by NodeId
  std::vector<NodeRecord> records_;  // likewise
  std::map<std::string, NodeId, std::less<>> by_name_;
  mutable std::vector<std::uint32_t> name_ranks_;
  std::deque<Request> requests_;  // stable addresses
  std::map<std::string, std::uint32_t> request_ids_;
  Names names_;
  std::vector<NodeId> log_;
  std::uint64_t log_begin_ = 0;
  std::uint64_t last_version_ = 0;
  std::uint64_t topology_version_ = 0;
};

}  // namespace gridfold
